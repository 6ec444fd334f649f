"""Cross-talk: pulses of a second lidar, reported at ranges where there is nothing."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

SWEEPS, SPREAD_S, FAR_M = 1500, 8e-6, 120.0

# Two flash lidars, every pixel of which fires at once, look into the same room; each has its own clock
scene = sn.Scene()
matt = sn.Lambertian(reflectance=0.5)
scene.add(sn.shapes.box(40.0, 30.0, 12.0), pose=sn.Pose((12.0, 0, 0)), material=matt, label="room")
scene.add(sn.shapes.box(4.0, 2.0, 2.0), pose=sn.Pose((15.0, 3.0, 0)), material=matt, label="van")

flash = sn.patterns.Table(
    azimuth_deg=tuple(np.linspace(40.0, -40.0, 161)), elevation_deg=(0.0,) * 161, time_s=(0.0,) * 161, rate_hz=10
)
spec = sn.Lidar(
    pattern=flash,
    mode="relative",
    max_range_m=FAR_M,
    returns="first",
    receiver=sn.Receiver(half_field_rad=np.radians(0.5)),
    crosstalk=sn.Crosstalk(clock_spread_s=SPREAD_S),
)
environment = sn.Environment(scene, sn.worlds.Static(step_s=0.1), seed=1)
lidar = environment.attach(spec.model_copy(update={"returns": "all"}), name="left", pose=sn.Pose((0.0, 0.25, 0.0)))
environment.attach(spec, name="right", pose=sn.Pose((0.0, -0.25, 0.0)))
scans = []
for _ in environment.run(duration_s=0.1 * SWEEPS):
    scans += lidar.readings()

# The other is late by a uniform draw; the time of one pixel within the window makes a share of the sweeps
crossed = [scan.cause == sn.Cause.CROSSTALK for scan in scans]
pixel = 80
told_m = np.concatenate([scan.range_m[:, 0, pixel][at[:, 0, pixel]] for scan, at in zip(scans, crossed, strict=True)])
share = 2.0 * FAR_M / 299_792_458.0 / SPREAD_S
print(
    f"{len(told_m)} of {len(scans)} sweeps have cross-talk straight ahead; {share * len(scans):.0f} are to be expected"
)

figure, (map_axes, histogram) = draw.canvas(15.0, 6.0, columns=2, width_ratios=(1.3, 1.0))
draw.frame(map_axes, "Six sweeps with cross-talk, from above", "forward [m]", "to the left [m]", equal=True)
shown = [scan for scan, at in zip(scans, crossed, strict=True) if at.sum() > 40][:6]
points = np.concatenate([scan.points[scan.valid] for scan in shown])
cause = np.concatenate([scan.cause[scan.valid] for scan in shown])
draw.points_by_cause(map_axes, points[:, 0], points[:, 1], cause, size=6)
draw.sensor(map_axes, 0.0, 0.25)
draw.sensor(map_axes, 0.0, -0.25, label=None)
draw.key(map_axes, where="upper right")
map_axes.set_xlim(-5.0, 125.0)
map_axes.set_ylim(-60.0, 60.0)

draw.frame(histogram, f"Straight ahead, {SWEEPS} sweeps", "range reported [m]", "sweeps in 10 m")
edges = np.linspace(0.0, FAR_M, 13)
histogram.hist(told_m, edges, color=draw.CAUSE_COLORS[sn.Cause.CROSSTALK], alpha=0.85, label="cross-talk")
expected = 2.0 * 10.0 / 299_792_458.0 / SPREAD_S * SWEEPS
histogram.axhline(expected, color=draw.COLORS[1], linewidth=1.8, label="2 Δr / (c spread), each sweep")
draw.key(histogram, where="lower right")
save_figure("lidar_crosstalk.png", figure)
