"""A wheel creeps, rolls, stops and rolls back: its odometer, and four estimates of speed from an encoder's edges."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

RADIUS_M, COUNTS, DURATION_S = 0.3, 200, 9.0

# The wheel's rate over time [rad/s], and its angle; without slip the axle moves by the radius times that
knots_s = [0.0, 0.5, 1.0, 3.0, 3.5, 5.0, 5.5, 6.5, 7.0, 9.0]
rates = [0.0, 0.0, 0.25, 0.25, 1.5, 1.5, 0.0, 0.0, -1.0, -1.0]
fine_s = np.linspace(0.0, DURATION_S + 0.1, 91_001)
fine_rate = np.interp(fine_s, knots_s, rates)
fine_angle = np.concatenate([[0.0], np.cumsum((fine_rate[1:] + fine_rate[:-1]) / 2 * np.diff(fine_s))])


def angle(t_s):
    return np.interp(t_s, fine_s, fine_angle)


def rolling(t_s):
    turned = angle(t_s)
    center = np.stack([RADIUS_M * turned, np.zeros_like(turned), np.full_like(turned, RADIUS_M)], axis=-1)
    half, none = turned / 2, np.zeros_like(turned)
    return sn.Pose(center, np.stack([np.cos(half), none, np.sin(half), none], axis=-1))


# A cylinder's axis is z; lying on its side it is a wheel that rolls along x
scene = sn.Scene()
scene.add(sn.shapes.plane(20.0))
scene.add(sn.shapes.cylinder(RADIUS_M, 0.1), pose=sn.Pose.from_euler_deg((0, 0, 0), roll=90.0), body="wheel")
world = sn.worlds.Kinematic(
    {"wheel": sn.paths.Function(rolling, vectorized=True)},
    {"axle": sn.paths.JointFunction(angle, vectorized=True)},
    step_s=0.002,
)
environment = sn.Environment(scene, world, seed=1)

# The odometer takes the radius from the wheel's mesh
signed = environment.attach(sn.Odometer(counts_per_turn=COUNTS), joint="axle", body="wheel", name="signed")
way = environment.attach(
    sn.Odometer(counts_per_turn=COUNTS, accumulate=True), joint="axle", body="wheel", name="accumulated"
)
timing = sn.Timing(rate_hz=500.0)
encoders = {
    "edges at samples": sn.Encoder(counts_per_turn=COUNTS, timing=timing),
    "edges interpolated": sn.Encoder(counts_per_turn=COUNTS, timing=timing, edge_time="interpolated"),
    "interpolated, held": sn.Encoder(
        counts_per_turn=COUNTS, timing=timing, edge_time="interpolated", decay=False, timeout_s=None
    ),
    "held for 0.2 s": sn.Encoder(
        counts_per_turn=COUNTS, timing=timing, edge_time="interpolated", decay=False, timeout_s=0.2
    ),
}
attached = [environment.attach(spec, joint="axle", name=name) for name, spec in encoders.items()]
mark = float(angle(7.2)) % (2 * np.pi)
quadrature = sn.Encoder(counts_per_turn=COUNTS, quadrature=True, index=mark, timing=timing)
tracks = environment.attach(quadrature, joint="axle", name="tracks")

times_s, moved_m, distance_m, way_m, speeds, true_speed, lines = [], [], [], [], [], [], []
for _ in environment.run(DURATION_S):
    if signed.fresh:
        times_s.append(environment.time_s)
        moved_m.append(world.state().X_WB.position[0, 0, 0])
        distance_m.append(float(signed.read().distance))
        way_m.append(float(way.read().distance))
    speeds.append([float(encoder.read().velocity) for encoder in attached])
    true_speed.append(float(attached[0].truth().velocity))
    lines.append([bool(track) for track in (tracks.read().a, tracks.read().b, tracks.read().z)])
moved_m, distance_m, speeds, true_speed = (np.array(list) for list in (moved_m, distance_m, speeds, true_speed))
speed_times_s = np.arange(1, len(speeds) + 1) / 500.0

bin_m = RADIUS_M * 2 * np.pi / COUNTS
error_m = distance_m - moved_m
print(
    f"the wheel ends {moved_m[-1]:.4f} m from its start, after a way of {np.abs(np.diff(moved_m)).sum():.4f} m;",
    end=" ",
)
print(f"the odometer reads {distance_m[-1]:.4f} m, its sum {way_m[-1]:.4f} m")
print(f"bins of {1e3 * bin_m:.2f} mm leave an error of {1e3 * error_m.mean():.2f} mm on average")
steady = (speed_times_s > 4.0) & (speed_times_s < 5.0)
for name, speed in zip(encoders, speeds.T, strict=True):
    print(f"{name}: {1e3 * np.std(speed[steady] - 1.5):.3f} mrad/s rms at 1.5 rad/s")

figure, (left, middle, right) = draw.canvas(17.0, 5.2, columns=3, width_ratios=(1.0, 1.5, 0.9))
draw.frame(left, "Distance", "time [s]", "distance [m]")
left.plot(times_s, moved_m, color="white", linewidth=3.0, label="the axle's way, no slip")
left.plot(times_s, distance_m, color=draw.COLORS[0], linewidth=1.5, label="odometer")
left.plot(times_s, way_m, color=draw.COLORS[1], linewidth=1.5, label="odometer, accumulate=True")
draw.key(left, where="upper left")

draw.frame(middle, f"Speed from edges, {COUNTS} bins a turn", "time [s]", "speed [rad/s]")
middle.plot(speed_times_s, true_speed, color="white", linewidth=3.0, label="truth")
for color, name, speed in zip(draw.COLORS, encoders, speeds.T, strict=False):
    middle.plot(speed_times_s, speed, color=color, linewidth=1.2, label=name)
draw.note(middle, "before the second edge\nthe speed is 0", (0.1, -0.75), (0.95, 0.0))
draw.note(middle, "a held speed outlives\nthe motion", (5.7, 0.75), (6.2, 0.4))
middle.set_ylim(-1.2, 2.6)
draw.key(middle, where="upper right")

draw.frame(right, "Tracks while it rolls back", "time [s]", "")
shown = (speed_times_s > 6.9) & (speed_times_s < 7.5)
for height, name, track in zip((2.4, 1.2, 0.0), "ABZ", np.array(lines).T, strict=True):
    right.step(speed_times_s[shown], height + 0.9 * track[shown], where="post", color=draw.COLORS["ABZ".index(name)])
right.set_yticks([2.85, 1.65, 0.45], ["A", "B", "Z"])
save_figure("wheel_odometry.png", figure)
