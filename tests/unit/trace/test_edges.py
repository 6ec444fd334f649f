"""Rays at edges and corners end on the edge, whichever face was found."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.trace.edges import _passing


@pytest.fixture(scope="module")
def roof():
    """Faces that share edges at an angle, and the place of each edge's and each corner's target in the world."""
    rng = np.random.default_rng(3)
    mesh = sn.shapes.heightfield(rng.uniform(0, 4.0, (40, 40)), 40.0, 40.0)
    scene, pose = sn.Scene(), sn.Pose.from_euler_deg((7, -3, 1), yaw=20, roll=5)
    scene.add(mesh, pose=pose)
    corners = pose.apply(mesh.vertices[mesh.faces])
    return sn.RayCaster(scene), corners


def test_ranges_on_edges_are_distances_to_the_edge(roof):
    caster, corners = roof
    origin = np.array([7.0, -3.0, 60.0])
    for share in (0.5, 0.3, 0.0):
        a, b = corners.reshape(-1, 3), np.roll(corners, 1, axis=1).reshape(-1, 3)
        target = a + share * (b - a)
        hits = caster.cast(origin, target - origin)
        edge = np.minimum(hits.barycentric.min(axis=-1), 1 - hits.barycentric.sum(axis=-1)) < 2e-6
        off = hits.range_m[edge & hits.hit] - np.linalg.norm(target - origin, axis=-1)[edge & hits.hit]
        seen = np.abs(off) < 1e-2  # nothing stands before the target
        assert seen.sum() > 0.3 * len(target)
        assert np.abs(off[seen]).max() < 4e-5  # directions are float32 as well, and some edges run along the ray
        assert np.median(np.abs(off[seen])) < 2e-6  # half a unit of the last place


def test_two_lines_pass_nearest_where_geometry_says_whatever_the_order():
    rng = np.random.default_rng(0)
    for _ in range(200):
        a, b = rng.normal(size=(2, 3)) * 3.0
        d = rng.normal(size=3).astype(np.float32)
        t = _passing(a, b, d)
        assert t == _passing(b, a, d)
        d = d.astype(np.float64)
        across = np.cross(d, b - a)
        assert t == pytest.approx(np.linalg.det([a, b - a, across]) / (across @ across), rel=1e-9)
        assert _passing(a, a, d) == pytest.approx(a @ d / (d @ d), rel=1e-12)
