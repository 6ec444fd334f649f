"""An IMU on a car that drives a figure of eight: true and measured signals, and dead reckoning from them."""

import numpy as np

import sensorium as sn
from sensorium.corruption import Fault, FaultSchedule, LowPass, Noise, Quantize, Saturate, Spikes, Stuck
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.plots import FAINT, INK, new_figure

G, DURATION_S, RATE_HZ, KERB_S = 9.80665, 50.0, 100, 27.0


def driving(t_s: np.ndarray) -> sn.Pose:
    """From rest through the figure and to rest again, over a curb, leaning out of the curves."""
    u = np.clip(t_s / DURATION_S, 0.0, 1.0)
    phase = 2.0 * np.pi * (u - np.sin(2.0 * np.pi * u) / (2.0 * np.pi))
    x, y = 40.0 * np.sin(phase), 20.0 * np.sin(2.0 * phase)
    z = 0.06 * np.exp(-(((t_s - KERB_S) / 0.05) ** 2))
    yaw = np.unwrap(np.arctan2(np.cos(2.0 * phase), np.cos(phase)), axis=0)
    lean = 3.0 * np.sin(phase) ** 3 * np.sin(np.pi * u) ** 2
    return sn.Pose.from_euler_deg(np.stack([x, y, z], axis=-1), yaw=np.degrees(yaw), roll=lean)


# A cheap IMU, by its data sheet (InvenSense MPU-9250, PS-MPU-9250A-01) with residual biases after calibration
spec = sn.Imu(
    timing=sn.Timing(rate_hz=RATE_HZ),
    outputs=("acceleration", "angular_velocity", "delta_velocity", "delta_angle"),
)
spec.linear.noise = Noise(density=300e-6 * G, bias_std=0.3e-3 * G)
spec.linear.saturation = Saturate(min=-2 * G, max=2 * G)
spec.linear.quantization = Quantize(bits=16, code="twos_complement")
spec.linear.low_pass = LowPass(cutoff_hz=20.0)
spec.angular.noise = Noise(density=np.radians(0.01), bias_std=np.radians(0.003))
spec.angular.saturation = Saturate(min=-np.radians(250), max=np.radians(250))
spec.angular.quantization = Quantize(bits=16, code="twos_complement")
broken = spec.model_copy(deep=True)
broken.faults = FaultSchedule(
    faults=(
        Fault(Stuck(mode="present"), name="stuck", target="angular", channels=(2,), start_s=14.0, end_s=15.5),
        Fault(Spikes(rate_hz=8.0, amplitude=6.0), name="spikes", target="linear", start_s=34.0, end_s=40.0),
    )
)

# One IMU without faults and one with them, at the same place: 0.8 m before the rear axle and 0.5 m above it
world = sn.worlds.Kinematic({"car": sn.paths.Function(driving, vectorized=True)}, step_s=1.0 / RATE_HZ)
env = sn.Environment(sn.Scene(), world, seed=5)
mount = sn.Pose(position=(0.8, 0.0, 0.5))
imus = {
    "without faults": env.attach(spec, body="car", pose=mount, name="healthy"),
    "with faults": env.attach(broken, body="car", pose=mount, name="faulty"),
}
faulty = imus["with faults"]

# Dead reckoning of both at once, from the true start: increments turn and move the sensor on
start = driving(np.zeros(1)) @ mount
rotation, velocity, place = sn.Pose(quaternion=start.quaternion), np.zeros((2, 3)), np.repeat(start.position, 2, axis=0)
tracks, force, true_force, rate, true_rate = [place], [], [], [], []
for _ in env.run(duration_s=DURATION_S):
    turned = np.stack([imu.read().delta_angle for imu in imus.values()])
    pushed = np.stack([imu.read().delta_velocity for imu in imus.values()])
    dt_s = faulty.read().interval_s
    halfway = rotation @ sn.Pose.exp(np.zeros(3), 0.5 * turned)
    gained = halfway.rotate(pushed) + np.array([0.0, 0.0, -G]) * dt_s
    place = place + (velocity + 0.5 * gained) * dt_s
    rotation, velocity = rotation @ sn.Pose.exp(np.zeros(3), turned), velocity + gained
    tracks.append(place)
    force.append(faulty.read().acceleration)
    true_force.append(faulty.truth().acceleration)
    rate.append(faulty.read().angular_velocity[2])
    true_rate.append(faulty.truth().angular_velocity[2])
time_s = np.arange(1, len(force) + 1) / RATE_HZ
force, true_force, rate, true_rate = (np.array(values) for values in (force, true_force, rate, true_rate))
path = (driving(np.arange(len(tracks)) / RATE_HZ) @ mount).position
reckoned = dict(zip(imus, np.moveaxis(np.array(tracks), 1, 0), strict=True))

# From above
figure = new_figure(16.0, 9.6)
left, right = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.05))
upper, lower = left.subgridspec(2, 1, height_ratios=(1.55, 1.0))
above, near = figure.add_subplot(upper), figure.add_subplot(lower)
forces, errors, rates, distances = (figure.add_subplot(row) for row in right.subgridspec(4, 1))
draw.frame(above, "Where the car went, and where its IMU says it went", "x [m]", "y [m]", equal=True)
above.plot(path[:, 0], path[:, 1], color=INK, linewidth=7.0, alpha=0.22, label="truth", solid_capstyle="round")
colors = dict(zip(imus, (draw.COLORS[2], draw.COLORS[3]), strict=True))
for name, track in reckoned.items():
    above.plot(track[:, 0], track[:, 1], color=colors[name], linewidth=1.8, label=f"dead reckoning {name}")
    above.plot(*track[-1, :2], "o", color=colors[name], markersize=7)
    print(f"{name}: {np.linalg.norm(track[-1, :2] - path[-1, :2]):.1f} m off after {DURATION_S:.0f} s")
draw.sensor(above, *path[0, :2], label="start and end")
draw.key(above, where="lower right")

# The curb: motion of the housing, and the reading after bandwidth and range
draw.frame(near, "The curb, seen near: up", "time [s]", "specific force [m/s²]")
at = np.abs(time_s - KERB_S) < 0.25
near.plot(time_s[at], true_force[at, 2], color=INK, linewidth=1.4, linestyle=(0, (4, 2)), label="truth")
near.plot(time_s[at], force[at, 2], ".-", color=draw.COLORS[5], linewidth=1.2, markersize=5, label="reading")
near.axhline(2 * G, color=FAINT, linestyle=":", linewidth=1.2)
draw.note(near, "range, 2 g", (KERB_S + 0.245, 2 * G + 1.0), ha="right")
near.set_xlim(KERB_S - 0.25, KERB_S + 0.25)
draw.key(near, where="lower right")

# Measured over true values
axes_names = ("forward", "left", "up")
draw.frame(forces, "Specific force", "", "[m/s²]")
draw.frame(errors, "Reading minus truth", "", "[m/s²]")
for axis, (name, color) in enumerate(zip(axes_names, (*draw.COLORS[:2], draw.COLORS[5]), strict=True)):
    forces.plot(time_s, force[:, axis], color=color, linewidth=1.2, label=name)
    forces.plot(time_s, true_force[:, axis], color=INK, linewidth=0.8, linestyle=(0, (3, 3)))
    errors.plot(time_s, force[:, axis] - true_force[:, axis], color=color, linewidth=0.4)
errors.set_ylim(-0.18, 0.18)
draw.key(forces, where="lower right", columns=3)
draw.frame(rates, "Angular velocity, yaw", "", "[°/s]")
rates.plot(time_s, np.degrees(rate), color=draw.COLORS[0], linewidth=1.6, label="reading")
rates.plot(time_s, np.degrees(true_rate), color=INK, linewidth=1.0, linestyle=(0, (3, 3)), label="truth")
draw.key(rates, where="upper right")
draw.frame(distances, "How far dead reckoning is off", "time [s]", "[m]", log="y")
for name, track in reckoned.items():
    off = np.linalg.norm((track - path)[1:, :2], axis=1)
    distances.plot(time_s, off, color=colors[name], linewidth=1.8, label=name)
distances.set_ylim(1e-3, 300.0)
draw.key(distances, where="lower right", columns=2)

# Faults as the log has them, where they show
for event in faulty.faults.log:
    start_s, end_s = event.start_ns * 1e-9, event.end_ns * 1e-9
    struck = (rates, distances) if event.fault == "stuck" else (forces, errors, distances)
    for axes in struck:
        axes.axvspan(start_s, end_s, color=draw.COLORS[3], alpha=0.2, linewidth=0)
    low, high = struck[0].get_ylim()
    struck[0].text(
        0.5 * (start_s + end_s), high - 0.06 * (high - low), event.fault, color=INK, fontsize=9, ha="center", va="top"
    )
for axes in (forces, errors, rates, distances):
    axes.set_xlim(0.0, DURATION_S)
save_figure("imu.png", figure)
