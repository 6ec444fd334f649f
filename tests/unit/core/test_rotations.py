"""The arithmetic under Pose, against NumPy and matrix exponentials."""

import numpy as np
import pytest
from scipy.linalg import expm

from sensorium.core import rotations as rot


@pytest.fixture
def rng():
    return np.random.default_rng(3)


def hat(v):
    return np.array([[0, -v[2], v[1]], [v[2], 0, -v[0]], [-v[1], v[0], 0]])


def test_cross_and_dot_are_those_of_numpy(rng):
    a, b = rng.normal(size=(5, 1, 3)), rng.normal(size=(4, 3))
    np.testing.assert_allclose(rot.cross(a, b), np.cross(a, b), atol=1e-15)
    np.testing.assert_allclose(rot.dot(a, b), np.sum(a * b, axis=-1), atol=1e-15)


def test_quaternion_product_is_the_product_of_rotations(rng):
    a, b = rot.unit(rng.normal(size=(2, 7, 4)))
    product = rot.rotation_from_quaternion(rot.multiply(a, b))
    matrices = rot.rotation_from_quaternion(a) @ rot.rotation_from_quaternion(b)
    np.testing.assert_allclose(product, matrices, atol=1e-14)


def test_units_of_quaternions_multiply_as_hamilton_wrote():
    one, i, j, k = np.eye(4)
    for a, b, c in ((i, j, k), (j, k, i), (k, i, j)):
        np.testing.assert_array_equal(rot.multiply(a, b), c)
        np.testing.assert_array_equal(rot.multiply(b, a), -c)
        np.testing.assert_array_equal(rot.multiply(a, a), -one)


@pytest.mark.parametrize("angle", [0.0, 1e-200, 1e-9, 0.1, 0.2999, 0.3001, 1.0, 3.0, np.pi - 1e-9])
def test_exponential_logarithm_and_jacobian_at_every_size_of_angle(angle):
    axis = rot.unit(np.array([1.0, -2.0, 0.5]))
    phi = angle * axis
    quaternion = rot.quaternion_exp(phi)
    np.testing.assert_allclose(rot.rotation_from_quaternion(quaternion), expm(hat(phi)), atol=1e-14)
    np.testing.assert_allclose(rot.quaternion_log(quaternion), phi, rtol=1e-14, atol=0)

    # V is the integral of exp(s phi^) for s from 0 to 1, the upper right block of one larger exponential
    block = np.zeros((4, 4))
    v = np.array([0.3, 0.4, -1.2])
    block[:3, :3], block[:3, 3] = hat(phi), v
    np.testing.assert_allclose(rot.jacobian_times(phi, v), expm(block)[:3, 3], atol=1e-14)
    np.testing.assert_allclose(rot.jacobian_inverse_times(phi, rot.jacobian_times(phi, v)), v, atol=1e-14)


def test_logarithm_takes_the_shorter_turn():
    quaternion, phi = np.array([0.6, 0.0, 0.8, 0.0]), [0, 2 * np.arctan2(0.8, 0.6), 0]
    np.testing.assert_allclose(rot.quaternion_log(quaternion), phi, atol=1e-15)
    np.testing.assert_allclose(rot.quaternion_log(-quaternion), phi, atol=1e-15)


def test_rotation_to_quaternion_and_back_for_half_turns_too(rng):
    quaternions = np.concatenate([rot.unit(rng.normal(size=(50, 4))), np.eye(4), rot.unit(np.eye(4) + 1e-9)])
    matrices = rot.rotation_from_quaternion(quaternions)
    again = rot.rotation_from_quaternion(rot.quaternion_from_rotation(matrices))
    np.testing.assert_allclose(again, matrices, atol=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
def test_unit_neither_overflows_nor_underflows(scale):
    np.testing.assert_allclose(rot.unit(scale * np.array([3.0, 0.0, 4.0])), [0.6, 0.0, 0.8], rtol=1e-15)


def test_one_rotation_of_many_vectors_equals_many_rotations_bit_for_bit(rng):
    rotation = rot.rotation_from_quaternion(rot.unit(rng.normal(size=4)))
    vectors = rng.normal(size=(9, 3))
    np.testing.assert_array_equal(rot.rotate(rotation, vectors), rot.rotate(rotation[None], vectors))
