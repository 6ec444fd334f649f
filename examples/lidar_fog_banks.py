"""Fog banks: one on the ground, two side by side; air in a glass shell in water; each also computed by hand."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEAM = sn.Beam()
EYE_M = 1.8
TILT_DEG = 1.0  # a ray that meets no face of glass head-on, whose glint would be stronger than the wall
GRAY = sn.Lambertian(reflectance=0.5)


def look(
    scene: sn.Scene, elevation_deg: np.ndarray, *, height_m: float = 0.0, **options: object
) -> tuple[sn.Scan, sn.Scan]:
    """A fan of rays in the plane y = 0, and the truth."""
    count = len(elevation_deg)
    fan = sn.patterns.Table(
        azimuth_deg=(0.0,) * count, elevation_deg=tuple(elevation_deg), time_s=(0.0,) * count, rate_hz=10
    )
    environment = sn.Environment(scene, seed=3)
    spec = sn.Lidar(pattern=fan, mode="relative", beam=BEAM, **options)
    lidar = environment.attach(spec, pose=sn.Pose((0, 0, height_m)))
    for _ in environment.run(duration_s=0.1):
        pass
    return lidar.read(), lidar.truth()


def fill(scene: sn.Scene, bank: sn.media.AbstractMedium | sn.Dielectric, near_m: float, far_m: float) -> None:
    """Fill the slab from one distance to another."""
    scene.add(sn.shapes.box(far_m - near_m, 12, 12), pose=sn.Pose((0.5 * (near_m + far_m), 0, 0)), material=bank)


figure, (standing, beside, shell) = draw.canvas(16.5, 5.0, columns=3, width_ratios=(1.5, 1.0, 1.0))

# A bank on the ground: its lower face and the ground are one place
scene = sn.Scene()
scene.add(sn.shapes.plane(120.0), material=GRAY, label="ground")
scene.add(sn.shapes.box(24, 20, 3), pose=sn.Pose((20, 0, 1.5)), material=sn.media.fog(visibility_m=60.0))
scene.add(sn.shapes.box(0.2, 20, 4), pose=sn.Pose((38, 0, 2)), material=GRAY, label="wall")
angles = np.linspace(-14.0, 3.0, 4000)
scan, true = look(scene, angles, height_m=EYE_M)
draw.frame(standing, "A bank of 60 m visibility on the ground, from the side", "x [m]", "z [m]")
draw.outline(standing, [0, 40], [0, 0], linestyle=":")
draw.outline(standing, [8, 8, 32, 32], [0, 3, 3, 0], color="#f2e34c", linestyle="--", label="fog bank")
seen = scan.flat()
draw.points_by_cause(standing, seen.points[:, 0], seen.points[:, 2] + EYE_M, seen.cause, size=4)
draw.sensor(standing, 0.0, EYE_M)
standing.set_xlim(-1.0, 41.0)
standing.set_ylim(-0.6, 5.0)
draw.key(standing, where="upper left", columns=2)
ground = scan.cause == sn.Cause.SURFACE
worst = np.abs(scan.range_m - true.range_m)[ground].max()
ray, _ = look(scene, np.array([-7.0]), height_m=EYE_M, atmospheric_returns="off")
print(f"ray at -7 degrees: {ray.range_m[0, 0]:.3f} m; the ground is {EYE_M / np.sin(np.radians(7.0)):.3f} m away")
print(f"all surfaces through the bank within {1e6 * worst:.1f} um of the truth")

# Two banks that share a face: the wall behind them is dimmer by both
draw.frame(beside, "Two banks of 4 m side by side", "distance of the wall [m]", "optical depth [1]")
first, second = sn.media.Uniform(extinction_per_m=0.05), sn.media.Uniform(extinction_per_m=0.02)
walls = np.linspace(2.5, 14.5, 25)
depth = []
for wall_m in walls:
    strength = []
    for banks in ((), ((first, 4.0, 8.0), (second, 8.0, 12.0))):
        scene = sn.Scene()
        scene.add(sn.shapes.box(0.2, 20, 20), pose=sn.Pose((wall_m + 0.1, 0, 0)), material=GRAY)
        for bank in banks:
            fill(scene, *bank)
        strength.append(look(scene, np.array([0.1]))[0].intensity[0, 0])
    depth.append(-0.5 * np.log(strength[1] / strength[0]))
by_hand = 0.05 * np.clip(walls - 4.0, 0.0, 4.0) + 0.02 * np.clip(walls - 8.0, 0.0, 4.0)
for near, far, share in ((4.0, 8.0, 0.25), (8.0, 12.0, 0.1)):
    beside.axvspan(near, far, color="#f2e34c", alpha=share, linewidth=0.0)
beside.plot(walls, by_hand, color=draw.COLORS[0], linewidth=1.5, label="by hand")
beside.plot(walls, depth, ".", color="white", markersize=6, label="from intensities")
draw.note(beside, "0.05 / m", (5.0, 0.005))
draw.note(beside, "0.02 / m", (9.0, 0.005))
draw.key(beside, where="upper left")
print(f"optical depth of both banks {depth[-1]:.5f}; 4 x 0.05 + 4 x 0.02 is {by_hand[-1]:.5f}")

# Air in a glass shell in water, nested three deep
draw.frame(shell, "Air in a glass shell in water", "distance of the wall [m]", "range reported [m]")
water, glass = sn.media.Uniform(refractive_index=1.33), sn.Dielectric(refractive_index=1.5)
reported = []
for wall_m in walls:
    scene = sn.Scene()
    scene.add(sn.shapes.box(0.2, 20, 20), pose=sn.Pose((wall_m + 0.1, 0, 0)), material=GRAY)
    fill(scene, water, 2.0, 14.0)
    scene.add(sn.shapes.box(4.0, 4.0, 4.0), pose=sn.Pose((7.0, 0, 0)), material=glass)
    scene.add(sn.shapes.box(3.0, 3.0, 3.0), pose=sn.Pose((7.0, 0, 0)), material=sn.media.vacuum())
    reported.append(look(scene, np.array([TILT_DEG]), max_depth=6)[0].range_m[0, 0])
places, index = np.array([0.0, 2.0, 5.0, 5.5, 8.5, 9.0, 14.0, 20.0]), np.array([1.0, 1.33, 1.5, 1.0, 1.5, 1.33, 1.0])
cosine = np.sqrt(1.0 - np.square(np.sin(np.radians(TILT_DEG)) / index))  # Snell
path = np.concatenate([[0.0], np.cumsum(index * np.diff(places) / cosine)])
for near, far, color in ((2.0, 14.0, "#4aa8ff"), (5.0, 9.0, "#3ad6c5"), (5.5, 8.5, "#0d1117")):
    shell.axvspan(near, far, color=color, alpha=0.2 if color != "#0d1117" else 1.0, linewidth=0.0)
shell.plot(places, path, color=draw.COLORS[0], linewidth=1.5, label="optical path by hand")
shell.plot(walls, reported, ".", color="white", markersize=6, label="lidar")
shell.set_xlim(1.5, 15.5)
shell.set_ylim(1.5, 19.5)
for text, x in (("water", 3.0), ("air", 6.7), ("water", 11.0)):
    draw.note(shell, text, (x, 2.0))
draw.key(shell, where="upper left")
print(f"behind shell and water {reported[-1]:.4f} m; by hand {np.interp(walls[-1], places, path):.4f} m")
save_figure("lidar_fog_banks.png", figure)
