"""Mirror ghosts: a room with one mirrored wall in a lidar scan, which assumes straight paths."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

# A room, 10 m by 8 m; the mirror covers most of the wall at x = 5
scene = sn.Scene()
walls = [
    ((5.1, 0, 1.5), (0.1, 8, 3)),
    ((-5.1, 0, 1.5), (0.1, 8, 3)),
    ((0, 4.1, 1.5), (10, 0.1, 3)),
    ((0, -4.1, 1.5), (10, 0.1, 3)),
]
for place, size in walls:
    scene.add(sn.shapes.box(*size), pose=sn.Pose(position=place), material=sn.Lambertian(reflectance=0.6), label="wall")
mirror = scene.add(
    sn.shapes.box(0.02, 5.0, 2.4), pose=sn.Pose(position=(5.0, 0.5, 1.4)), material=sn.Mirror(reflectance=0.9)
)
pillar = sn.shapes.cylinder(0.4, 3.0)
scene.add(pillar, pose=sn.Pose(position=(2.0, 2.2, 1.5)), material=sn.materials.load("concrete"), label="pillar")
crate = sn.Pose.from_euler_deg((1.2, -2.2, 0.5), yaw=30.0)
scene.add(sn.shapes.box(1.4, 0.9, 1.0), pose=crate, material=sn.materials.load("wood"), label="crate")

environment = sn.Environment(scene, seed=1)
pattern = sn.patterns.Spinning(elevation_deg=tuple(np.linspace(3.0, -3.0, 16)), columns=1440, rate_hz=10)
spec = sn.Lidar(pattern=pattern, mode="relative", max_depth=2)
lidar = environment.attach(spec, pose=sn.Pose(position=(-1.0, -0.5, 1.0)))
for _ in environment.run(duration_s=0.1):
    pass
scan = lidar.read().flat()
points = scan.points + np.array([-1.0, -0.5, 1.0])

# Cause and mirror are known for every point
ghost = scan.cause == sn.Cause.REFLECTION
by_mirror = scan.mirror_id == scene.objects.index(mirror)
print(f"{ghost.sum()} of {len(points)} points are ghosts, {by_mirror.sum()} of them by the mirror")
on_pillar = by_mirror & (scan.label == scene.labels["pillar"]) & (scan.depth == 1)
center = np.mean([points[on_pillar, 0].min(), points[on_pillar, 0].min() + 0.8])
print(f"the pillar's ghost stands at x = {center:.2f} m; its mirror image is at {2 * 4.99 - 2.0:.2f} m")

figure, (truth, above) = draw.canvas(14.0, 5.0, columns=2, width_ratios=(11.2, 21.8))
for axes, title in ((truth, "What the lidar should see (truth)"), (above, "What it reports, by cause")):
    draw.frame(axes, title, "x [m]", "y [m]", equal=True)
    draw.outline(axes, [-5.05, 5.05, 5.05, -5.05, -5.05], [-4.05, -4.05, 4.05, 4.05, -4.05])
    turn = np.linspace(0.0, 2.0 * np.pi, 60)
    corners = crate.apply(
        np.array([[0.7, 0.45, 0], [-0.7, 0.45, 0], [-0.7, -0.45, 0], [0.7, -0.45, 0], [0.7, 0.45, 0]])
    )
    for way, dashes in ((1.0, "-"), (-1.0, ":")):
        if way > 0 or axes is above:
            at = (lambda x: x) if way > 0 else (lambda x: 2 * 4.99 - x)
            draw.outline(axes, at(2.0 + 0.4 * np.cos(turn)), 2.2 + 0.4 * np.sin(turn), linestyle=dashes)
            draw.outline(axes, at(corners[:, 0]), corners[:, 1], linestyle=dashes)
    axes.plot([4.99, 4.99], [-2.0, 3.0], color="#4aa8ff", linewidth=3.0, alpha=0.8, label="mirror")
    draw.sensor(axes, -1.0, -0.5)
    axes.set_xlim(-5.6, 5.6 if axes is truth else 16.2)
    axes.set_ylim(-5.6, 5.6)
true = lidar.truth().flat()
draw.points_by_cause(
    truth, true.points[:, 0] - 1.0, true.points[:, 1] - 0.5, np.full(len(true.points), sn.Cause.SURFACE), size=5
)
draw.points_by_cause(above, points[:, 0], points[:, 1], scan.cause, size=5)
draw.note(above, "the room once more,\nbehind the mirror", (10.2, 0.6))
draw.key(above, where="lower center", columns=5)
save_figure("lidar_mirror.png", figure)
