"""Curved mirrors: the ghost of a wall in a chrome ball is weaker than in a flat mirror."""

import numpy as np

import sensorium as sn
from sensorium.view import lidar_plots as draw
from sensorium.view import save_figure

BEFORE_M, WALL_M = 5.0, 4.0  # from the sensor to the ball, and to the wall behind the sensor
BEAM = sn.Beam()
CHROME, WALL = sn.Mirror(reflectance=0.9), sn.Lambertian(reflectance=0.5)


def ghosts(mirror: sn.Mesh, place: tuple[float, float, float], offset_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Range and intensity of the wall's ghost, for rays that pass the middle of the mirror at these distances."""
    scene = sn.Scene()
    scene.add(mirror, pose=sn.Pose(place), material=CHROME)
    scene.add(sn.shapes.box(0.1, 4000, 4000), pose=sn.Pose((-WALL_M - 0.05, 0, 0)), material=WALL)
    rays = sn.patterns.Table(
        azimuth_deg=tuple(np.rad2deg(np.arctan2(offset_m, place[0]))),
        elevation_deg=(0.003,) * len(offset_m),  # off the edges of facets
        time_s=(0.0,) * len(offset_m),
        rate_hz=10,
    )
    environment = sn.Environment(scene)
    options = {"max_depth": 1, "max_range_m": 2000.0, "returns": "last", "detection": None}  # however weak
    spec = sn.Lidar(pattern=rays, mode="relative", beam=BEAM, **options)
    lidar = environment.attach(spec)
    for _ in environment.run(duration_s=0.1):
        pass
    scan = lidar.read()
    ghost = scan.depth[0] == 1
    return np.where(ghost, scan.range_m[0], np.nan), np.where(ghost, scan.intensity[0], np.nan)


def closed_form(radius: float | np.ndarray, offset_m: float | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Angle of incidence [deg] and intensity of the ghost in a perfect sphere whose center is on the x axis."""
    far = BEFORE_M + np.asarray(radius)
    angle = np.arctan2(offset_m, far)
    before = far * np.cos(angle) - np.sqrt(np.square(radius) - np.square(far * np.sin(angle)))
    incidence = np.arcsin(np.clip(far * np.sin(angle) / radius, -1.0, 1.0))
    onward = np.cos(2.0 * incidence - angle)  # towards the wall
    after = (WALL_M + before * np.cos(angle)) / onward
    curved = {"along_per_m": 1 / np.asarray(radius), "across_per_m": 1 / np.asarray(radius)}
    z = sn.optics.mirrored_distance(before, after, cos_theta=np.cos(incidence), **curved)
    spread = (1.0 + 2.0 * before / radius / np.cos(incidence)) * (1.0 + 2.0 * before / radius * np.cos(incidence))
    cone = np.tan(BEAM.half_divergence_rad / 2.0) ** 2 * spread
    kappa = 0.9 * cone / (sn.optics.squared_alpha(CHROME.roughness) * np.cos(incidence) + cone)
    return np.rad2deg(incidence), np.square(kappa) * 0.5 / np.pi * onward * BEAM.captured(z)


figure, (by_radius, by_angle) = draw.canvas(14.0, 5.2, columns=2)

# Balls of many sizes, each with its front 5 m away, met almost straight on
radii = np.geomspace(0.05, 100.0, 18)
draw.frame(
    by_radius, "A wall 4 m behind the sensor, in a ball 5 m ahead", "radius of the ball [m]", "intensity", log="xy"
)
flat = ghosts(sn.shapes.box(1.0, 20, 20), (BEFORE_M + 0.5, 0, 0), np.array([0.02]))[1][0]
seen = [ghosts(sn.shapes.sphere(r, 7), (BEFORE_M + r, 0, 0), np.array([0.05 * min(r, 1.0)]))[1][0] for r in radii]
fine = np.geomspace(0.05, 100.0, 200)
expected = closed_form(fine, 0.05 * np.minimum(fine, 1.0))[1]
by_radius.axhline(flat, color=draw.COLORS[2], linestyle="--", linewidth=2.0, label="flat mirror")
by_radius.plot(fine, expected, color=draw.COLORS[0], linewidth=2.0, label="closed form of a convex mirror")
by_radius.plot(radii, seen, "o", color="white", markersize=5, label="measured by the lidar")
draw.key(by_radius, where="lower right")

# One ball of 30 cm, met everywhere
offsets = np.linspace(0.004, 0.2, 60)
angle, expected = closed_form(0.3, offsets)
_, intensity = ghosts(sn.shapes.sphere(0.3, 7), (BEFORE_M + 0.3, 0, 0), offsets)
draw.frame(by_angle, "A ball of 30 cm radius", "angle of incidence [deg]", "intensity", log="y")
by_angle.plot(angle, expected, color=draw.COLORS[0], linewidth=2.0, label="closed form of a convex mirror")
by_angle.plot(angle, intensity, "o", color="white", markersize=4, label="measured by the lidar")
draw.key(by_angle, where="lower left")

met = np.isfinite(intensity)
print(f"ball of 30 cm: {flat / closed_form(0.3, 0.015)[1]:.0f} times weaker than a flat mirror's ghost")
print(f"largest difference from the closed form: {100 * np.nanmax(np.abs(intensity / expected - 1.0)):.1f} %")
print(f"median: {100 * np.nanmedian(np.abs(intensity / expected - 1.0)):.2f} % of {met.sum()} rays")
save_figure("lidar_curved_mirror.png", figure)
