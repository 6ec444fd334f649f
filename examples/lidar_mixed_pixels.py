"""Mixed pixels: poles in front of a wall, with rays without width, beams of 19 rays, and waveform mode."""

import numpy as np

import sensorium as sn
from sensorium.physics import optics
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

MATT = sn.Lambertian(reflectance=0.5)
POLES = ((9.5, -0.6), (8.5, 0.6))  # 0.5 m and 1.5 m before the wall
RADIUS, WALL, SIGMA = 0.08, 10.0, 5e-3

scene = sn.Scene()
for x, y in POLES:
    scene.add(sn.shapes.cylinder(RADIUS, 4.0), pose=sn.Pose((x, y, 0.0)), material=MATT, label="pole")
scene.add(sn.shapes.box(0.2, 8.0, 4.0), pose=sn.Pose((WALL + 0.1, 0.0, 0.0)), material=MATT, label="wall")
shots = np.arange(1500)
pattern = sn.patterns.Table(
    azimuth_deg=tuple(-7.5 + 0.01 * shots), elevation_deg=(0.0,) * 1500, time_s=tuple(5e-5 * shots), rate_hz=10
)
beam = {"half_divergence_rad": 2e-3, "exit_radius_m": 0.008, "pulse_s": 5e-9}


def sweep(rays, **fields):
    """Returns of one sweep."""
    environment = sn.Environment(scene, seed=1, atmosphere=sn.media.vacuum())
    noise = sn.RangeNoise(base_m=SIGMA)
    spec = sn.Lidar(pattern=pattern, beam=sn.Beam(rays=rays, **beam), noise=noise, max_range_m=30.0, **fields)
    lidar = environment.attach(spec)
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read().flat()


quiet = {
    "receiver": sn.Receiver(half_field_rad=5e-3, noise_electrons=0.0),
    "waveform": sn.waveform.Waveform(detector=sn.waveform.Centroid(), shot_noise=False),
}
scans = {
    "One ray a beam": sweep(1, mode="relative"),
    "Beam(rays=19)": sweep(19, mode="relative"),
    "Waveform mode": sweep(1, mode="waveform", **quiet),
}
figure, panels = draw.canvas(15.0, 5.2, columns=3)
turn = np.linspace(0.0, 2.0 * np.pi, 90)
for (title, scan), axes in zip(scans.items(), panels, strict=True):
    x, y, _ = scan.points.T
    beside = [np.hypot(x - at[0], y - at[1]) - 0.03 > RADIUS for at in POLES]
    flying = (x < WALL - 0.05) & beside[0] & beside[1]
    print(f"{title}: {flying.sum()} points hang in the air, {(scan.cause == sn.Cause.MIXED).sum()} are mixed")
    draw.frame(axes, title, "x [m]", "y [m]", equal=True)
    for at in POLES:
        draw.outline(axes, at[0] + RADIUS * np.cos(turn), at[1] + RADIUS * np.sin(turn))
    draw.outline(axes, [WALL, WALL], [-1.4, 1.4])
    draw.points_by_cause(axes, x, y, scan.cause, size=5)
    axes.set_xlim(8.2, 10.3)
    axes.set_ylim(-1.25, 1.25)
    draw.key(axes, where="lower left")
draw.note(panels[1], "0.5 m apart: one return\nbetween pole and wall", (8.3, -0.35), (9.7, -0.53))
draw.note(panels[1], "1.5 m apart: two returns,\nthe stronger is reported", (8.75, 1.0), (8.62, 0.7))

# The law of an edge: half of the beam on a pole's edge
near, far = (sn.Beam(**beam).captured(d) for d in (9.5, 10.0))
print(f"half of the beam on a plate at 9.50 m: one return at {(9.5 * near + 10.0 * far) / (near + far):.3f} m")
edge = sn.Scene()
edge.add(sn.shapes.box(0.02, 2.0, 4.0), pose=sn.Pose((9.51, 1.0, 0.0)), material=MATT)
edge.add(sn.shapes.box(0.2, 8.0, 4.0), pose=sn.Pose((10.1, 0.0, 0.0)), material=MATT)
scene, pattern = edge, sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=10)
SIGMA = 0.0
for rays in (19, 127, 1000):
    print(f"  {rays} rays: {sweep(rays, mode='relative').range_m[0]:.3f} m")
radius = 0.008 + 9.5 * np.tan(2e-3)
print(f"an edge one radius off the axis leaves {optics.share_beyond_edge(radius, radius_m=radius):.2%} beyond it")
save_figure("lidar_mixed_pixels.png", figure)
