"""Positions at which fields are asked for, and vectors in their specifications: what is taken and what is refused."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields import (
    J2Gravity,
    MagneticDipole,
    MagneticSum,
    PointMassGravity,
    UniformGravity,
    UniformMagnetic,
    WorldMagneticModel,
)
from sensorium.physics.fields.positions import checked_positions, combined, dot, offsets

FIELDS = [
    UniformGravity(),
    PointMassGravity(center=(0, 0, -6.4e6)),
    J2Gravity(center=(1, 2, -6.4e6)),
    UniformMagnetic((1e-5, 0, 0)),
    MagneticDipole(moment=(1, 2, 3), position=(0, 0, -9e3)),
    WorldMagneticModel(latitude_deg=47.0, longitude_deg=8.0, date=2026.5),
    MagneticSum((UniformMagnetic((1e-5, 0, 0)), MagneticDipole(moment=(1, 2, 3), position=(0, 0, -9e3)))),
]


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: type(field).__name__)
def test_whatever_the_field_shapes_are_kept_and_bad_positions_refused(field):
    assert field.at((1, 2, 3)).shape == (3,)
    assert field.at(np.ones((0, 3))).shape == (0, 3)
    assert field.at(np.ones((2, 4, 5, 3))).shape == (2, 4, 5, 3)
    with pytest.raises(SpecError, match=r"p_W has shape \(4, 2\); its last axis must hold x, y, z"):
        field.at(np.ones((4, 2)))
    with pytest.raises(SpecError, match=r"p_W has shape \(\)"):
        field.at(1.0)
    with pytest.raises(SpecError, match=r"p_W is \[1.0, nan, 3.0\]; it must be finite"):
        field.at([[1, 2, 3], [1, np.nan, 3]])
    with pytest.raises(SpecError, match="it must be an array of numbers"):
        field.at("here")


def test_a_sum_that_overflows_is_no_reason_to_refuse():
    huge = np.full((2, 3), 1.7e308)
    with np.errstate(over="ignore"):
        assert checked_positions(huge) is huge


def test_a_position_is_never_written_to():
    p_W = np.array([[1.0, 2.0, 3.0]])
    kept = p_W.copy()
    d_W, squares = offsets(p_W, (1.0, 0.0, 0.0), "here")
    d_W += 1.0
    np.testing.assert_array_equal(p_W, kept)
    assert squares == pytest.approx(13.0)


def test_vectors_may_be_arrays():
    dipole = MagneticDipole(moment=np.array([0, 0, 2]), position=[1, 2, 3])
    assert dipole.moment == (0.0, 0.0, 2.0)
    assert dipole.position == (1.0, 2.0, 3.0)
    with pytest.raises(SpecError, match="moment"):
        MagneticDipole(moment=np.ones((2, 3)))


@pytest.mark.parametrize("field", FIELDS, ids=lambda field: type(field).__name__)
def test_a_point_has_the_same_bytes_alone_and_in_any_batch(field):
    # Some within the 2 km in which the Earth's field is linear, some outside
    p_W = np.random.default_rng(4).normal(size=(600, 3)) * 1500.0
    together = field.at(p_W)
    np.testing.assert_array_equal(np.stack([field.at(p) for p in p_W]), together)
    np.testing.assert_array_equal(field.at(p_W.reshape(20, 30, 3)), together.reshape(20, 30, 3))
    np.testing.assert_array_equal(field.at(np.asfortranarray(p_W)), together)
    np.testing.assert_array_equal(field.at(p_W[::7]), together[::7])


def test_products_are_those_of_matrices():
    rng = np.random.default_rng(5)
    p, q, rows = rng.normal(size=(4, 5, 3)), rng.normal(size=(4, 5, 3)), rng.normal(size=(3, 6))
    np.testing.assert_allclose(dot(p, q), np.einsum("abi,abi->ab", p, q), rtol=1e-13, atol=1e-15)
    np.testing.assert_allclose(combined(p, rows), p @ rows, rtol=1e-13, atol=1e-15)
