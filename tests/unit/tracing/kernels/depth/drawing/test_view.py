"""Boxes in the image of a pinhole: the pixels of every point of theirs, and the distance of the nearest."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.tracing.kernels.depth.drawing.canvas import Frame
from sensorium.tracing.kernels.depth.drawing.view import bounds, into_camera, nearest_of, pixels_between
from sensorium.tracing.kernels.depth.lens import lens_row

LENS = sn.patterns.Pinhole(width=40, height=28, focal_px=(25.0, 27.0), center_px=(18.6, 14.1), rate_hz=10.0)
FRAME = Frame(40, 28, 512, 0, True)


def box(seed):
    """A box somewhere about a camera: poses of camera and box, half its sides."""
    rng = np.random.default_rng(seed)
    q_S, q_O = rng.normal(size=4), rng.normal(size=4)
    X_AS = sn.Pose(rng.uniform(-5, 5, 3), q_S / np.linalg.norm(q_S))
    X_AO = sn.Pose(rng.uniform(-5, 5, 3), q_O / np.linalg.norm(q_O))
    return X_AS, X_AO, rng.uniform(0.05, 3.0, 3)


def rows(pose):
    """A pose as kernels read it."""
    return np.ascontiguousarray(pose.matrix.reshape(-1), np.float32)


@pytest.mark.parametrize("seed", range(30))
def test_rays_that_meet_a_box_are_within_its_bounds(seed):
    """By slabs: a ray is inside the box between the last of the planes it enters by and the first it leaves by."""
    X_AS, X_AO, half = box(seed)
    m = np.zeros(12)
    into_camera(rows(X_AS), rows(X_AO), m)
    X_OS = X_AO.inverse() @ X_AS
    direction, origin = X_OS.rotate(LENS.rays().direction_S), X_OS.position
    one, other = (-half - origin) / direction, (half - origin) / direction
    enters, leaves = np.minimum(one, other).max(axis=-1), np.maximum(one, other).min(axis=-1)
    v, u = np.nonzero((enters <= leaves) & (leaves > 0.0))

    left, right, first, last = bounds(m, half, lens_row(LENS), FRAME)
    assert ((left <= u) & (u < right) & (first <= v) & (v < last)).all()
    if len(u):
        met = np.maximum(enters[v, u], 0.0)
        assert nearest_of(m, half) <= met.min() * (1 + 1e-6) + 1e-6


def test_bounds_of_a_box_straight_ahead_are_those_of_its_near_side():
    m = np.zeros(12)
    m[[0, 5, 10]], m[3] = 1.0, 5.0
    half = np.array([1.0, 0.8, 0.4])
    left, right, first, last = bounds(m, half, lens_row(LENS), FRAME)
    assert (left, right) == (np.ceil(18.6 - 5.0), np.floor(18.6 + 5.0) + 1)
    assert (first, last) == (np.ceil(14.1 - 2.7), np.floor(14.1 + 2.7) + 1)
    assert nearest_of(m, half) == pytest.approx(4.0)


def test_a_box_across_the_camera_may_be_anywhere_and_one_behind_is_nowhere():
    m = np.zeros(12)
    m[[0, 5, 10]] = 1.0
    half = np.array([1.0, 1.0, 1.0])
    assert tuple(bounds(m, half, lens_row(LENS), FRAME)) == (0, 40, 0, 28)
    assert nearest_of(m, half) == 0.0
    m[3] = -1.5
    left, right, _, _ = bounds(m, half, lens_row(LENS), FRAME)
    assert left >= right
    assert nearest_of(m, half) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("low", "high", "first", "end"),
    [
        (-5.0, 3.2, 0, 4),
        (2.4, 2.6, 3, 3),
        (3.0, 3.0, 3, 4),
        (50.0, 60.0, 10, 10),
        (-9.0, -1.0, 0, 0),
        (-np.inf, np.inf, 0, 10),
    ],
)
def test_pixels_are_those_whose_middles_lie_between(low, high, first, end):
    assert tuple(pixels_between(low, high, 10)) == (first, end)
