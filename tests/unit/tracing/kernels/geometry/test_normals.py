import numpy as np
import pytest

from sensorium.tracing.embree import packet as pk
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.geometry import normals as nm
from sensorium.tracing.kernels.geometry import rows


def incidence(directions, normals):
    """Cosine, side and unit normals of one block of rays."""
    block, _ = rows.new_scratch()
    used = len(directions)
    for axis in range(3):
        at = axis * BLOCK
        block[pk.B_DIRECTION_X + at : pk.B_DIRECTION_X + at + used] = directions[:, axis]
        block[pk.B_NORMAL_X + at : pk.B_NORMAL_X + at + used] = normals[:, axis]
    nm.find_incidence(block, used)
    unit = np.stack([block[pk.B_NORMAL_X + axis * BLOCK :][:used] for axis in range(3)], axis=-1)
    return block[rows.COS : rows.COS + used], block[rows.SIDE : rows.SIDE + used], unit


def test_incidence_does_not_depend_on_the_length_of_normals():
    rng = np.random.default_rng(3)
    directions, normals = rng.normal(size=(2, 400, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    dot = (directions * normals / length).sum(axis=1)
    for scale in (1.0, 1e-6, 1e6):
        cos, side, unit = incidence(directions, normals * scale)
        np.testing.assert_allclose(cos, np.maximum(np.abs(dot), 1e-4), atol=2e-7)
        np.testing.assert_array_equal(side[np.abs(dot) > 1e-6], np.where(dot < 0, 1, -1)[np.abs(dot) > 1e-6])
        np.testing.assert_allclose(unit, normals / length, atol=2e-7)


@pytest.mark.parametrize("angle_deg", [89.99, 89.9999, 90.0])
def test_grazing_rays_keep_a_cosine_above_zero(angle_deg):
    angle = np.deg2rad(angle_deg)
    cos, _, _ = incidence(np.array([[np.sin(angle), 0, -np.cos(angle)]]), np.array([[0.0, 0, 1]]))
    assert 1e-4 <= cos[0] < 2e-4


def test_the_sine_is_right_where_the_cosine_is_one():
    angles = np.array([1e-5, 1e-4, 1e-3, 0.1, 1.0])
    directions = np.stack([np.sin(angles), 0 * angles, -np.cos(angles)], axis=-1)
    block, _ = rows.new_scratch()
    block[pk.B_DIRECTION_X : pk.B_DIRECTION_X + 5] = directions[:, 0]
    block[pk.B_DIRECTION_Z : pk.B_DIRECTION_Z + 5] = directions[:, 2]
    block[pk.B_NORMAL_Z : pk.B_NORMAL_Z + 5] = 3.0
    nm.find_incidence(block, 5)
    np.testing.assert_allclose(block[rows.SIN2 : rows.SIN2 + 5], np.sin(angles) ** 2, rtol=1e-5)
