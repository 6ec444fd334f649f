"""A wet road: a smooth film of water makes the road vanish and shows the cars below it, upside down."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEAM = {"detector_radius_m": 0.01, "exit_radius_m": 0.01, "half_divergence_rad": 1.5e-3}
EYE_M = 1.8
LIMIT = sn.DetectionLimit()  # the default of mode="relative": 10 % at 100 m, by 90 % of the rays
asphalt = sn.materials.load("asphalt")
wet = sn.TwoLayer(refractive_index=1.33, roughness=1e-4, reflectance=asphalt.reflectance)
CARS = ((14.0, 1.6), (30.0, -1.6), (52.0, 1.6))


def look(road: sn.materials.AbstractMaterial) -> sn.Scan:
    """One sweep down a straight road with three cars and a wall at its end."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(200.0), material=road, label="road")
    paint = sn.Lambertian(reflectance=0.6)
    for x, y in CARS:
        scene.add(sn.shapes.box(4.4, 1.8, 0.75), pose=sn.Pose(position=(x, y, 0.75)), material=paint, label="car")
        scene.add(sn.shapes.box(2.4, 1.6, 0.6), pose=sn.Pose(position=(x - 0.2, y, 1.4)), material=paint, label="car")
    scene.add(sn.shapes.box(0.3, 12, 4), pose=sn.Pose(position=(75, 0, 2)), material=sn.materials.load("concrete"))
    pattern = sn.patterns.Raster(
        height=500, width=721, horizontal_fov_deg=(-12, 12), vertical_fov_deg=(-12, 3), rate_hz=10
    )
    environment = sn.Environment(scene)
    spec = sn.Lidar(pattern=pattern, mode="relative", beam=sn.Beam(**BEAM), max_depth=1)
    lidar = environment.attach(spec, pose=sn.Pose(position=(0, 0, EYE_M)))
    for _ in environment.run(duration_s=0.1):
        pass
    scan = lidar.read().flat()
    scan.points[:, 2] += EYE_M
    return scan


figure, panels = draw.canvas(13.0, 8.2, rows=3, share_x=True, height_ratios=(1.0, 1.0, 1.25))
scans = {"Dry asphalt": look(asphalt), "The same road under a film of water": look(wet)}
for axes, (title, scan) in zip(panels, scans.items(), strict=False):
    draw.frame(axes, f"{title}, from the side", "", "z [m]")
    draw.points_by_cause(axes, scan.points[:, 0], scan.points[:, 2], scan.cause)
    draw.outline(axes, [0, 78], [0, 0], linestyle=":", linewidth=0.8)
    draw.sensor(axes, 0.0, EYE_M)
    axes.set_ylim(-4.3, 4.3)
    road = (scan.label == 1) & (scan.cause == sn.Cause.SURFACE)
    print(f"{title}: the road is seen to {scan.points[road, 0].max():.1f} m,", end=" ")
    print(f"{(scan.cause == sn.Cause.REFLECTION).sum()} ghosts, the lowest at z = {scan.points[:, 2].min():.2f} m")
draw.key(panels[0], where="lower left", columns=3)
draw.key(panels[1], where="lower left", columns=3)
draw.note(panels[1], "ghosts of the cars and of the wall", (36.0, -3.4))

# The law: base seen through the film twice, with the beam's divergence
x = np.geomspace(8.0, 78.0, 200)
slant, cosine = np.hypot(x, EYE_M), EYE_M / np.hypot(x, EYE_M)
spread = sn.optics.captured_fraction(slant, **BEAM)
C = asphalt.row(905e-9)[sn.materials.row.C]
draw.frame(panels[2], "Intensity of the road (lines: two-layer law)", "x [m]", "relative intensity [1/sr]", log="y")
for color, (name, scan), index in zip(draw.COLORS, scans.items(), (1.0, 1.33), strict=False):
    road = (scan.label == 1) & (scan.cause == sn.Cause.SURFACE)
    law = sn.optics.two_layer_monostatic(cosine, n=index, roughness=1e-3, reflectance=C)
    away = np.hypot(scan.points[road, 0], scan.points[road, 1])
    panels[2].plot(away[::150], scan.intensity[road][::150], ".", color=color, markersize=3)
    panels[2].plot(x, law * spread, color=color, linewidth=1.5, label=name)
ghost = scans["The same road under a film of water"]
ghost_car = (ghost.cause == sn.Cause.REFLECTION) & (ghost.label == 2)
panels[2].plot(
    ghost.points[ghost_car, 0][::200],
    ghost.intensity[ghost_car][::200],
    ".",
    color=draw.CAUSE_COLORS[sn.Cause.REFLECTION],
    markersize=3,
    label="ghosts of cars",
)
stated = LIMIT.reflectance / np.pi * sn.optics.captured_fraction(LIMIT.range_m, **BEAM)
half = 5.0 * sn.optics.noise_of_detection(stated, probability=LIMIT.probability, ratio=5.0)
panels[2].axhline(half, color="white", linewidth=0.8, linestyle="--")
draw.note(panels[2], "detected by half of the rays", (55.0, 0.55 * half))
for name, index in zip(scans, (1.0, 1.33), strict=True):
    law = spread * sn.optics.two_layer_monostatic(cosine, n=index, roughness=1e-3, reflectance=C)
    print(f"{name}: half of the rays see the road at {np.interp(-half, -law, x):.1f} m")
panels[2].set_xlim(-1.0, 80.0)
draw.key(panels[2], where="upper right")
save_figure("lidar_wet_road.png", figure)
