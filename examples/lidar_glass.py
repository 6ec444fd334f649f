"""A glass wall: most light passes and returns, some is mirrored, little is returned by the pane itself."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEAM = {"detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3}
EYE = np.array([0.0, 0.0, 1.2])
glass = sn.ThinGlass(refractive_index=1.5, roughness=0.002)

# An office behind glass at x = 4; the door at y = -2.5 is open; a person is in front, and pillars behind
scene = sn.Scene()
matt = sn.Lambertian(reflectance=0.5)
scene.add(sn.shapes.box(0.2, 36, 3), pose=sn.Pose(position=(9.1, 0, 1.5)), material=matt, label="back wall")
scene.add(sn.shapes.box(0.2, 36, 3), pose=sn.Pose(position=(-3.1, 0, 1.5)), material=matt, label="front wall")
for y, width in ((4.0, 12.0), (-6.5, 7.0)):
    pane = sn.Mesh(
        [(4, y - width / 2, 0), (4, y + width / 2, 0), (4, y + width / 2, 3), (4, y - width / 2, 3)],
        [(0, 1, 2), (0, 2, 3)],
    )
    scene.add(pane, material=glass, label="glass")
for x, y in ((6.5, 2.2), (7.0, -1.0), (6.0, -4.6)):
    scene.add(sn.shapes.cylinder(0.25, 3.0), pose=sn.Pose(position=(x, y, 1.5)), material=matt, label="pillar")
scene.add(sn.shapes.cylinder(0.25, 1.8), pose=sn.Pose(position=(1.8, 1.8, 0.9)), material=matt, label="person")

environment = sn.Environment(scene)
pattern = sn.patterns.Raster(width=1441, height=9, horizontal_fov_deg=(-60, 60), vertical_fov_deg=(-1, 1), rate_hz=10)
spec = sn.Lidar(
    pattern=pattern, mode="relative", detection=None, beam=sn.Beam(**BEAM), max_depth=2, returns="dual", threshold=2e-5
)
lidar = environment.attach(spec, pose=sn.Pose(position=EYE))
for _ in environment.run(duration_s=0.1):
    pass
scan = lidar.read()  # (2, 9, 1441): the strongest return of each ray, and the last

# Behind glass the return of the wall is T_p^2 of its value through the open door
on_wall = scan.valid[0] & (scan.label[0] == scene.labels["back wall"])
direction = pattern.rays().direction_S
incidence_deg = np.degrees(np.arccos(direction[..., 0]))
spread = sn.optics.captured_fraction(9.0 / direction[..., 0], **BEAM)
share = scan.intensity[0] / (0.5 / np.pi * direction[..., 0] * spread)
behind = on_wall & (scan.cause[0] == sn.Cause.TRANSMISSION)
straight = np.median(share[behind & (incidence_deg < 5.0)])
through = sn.optics.pane(1.0, n=1.5)[0] ** 2
print(f"behind the pane the wall answers {straight:.4f} of its open value; T_p^2 is {through:.4f}")
print(f"through the open door {np.median(share[on_wall & (scan.cause[0] == sn.Cause.SURFACE)]):.4f}")

figure, (strongest, last, right) = draw.canvas(16.0, 5.3, columns=3, width_ratios=(1.0, 1.0, 1.0))
for axes, slot, title in ((strongest, 0, "Strongest return"), (last, 1, "Last return, where it is another")):
    draw.frame(axes, title, "x [m]", "y [m]", equal=True)
    for low, high in ((-2.0, 10.0), (-10.0, -3.0)):
        axes.plot(
            [4, 4], [low, high], color="#4aa8ff", linewidth=4.0, alpha=0.35, label="glass" if low == -2.0 else None
        )
    turn = np.linspace(0.0, 2.0 * np.pi, 40)
    for x, y in ((6.5, 2.2), (7.0, -1.0), (6.0, -4.6), (1.8, 1.8)):
        draw.outline(axes, x + 0.25 * np.cos(turn), y + 0.25 * np.sin(turn))
    for x in (9.0, -3.0):
        draw.outline(axes, [x, x], [-10, 10])
    seen = scan.valid[slot]
    draw.points_by_cause(axes, *scan.points[slot][seen][:, :2].T, scan.cause[slot][seen], size=6)
    draw.sensor(axes, 0.0, 0.0)
    axes.set_xlim(-3.6, 12.0)
    axes.set_ylim(-7.8, 7.8)
draw.key(strongest, where="upper left")
draw.key(last, where="upper left")
angle = np.linspace(0.0, 60.0, 200)
draw.frame(right, "The wall behind the glass", "angle of incidence [°]", "share of its open value")
for keep, color, name in (
    (behind, "TRANSMISSION", "behind the pane"),
    (on_wall & ~behind, "SURFACE", "through the door"),
):
    right.plot(
        incidence_deg[keep], share[keep], ".", color=draw.CAUSE_COLORS[sn.Cause[color]], markersize=3, label=name
    )
law = sn.optics.pane(np.cos(np.radians(angle)), n=1.5)[0] ** 2
right.plot(angle, law, color="white", linewidth=1.2, label="T$_p^2$")
right.set_ylim(0.5, 1.05)
draw.key(right, where="lower left")
save_figure("lidar_glass.png", figure)
