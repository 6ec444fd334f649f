"""The eight corruptions of Basilisk's memo, each on the same sine; temporary faults are shaded."""

import numpy as np

import sensorium as sn
from sensorium.corruption import (
    Bias,
    Chain,
    Corruption,
    Fault,
    FaultLog,
    Quantize,
    Ramp,
    RandomWalk,
    Saturate,
    SquareWave,
    Stuck,
    TriangleWave,
    White,
)
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.plots import FAINT, INK

RATE_HZ, DURATION_S = 200, 12.0
times_ns = np.arange(int(DURATION_S * RATE_HZ)) * (sn.clock.NS_PER_S // RATE_HZ)
time_s = times_ns / sn.clock.NS_PER_S
sine = np.sin(2.0 * np.pi * time_s / 4.0)

stuck = [
    Fault(Stuck(mode="off"), name="off", start_s=0.6, end_s=1.7),
    Fault(Stuck(mode="on"), name="on", start_s=2.6, end_s=3.7),
    Fault(Stuck(mode="present"), name="present", start_s=4.6, end_s=5.7),
    Fault(Stuck(mode="value", value=0.4), name="value", start_s=6.6, end_s=7.7),
    Fault(Stuck(mode="max"), name="max", start_s=8.6, end_s=9.7),
    Fault(Stuck(mode="min"), name="min", start_s=10.6, end_s=11.7),
]
waves = [
    Fault(TriangleWave(amplitude=1.2, frequency_hz=1.0), name="triangle", start_s=1.0, end_s=5.0),
    Fault(Ramp(amplitude=1.2, frequency_hz=1.0), name="ramp", start_s=7.0, end_s=11.0),
]
square = Fault(SquareWave(amplitude=1.2, frequency_hz=1.0), name="square", start_s=4.0, end_s=8.0)
shown: list[tuple[str, str, Corruption]] = [
    ("Bias", "Bias(0.5)", Bias(0.5)),
    ("Random walk", "RandomWalk(density=0.25)", RandomWalk(density=0.25)),
    ("Stuck", 'Fault(Stuck(mode="off"), start_s=0.6, end_s=1.7), ...', Chain([*stuck, Saturate(min=-1.5, max=1.5)])),
    ("Noise", "White(std=0.15)", White(std=0.15)),
    ("Square wave", "Fault(SquareWave(amplitude=1.2, frequency_hz=1), start_s=4, end_s=8)", square),
    ("Saturation", "Saturate(min=-0.5, max=0.8)", Saturate(min=-0.5, max=0.8)),
    ("Triangle and ramp", "Fault(Ramp(amplitude=1.2, frequency_hz=1), start_s=7, end_s=11)", Chain(waves)),
    ("Discretization", "Quantize(bits=3, min=-1, max=1)", Quantize(bits=3, min=-1.0, max=1.0)),
]


def corrupted(corruption: Corruption) -> tuple[np.ndarray, FaultLog]:
    """The sine with one corruption, and the times of active faults."""
    state = corruption.init((1,), seed=11, period_s=1.0 / RATE_HZ)
    out, state = corruption.series(sine[:, None], times_ns=times_ns, state=state)
    return out[:, 0], FaultLog() if state.faults is None else state.faults.log


figure, panels = draw.canvas(15.0, 12.0, rows=4, columns=2, share_x=True)
for number, (axes, (name, code, corruption)) in enumerate(zip(panels, shown, strict=True)):
    out, log = corrupted(corruption)
    color = draw.COLORS[number]
    for event in log:
        start_s, end_s = event.start_ns * 1e-9, event.end_ns * 1e-9
        axes.axvspan(start_s, end_s, color=color, alpha=0.13, linewidth=0)
        axes.text(0.5 * (start_s + end_s), 1.98, event.fault, color=INK, fontsize=9, ha="center", va="top")
    axes.plot(time_s, sine, color=FAINT, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.plot(time_s, out, color=color, linewidth=0.9 if name == "Noise" else 1.8)
    draw.frame(axes, f"{number + 1}  {name}", "time [s]" if number > 5 else "", "signal" if number % 2 == 0 else "")
    axes.set_title(code, color=FAINT, loc="right", fontsize=9, family="monospace")
    axes.set_xlim(0.0, DURATION_S)
    axes.set_ylim(-2.1, 2.1)
    axes.set_yticks([-2, -1, 0, 1, 2])
    print(f"{name:18s} off by {np.sqrt(np.mean((out - sine) ** 2)):.3f} rms; faults in the log: {len(log)}")
save_figure("corruptions.png", figure)
