"""Faults that count from their onset: drifts, an intermittent bias, an ADC that wraps, and a custom one."""

from typing import Literal

import numpy as np

import sensorium as sn
from sensorium.corruption import (
    Chain,
    Corruption,
    CustomCorruption,
    Drift,
    Fault,
    IntermittentBias,
    Moment,
    Overflow,
    Quantize,
    Saturate,
)
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.plots import FAINT

RATE_HZ, DURATION_S = 200, 12.0
times_ns = np.arange(int(DURATION_S * RATE_HZ)) * (sn.clock.NS_PER_S // RATE_HZ)
time_s = times_ns / sn.clock.NS_PER_S
sine = np.sin(2.0 * np.pi * time_s / 4.0)


class Deadband(CustomCorruption):
    """Changes of less than `width` since the last value given are not noticed."""

    kind: Literal["deadband"] = "deadband"
    slots = 1
    width: float

    def corrupted(self, x: np.ndarray, state: np.ndarray, moment: Moment) -> np.ndarray:
        """The last value given, until the signal is farther from it."""
        last = state[:, 0]
        noticed = np.isnan(last) | (np.abs(x - last) >= self.width)
        last[noticed] = x[noticed]
        return last.copy()


def twice(corruption: Corruption) -> Chain:
    """A fault that comes two times."""
    return Chain([Fault(corruption, start_s=1.0, end_s=5.0), Fault(corruption, start_s=7.0, end_s=11.0)])


adc = [Quantize(bits=8, code="twos_complement", min=-0.8, max=0.8), Saturate(min=-0.8, max=0.8)]
shown: list[tuple[str, str, Corruption]] = [
    ("Ramp", "Drift(rate=0.25)", twice(Drift(rate=0.25))),
    ("Exponential approach", "Drift(final=-0.9, tau_s=1)", twice(Drift(final=-0.9, tau_s=1.0))),
    ("Random walk", "Drift(density=0.4)", twice(Drift(density=0.4))),
    (
        "Intermittent bias",
        "IntermittentBias(value=0.7, duty=0.4, period_s=0.5)",
        twice(IntermittentBias(value=0.7, duty=0.4, period_s=0.5)),
    ),
    ("Overflow of an ADC", "Overflow() before 8 bits of +-0.8", Chain([twice(Overflow()), *adc])),
    ("One's own", "Deadband(width=0.4)", twice(Deadband(width=0.4))),
]

figure, panels = draw.canvas(15.0, 9.5, rows=3, columns=2, share_x=True)
for number, (axes, (name, code, corruption)) in enumerate(zip(panels, shown, strict=True)):
    out, state = corruption.series(sine[:, None], times_ns=times_ns, state=corruption.init((1,), seed=7))
    color = draw.COLORS[number]
    for event in state.faults.log:
        axes.axvspan(event.start_ns * 1e-9, event.end_ns * 1e-9, color=color, alpha=0.13, linewidth=0)
    axes.plot(time_s, sine, color=FAINT, linewidth=1.2, linestyle=(0, (4, 3)))
    axes.plot(time_s, out[:, 0], color=color, linewidth=1.6)
    draw.frame(axes, name, "time [s]" if number > 3 else "", "signal" if number % 2 == 0 else "")
    axes.set_title(code, color=FAINT, loc="right", fontsize=9, family="monospace")
    axes.set_xlim(0.0, DURATION_S)
    axes.set_ylim(-2.1, 2.1)
    axes.set_yticks([-2, -1, 0, 1, 2])
    rms = np.sqrt(np.mean((out[:, 0] - sine) ** 2))
    print(f"{name:22s} off by {rms:.3f} rms; onsets in the log: {len(state.faults.log)}")
save_figure("fault_onsets.png", figure)
