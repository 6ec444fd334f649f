"""A uniform magnetic field is the same everywhere and always."""

import math

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields import MagneticDipole, UniformMagnetic


def test_it_is_the_same_everywhere_and_always():
    field = UniformMagnetic((20e-6, 0, -44e-6))
    B_W = field.at(np.random.default_rng(0).normal(size=(4, 5, 3)), time_ns=10**12)
    np.testing.assert_array_equal(B_W, np.broadcast_to([20e-6, 0, -44e-6], (4, 5, 3)))
    B_W[...] = 0.0
    np.testing.assert_array_equal(field.at((0, 0, 0)), [20e-6, 0, -44e-6])


def test_values_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match=r"UniformMagnetic.field_W is missing"):
        UniformMagnetic()
    with pytest.raises(SpecError, match="field_W"):
        UniformMagnetic((0, np.inf, 0))
    with pytest.raises(SpecError, match=r"UniformMagnetic.unit"):
        UniformMagnetic((0, 0, 1), unit="uT")


def test_the_earth_as_a_dipole():
    # 7.7e22 A m^2 at 6371.2 km: 29.773 uT across, against the moment, and twice that along the axis
    field = MagneticDipole(moment=(0, 0, 7.7e22))
    across, along = field.at([[6371.2e3, 0, 0], [0, 0, 6371.2e3]])
    np.testing.assert_allclose(across, [0, 0, -29.773e-6], atol=5e-10)
    np.testing.assert_allclose(along, [0, 0, 2 * 29.773e-6], atol=1e-9)


def test_on_the_axis_it_is_minus_twice_that_across():
    moment = np.array([0.3, -1.2, 0.5])
    axis = moment / np.linalg.norm(moment)
    across = np.cross(axis, [0, 0, 1])
    across /= np.linalg.norm(across)
    field = MagneticDipole(moment=moment, position=(1, 2, 3))
    for r in (0.01, 1.0, 250.0):
        beside = field.at(np.array([1, 2, 3]) + r * across)
        np.testing.assert_allclose(beside, -1e-7 * moment / r**3, rtol=1e-9)
        np.testing.assert_allclose(field.at(np.array([1, 2, 3]) - r * axis), -2 * beside, rtol=1e-9)


def test_maxwell(jacobian, flux):
    field = MagneticDipole(moment=(0.3, -1.2, 0.5), position=(0.1, 0, 0))
    p = np.random.default_rng(1).normal(size=(40, 3)) + [0, 0, 4]
    slopes = jacobian(field.at, p, 1e-2)
    scale = np.abs(slopes).max(axis=(1, 2))
    assert np.all(np.abs(np.trace(slopes, axis1=1, axis2=2)) < 1e-6 * scale)
    assert np.all(np.abs(slopes - slopes.swapaxes(1, 2)).max(axis=(1, 2)) < 1e-6 * scale)
    assert flux(field.at, (0, 0, 0), 1.0) == pytest.approx(0.0, abs=1e-18)


def test_it_is_the_far_field_of_a_loop_of_current():
    # Biot and Savart on a loop of 1 mm and 2 A, seen from some 50 cm: the next term is (radius / r)^2 smaller
    radius, current, count = 1e-3, 2.0, 2000
    angle = (np.arange(count) + 0.5) * (2 * math.pi / count)
    wire = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], axis=-1)
    piece = (2 * math.pi * radius / count) * np.stack([-np.sin(angle), np.cos(angle), np.zeros(count)], axis=-1)
    p = np.random.default_rng(2).normal(size=(20, 3))
    p *= 0.5 / np.linalg.norm(p, axis=1, keepdims=True)
    r = p[:, None] - wire
    B = 1e-7 * current * np.sum(np.cross(piece, r) / np.linalg.norm(r, axis=-1, keepdims=True) ** 3, axis=1)
    field = MagneticDipole(moment=(0, 0, current * math.pi * radius**2))
    np.testing.assert_allclose(field.at(p), B, atol=2e-5 * np.abs(B).max())


def test_at_the_dipole_there_is_no_value():
    with pytest.raises(SpecError, match=r"p_W is \[0.0, 0.0, 2.0\], which is MagneticDipole.position; .* at r = 0"):
        MagneticDipole(moment=(1, 0, 0), position=(0, 0, 2)).at((0, 0, 2))


def test_values_of_a_dipole_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match=r"MagneticDipole.moment is missing"):
        MagneticDipole(position=(0, 0, 0))
    with pytest.raises(SpecError, match="moment"):
        MagneticDipole(moment=5.0)
