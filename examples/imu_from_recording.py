"""From a recording to a specification: four hours of an IMU at rest, its Allan deviation, and an IMU made from that."""

import numpy as np

import sensorium as sn
from sensorium.corruption import Chain, Noise, Quantize, Saturate
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.plots import INK

G, RATE_HZ, HOURS = 9.80665, 50, 4
UNITS = {"angular": "rad/s", "linear": "m/s^2"}
PARTS = ("#3fb950", "#f2e34c", "#ff8c42")
TITLES = {"angular": "Gyroscope, z axis", "linear": "Accelerometer, z axis"}

# The device, whose parameters are usually unknown: N [unit/√Hz], B [unit], K [unit/√s]
known = {
    "angular": {"N": np.radians(0.01) / np.sqrt(2.0), "B": np.radians(10.0 / 3600.0), "K": 2.3e-6},
    "linear": {"N": 300e-6 * G / np.sqrt(2.0), "B": 50e-6 * G, "K": 1.8e-5},
}
device = sn.Imu(timing=sn.Timing(rate_hz=RATE_HZ))
for name, group in (("angular", device.angular), ("linear", device.linear)):
    set_to = known[name]
    group.noise = Noise(density=set_to["N"], sided="two", instability=set_to["B"], walk=set_to["K"])
    group.quantization = Quantize(bits=16, code="twos_complement")
device.angular.saturation, device.linear.saturation = Saturate(min=-4.36, max=4.36), Saturate(min=-2 * G, max=2 * G)


def at_rest(imu: sn.Imu, seed: int) -> dict[str, np.ndarray]:
    """Its readings at rest: the chain of each group on a constant signal, shape (samples, 3)."""
    times_ns = np.arange(1, HOURS * 3600 * RATE_HZ + 1) * (sn.clock.NS_PER_S // RATE_HZ)
    recorded = {}
    for name, group in (("angular", imu.angular), ("linear", imu.linear)):
        still = np.broadcast_to((0.0, 0.0, G if name == "linear" else 0.0), (len(times_ns), 3))
        chain = Chain([group.noise, group.quantization, group.saturation])
        state = chain.init((3,), seed=seed, name=name, period_s=1.0 / RATE_HZ)
        recorded[name] = chain.series(still, times_ns=times_ns, state=state)[0]
    return recorded


# Measure, fit, and make an IMU from the fit; for a log in a file, use `sensorium allan LOG`
fits = {}
for name, signal in at_rest(device, seed=1).items():
    allan = sn.analysis.allan_deviation(signal, RATE_HZ)
    fits[name] = sn.analysis.fit_allan(allan, channels=[f"{name}.{axis}" for axis in "xyz"], units=UNITS[name])
imu = sn.Imu.from_allan(*fits.values())
again = {name: sn.analysis.allan_deviation(x, RATE_HZ) for name, x in at_rest(imu, seed=2).items()}

# The curves: set, measured, fitted, and of the new IMU
figure, (*curves, right) = draw.canvas(17.0, 6.8, columns=3, width_ratios=(1.0, 1.0, 0.8))
for axes, (name, fit) in zip(curves, fits.items(), strict=True):
    tau_s, unit = fit.allan.tau_s, UNITS[name].replace("^2", "²")
    draw.frame(axes, TITLES[name], "averaging time τ [s]", f"Allan deviation [{unit}]", log="xy")
    N, B, K = known[name].values()
    floor = np.full_like(tau_s, np.sqrt(2.0 * np.log(2.0) / np.pi) * B)
    parts = {"N / √τ": N / np.sqrt(tau_s), "0.664 B": floor, "K √(τ/3)": K * np.sqrt(tau_s / 3.0)}
    for color, (label, part) in zip(PARTS, parts.items(), strict=True):
        axes.plot(tau_s, part, color=color, linewidth=1.1, linestyle=(0, (5, 3)), label=label)
    axes.fill_between(tau_s, fit.allan.low[:, 2], fit.allan.high[:, 2], color=draw.COLORS[0], alpha=0.22, linewidth=0)
    whole = np.sqrt(sum(part**2 for part in parts.values()))
    axes.plot(tau_s, whole, color=INK, linewidth=5.0, alpha=0.25, label="set")
    axes.plot(tau_s, fit.allan.deviation[:, 2], "o", color=draw.COLORS[0], markersize=4.5, label="measured, 95 %")
    axes.plot(tau_s, fit.deviation(tau_s)[:, 2], color=INK, linewidth=1.6, label="fit")
    new = again[name]
    axes.plot(new.tau_s, new.deviation[:, 2], "+", color=draw.COLORS[3], markersize=7, label="IMU made from it")
    axes.set_ylim(0.25 * fit.allan.deviation[:, 2].min(), 2.0 * fit.allan.deviation[:, 2].max())
    draw.key(axes, where="upper right", columns=2)

# Fitted over true values, each axis with its 95 % interval
draw.frame(right, "Found over set, with 95 % intervals", "", "")
print("coefficient of each axis over what was set, and its 95 % interval:")
place, ticks = 0, []
for name, fit in fits.items():
    for term, color in zip("NBK", PARTS, strict=True):
        ratio, (low, high) = fit.coefficients[term] / known[name][term], fit.intervals[term] / known[name][term]
        ticks.append((place + 1, f"{'gyro' if name == 'angular' else 'accel.'} {term}"))
        for axis in range(3):
            right.plot([low[axis], high[axis]], [place + axis] * 2, color=color, linewidth=2.2, alpha=0.7)
            right.plot(ratio[axis], place + axis, "o", color=color, markersize=6)
            print(f"  {fit.channels[axis]:10s} {term} {ratio[axis]:.3f}  {low[axis]:.3f} to {high[axis]:.3f}")
        place += 4
right.axvline(1.0, color=INK, linewidth=1.0, linestyle=":")
right.set_yticks([at for at, _ in ticks], [text for _, text in ticks])
right.set_xlim(0.0, 3.0)
right.invert_yaxis()
save_figure("imu_from_recording.png", figure)
