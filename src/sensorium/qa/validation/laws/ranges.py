"""Ranges: geometric intersections of rays and surfaces."""

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Array, Axis, Comparison, Family
from sensorium.tracing.reference import brute_force as reference

RANGES = Family("Ray casting")

# Far from the world's origin, where float32 alone would be half a millimeter off
_FAR_AWAY = np.array([4000.0, -2500.0, 120.0])


def _tilted(incidence_deg: float, count: int) -> Array:
    """Unit vectors at an angle from -z, all around it."""
    turn = np.linspace(0.0, 2 * np.pi, count, endpoint=False)
    tilt = np.radians(incidence_deg)
    return np.stack([np.sin(tilt) * np.cos(turn), np.sin(tilt) * np.sin(turn), np.full(count, -np.cos(tilt))], axis=-1)


@RANGES.check(
    "planes",
    "A ray meets a plane at height over cosine, up to 200 m, near the world's origin and 4 km away from it.",
    reference="h / cos(theta)",
    relative=1e-5,
)
def _planes(quick: bool) -> Comparison:
    angles = np.array([0.0, 30.0, 60.0, 75.0, 85.0])
    found, expected, at = [], [], []
    for origin in (np.zeros(3), _FAR_AWAY):
        for height_m in (1.0, 13.7) if quick else (1.0, 2.0, 5.0, 13.7, 50.0):
            scene = sn.Scene()
            scene.add(sn.shapes.plane(500.0), pose=sn.Pose(origin + [3.0, -7.0, -height_m]))
            caster = sn.RayCaster(scene)
            for angle in angles[height_m / np.cos(np.radians(angles)) <= 200.0]:
                hits = caster.cast(origin, _tilted(float(angle), 16))
                found.append(hits.range_m)
                expected.append(np.full(16, height_m / np.cos(np.radians(angle))))
                at.append(np.full(16, angle))
    ratio = np.array(found, float) / np.array(expected)
    return Comparison(ratio, 1.0, at=at, x=Axis("angle of incidence [deg]"), y=Axis("range / closed form"))


@RANGES.check(
    "spheres",
    "Rays inside a sphere of facets are shorter than its radius by no more than the facets' sag.",
    reference="icosphere of 4 subdivisions: 0 to 0.292 r / 4^4",
    absolute=1e-5,
)
def _spheres(quick: bool) -> Comparison:
    scene = sn.Scene()
    scene.add(sn.shapes.sphere(10.0, subdivisions=4))
    directions = np.random.default_rng(0).normal(size=(4000, 3))
    ranges = sn.RayCaster(scene).cast(np.zeros(3), directions).range_m.astype(np.float64)
    sag_m = 0.292 * 10.0 / 4**4
    nearest = np.clip(ranges, 10.0 - sag_m, 10.0)
    return Comparison(ranges, nearest, x=Axis("ray"), y=Axis("range [m]"), note=f"sag {1e3 * sag_m:.1f} mm")


@RANGES.check(
    "oracle",
    "Hits among turned boxes and balls are those of every ray against every triangle in float64.",
    reference="Moeller and Trumbore 1997 by brute force (tracing/reference/brute_force.py, no code of Embree)",
    absolute=2e-5,
)
def _oracle(quick: bool) -> Comparison:
    rng = np.random.default_rng(5)
    things = [
        (mesh, sn.Pose(rng.uniform(-5, 5, 3) + np.sign(rng.normal(size=3)) * 2.5, rng.normal(size=4)))
        for _ in range(8)
        for mesh in (sn.shapes.box(*rng.uniform(1, 4, 3)), sn.shapes.sphere(1.5, subdivisions=2))
    ]
    scene = sn.Scene()
    for mesh, pose in things:
        scene.add(mesh, pose=pose)
    directions = rng.normal(size=(1500 if quick else 20_000, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    ours = sn.RayCaster(scene).cast(np.zeros(3), directions)
    theirs = reference.cast(things, np.zeros((len(directions), 3)), directions)
    both = ours.hit & np.isfinite(theirs.range_m)
    # At an edge the two may hit different objects; there must be next to no such rays
    apart = (ours.object_id != theirs.object_id).mean()
    note = f"{both.sum()} rays hit in both, {100 * apart:.2f} % see different objects"
    same = both & (ours.object_id == theirs.object_id)
    found = np.append(ours.range_m[same].astype(float) - theirs.range_m[same], 0.0 if apart < 2e-3 else 1.0)
    at = np.append(theirs.range_m[same], 1.0)
    return Comparison(found, 0.0, at=at, x=Axis("range [m]"), y=Axis("ours - brute force [m]"), note=note)


@RANGES.check(
    "moving-lidar",
    "Each ray of a sweep leaves from where the sensor is when it fires: a wall ahead of a car at 30 m/s.",
    reference="(gap - v t) / d_x, physics.md 12, rolling scan",
    relative=1e-5,
)
def _moving(quick: bool) -> Comparison:
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 800, 800), pose=sn.Pose((150.5, 0, 0)))
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(30.0, 0, 0))}, step_s=0.02)
    pattern = sn.patterns.Raster(
        height=8, width=64, horizontal_fov_deg=(-35, 35), vertical_fov_deg=(-25, 25), rate_hz=10, firing="columns"
    )
    env = sn.Environment(scene, world)
    lidar = env.attach(sn.Lidar(pattern=pattern), body="car")
    for _ in env.run(duration_s=0.2):
        pass
    scan = lidar.read()
    expected = (150.0 - 30.0 * scan.ray_time_ns * 1e-9) / pattern.rays().direction_S[..., 0].astype(np.float64)
    at = scan.ray_time_ns * 1e-6
    return Comparison(scan.range_m, expected, at=at, x=Axis("time [ms]"), y=Axis("range [m]"))


@RANGES.check(
    "watertight",
    "From inside a closed mesh no ray escapes, not even at edges and corners.",
    reference="every ray has a hit",
)
def _watertight(quick: bool) -> Comparison:
    ball = sn.shapes.sphere(5.0, subdivisions=3)
    scene = sn.Scene()
    scene.add(ball)
    corners = ball.vertices[ball.faces]
    targets = np.concatenate([corners.reshape(-1, 3), 0.5 * (corners + np.roll(corners, 1, axis=1)).reshape(-1, 3)])
    hits = sn.RayCaster(scene).cast(np.zeros(3), targets)
    return Comparison([float((~hits.hit).sum())], 0.0, y=Axis("rays lost"), note=f"{len(targets)} rays")
