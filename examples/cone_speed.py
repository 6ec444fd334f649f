"""Speeds of an obstacle that drives away: exact in simulated time, and with the jitter of a wall clock."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure
from sensorium.view.plots import INK

RATE_HZ = 50.0
THESIS = {0.25: 0.249, 1.0: 0.988, 2.0: 1.946}


def speeds(velocity, *, jitter_s=0.0, start=0.6):
    """Ranges and speeds, by eq. 3.9, while a box goes from the sensor to 10 m."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 1.0, 1.0), body="box")
    path = sn.paths.Line(start=(start, 0.0, 0.0), velocity=(velocity, 0.0, 0.0))
    env = sn.Environment(scene, sn.worlds.Kinematic({"box": path}, step_s=1.0 / RATE_HZ), seed=2)
    spec = sn.ConeSensor(
        horizontal_fov_deg=90.0,
        vertical_fov_deg=90.0,
        range_m=12.0,
        timing=sn.Timing(rate_hz=RATE_HZ, jitter_s=jitter_s),
        speed_interval="nominal" if jitter_s else "true",
    )
    sensor = env.attach(spec)
    readings = [reading for _ in env.run(9.4 / abs(velocity)) for reading in sensor.readings()]
    return np.array([(reading.range_m, reading.speed) for reading in readings[1:]], float).T


# Table 4
figure, axes = draw.canvas(16.0, 8.0, 1, 2, width_ratios=(1.7, 1.0))
draw.frame(axes[0], "Speed readings of a box that drives away", "range [m]", "speed [m/s]")
print("Table 4: average speeds")
print("velocity  simulated time        largest error  with jitter  spread   thesis")
for number, (velocity, printed) in enumerate(THESIS.items()):
    exact_m, exact = speeds(velocity)
    jittered_m, jittered = speeds(velocity, jitter_s=0.07 / RATE_HZ)
    spread = np.std(jittered) / velocity
    print(
        f"{velocity:<8g}  {exact.mean():<20.15f}  {abs(exact - velocity).max():<13.1e}  "
        f"{jittered.mean():<11.4f}  {100 * spread:.0f} %     {printed}"
    )
    color = draw.COLORS[number]
    axes[0].plot(jittered_m, jittered, ".", color=color, markersize=2.5, alpha=0.6)
    axes[0].plot(exact_m, exact, color=INK, linewidth=1.0)
    axes[0].plot([], [], "o", color=color, label=f"{velocity:g} m/s: jitter, {100 * spread:.0f} % about the mean")
axes[0].plot([], [], color=INK, label="simulated time")
axes[0].set(xlim=(0.0, 10.0), ylim=(0.0, 3.1))
draw.key(axes[0], where="upper right", columns=2)

# E-27: eq. 3.9 has no sign; the range rate has one. Noise flips the sign of differences, but not the verdict
draw.frame(axes[1], "A box that comes, turns round and goes, by noisy ranges", "time [s]", "[m/s]")
scene = sn.Scene()
scene.add(sn.shapes.box(1.0, 1.0, 1.0), body="box")
path = sn.paths.Function(
    lambda t: sn.Pose(np.stack([6.0 + 3.0 * np.cos(t), 0.0 * t, 0.0 * t], axis=-1)), vectorized=True
)
env = sn.Environment(scene, sn.worlds.Kinematic({"box": path}, step_s=1.0 / RATE_HZ), seed=2)
spec = sn.ConeSensor(
    horizontal_fov_deg=90.0,
    vertical_fov_deg=90.0,
    range_m=12.0,
    timing=sn.Timing(rate_hz=RATE_HZ),
    range={"noise": {"std": 0.02}},
    still_below_m_s=0.3,
)
sensor = env.attach(spec)
arrivals = [arrival for _ in env.run(2.0 * np.pi) for arrival in sensor.arrivals()]
readings, truths = [arrival.reading for arrival in arrivals], [arrival.truth() for arrival in arrivals]
time_s = np.array([reading.time_ns for reading in readings]) * 1e-9
verdicts = np.array([int(reading.verdict) for reading in readings])
axes[1].plot(
    time_s,
    [r.differenced_range_rate for r in readings],
    ".",
    color=draw.COLORS[1],
    markersize=4.0,
    label="differences of ranges, 2 cm of noise",
)
axes[1].plot(time_s, [r.speed for r in truths], color=draw.COLORS[4], linewidth=3.0, label="true speed, eq. 3.9")
axes[1].plot(
    time_s, [r.range_rate for r in truths], color=INK, linewidth=1.0, linestyle=(0, (4, 3)), label="true range rate"
)
shades = {sn.Verdict.APPROACHING: draw.COLORS[3], sn.Verdict.RECEDING: draw.COLORS[0], sn.Verdict.STILL: "#8b949e"}
for verdict, color in shades.items():
    axes[1].fill_between(time_s, -5.4, 5.4, where=verdicts == verdict, color=color, alpha=0.16, linewidth=0)
    axes[1].fill_between([], [], [], color=color, alpha=0.5, label=verdict.name.lower())
axes[1].set(xlim=(0.0, 2.0 * np.pi), ylim=(-5.4, 5.4))
draw.key(axes[1], where="lower center", columns=2)
save_figure("cone_speed.png", figure)
