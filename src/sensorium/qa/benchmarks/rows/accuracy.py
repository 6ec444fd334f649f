"""Errors of ranges against the closed form, measured with the speeds so that neither is traded for the other."""

import numpy as np

import sensorium as sn


def plane_error() -> float:
    """Largest relative error of ranges to planes 0.5 to 200 m away, straight on to 80 degrees off."""
    rng = np.random.default_rng(0)
    distance = np.geomspace(0.5, 200.0, 40)
    worst = 0.0
    for d in distance:
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        pose = sn.Pose.look_at(-d * normal, (0, 0, 0)) @ sn.Pose.from_euler_deg(pitch=90)  # z along the normal
        scene = sn.Scene()
        scene.add(sn.shapes.plane(4000.0), pose=pose)
        directions = rng.normal(size=(2000, 3))
        directions /= np.linalg.norm(directions, axis=1, keepdims=True)
        slant = -directions @ normal
        directions, slant = directions[slant > np.cos(np.deg2rad(80))], slant[slant > np.cos(np.deg2rad(80))]
        hits = sn.RayCaster(scene).cast(np.zeros(3), directions)
        worst = max(worst, float(np.abs(hits.range_m * slant / d - 1.0).max()))
    return worst


def sphere_sag(subdivisions: int = 4) -> tuple[float, float]:
    """Depth of a tessellated unit sphere inside the true one [m]: measured by rays, and predicted from its faces."""
    mesh = sn.shapes.sphere(1.0, subdivisions=subdivisions)
    scene = sn.Scene()
    scene.add(mesh)
    directions = np.random.default_rng(1).normal(size=(200_000, 3))
    hits = sn.RayCaster(scene).cast(np.zeros(3), directions)
    corners = mesh.vertices[mesh.faces]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    inradius = np.abs((normal * corners[:, 0]).sum(axis=1)) / np.linalg.norm(normal, axis=1)
    return float(1.0 - hits.range_m.min()), float(1.0 - inradius.min())
