"""Any gravity field from plain data."""

import math

import numpy as np
import pytest
from pydantic import TypeAdapter

from sensorium.core.errors import SpecError
from sensorium.physics.fields import Gravity, J2Gravity, PointMassGravity, UniformGravity

ANY = TypeAdapter(Gravity)


@pytest.mark.parametrize(
    ("data", "field"),
    [
        ({"kind": "uniform", "gravity_W": [0, 0, -1.62]}, UniformGravity((0, 0, -1.62))),
        ({"kind": "uniform"}, UniformGravity()),
        ({"kind": "point_mass", "center": [0, 0, -6.4e6]}, PointMassGravity(center=(0, 0, -6.4e6))),
        (
            {"kind": "j2", "mu": 4.282837e13, "radius_m": 3396190.0, "j2": 1.96045e-3},
            J2Gravity(mu=4.282837e13, radius_m=3396190.0, j2=1.96045e-3),
        ),
    ],
)
def test_a_kind_and_its_fields_make_the_field_and_back(data, field):
    assert ANY.validate_python(data) == field
    assert ANY.validate_json(field.model_dump_json()) == field


@pytest.mark.parametrize("data", [{"kind": "dark"}, {}, {"kind": "uniform", "mu": 1.0}])
def test_what_is_no_gravity_field_is_refused(data):
    with pytest.raises(ValueError, match=r"kind|mu"):
        ANY.validate_python(data)


def test_standard_gravity_points_down():
    np.testing.assert_array_equal(UniformGravity().at((7, 8, 9)), [0, 0, -9.80665])


def test_it_is_the_same_everywhere_and_each_answer_is_one_s_own():
    field = UniformGravity((1, 2, -3))
    g_W = field.at(np.random.default_rng(0).normal(size=(4, 5, 3)))
    np.testing.assert_array_equal(g_W, np.broadcast_to([1, 2, -3], (4, 5, 3)))
    g_W[...] = 0.0
    np.testing.assert_array_equal(field.at((0, 0, 0)), [1, 2, -3])


def test_values_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match="gravity_W"):
        UniformGravity((0, 0, np.nan))
    with pytest.raises(SpecError, match="gravity_W"):
        UniformGravity((0, -9.81))
    with pytest.raises(SpecError, match=r"UniformGravity.direction"):
        UniformGravity(direction="down")


def test_it_does_not_change_once_made():
    field = UniformGravity()
    with pytest.raises(SpecError, match=r"frozen|does not change"):
        field.gravity_W = (0, 0, 0)
    assert field == UniformGravity((0, 0, -9.80665))


MU = 3.986004418e14


def test_the_earth_at_its_equator():
    # mu / a^2 with the figures of WGS 84
    np.testing.assert_allclose(PointMassGravity().at((6378137.0, 0, 0)), [-9.7982855, 0, 0], atol=1e-7)


def test_it_pulls_towards_the_center_with_the_inverse_square():
    center = np.array([1e6, -2e6, 3e6])
    field = PointMassGravity(mu=2.5e13, center=tuple(center))
    directions = np.random.default_rng(1).normal(size=(50, 3))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    for r in (100.0, 3e3, 5e8):
        np.testing.assert_allclose(field.at(center + r * directions), -2.5e13 / r**2 * directions, rtol=1e-8)


def test_gauss_law(flux):
    field = PointMassGravity(mu=7.0, center=(0.3, -0.2, 0.1))
    assert flux(field.at, (0, 0, 0), 1.0) == pytest.approx(-4 * math.pi * 7.0, rel=1e-12)
    assert flux(field.at, (2, 0, 0), 1.0) == pytest.approx(0.0, abs=1e-9)


def test_in_empty_space_it_has_neither_sources_nor_curl(jacobian):
    p = np.random.default_rng(2).normal(size=(30, 3)) * 4e6 + [7e6, 0, 0]
    slopes = jacobian(PointMassGravity().at, p, 1e3)
    scale = np.abs(slopes).max(axis=(1, 2))
    assert np.all(np.abs(np.trace(slopes, axis1=1, axis2=2)) < 1e-9 * scale)
    np.testing.assert_allclose(slopes, slopes.swapaxes(1, 2), atol=1e-9 * scale.max())


def test_inside_a_body_it_is_still_a_point():
    np.testing.assert_allclose(PointMassGravity().at((0, 0, 1.0)), [0, 0, -MU])


def test_at_the_point_itself_it_has_no_value():
    field = PointMassGravity(center=(1, 2, 3))
    with pytest.raises(SpecError, match=r"p_W is \[1.0, 2.0, 3.0\], which is PointMassGravity.center; .* at r = 0"):
        field.at([[0, 0, 0], [1, 2, 3]])


def test_values_of_a_point_mass_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match=r"PointMassGravity.mu is -1"):
        PointMassGravity(mu=-1.0)
    with pytest.raises(SpecError, match="center"):
        PointMassGravity(center=(0, 0, math.inf))


MU, RADIUS, J2 = 3.986004418e14, 6378137.0, 1.08262668e-3
POLE_M = 6356752.314245


def potential(p):
    r = np.linalg.norm(p, axis=-1)
    return MU / r * (1 - J2 * (RADIUS / r) ** 2 * (1.5 * (p[..., 2] / r) ** 2 - 0.5))


def around_the_earth(seed, count=40):
    p = np.random.default_rng(seed).normal(size=(count, 3))
    return p / np.linalg.norm(p, axis=1, keepdims=True) * np.linspace(6.4e6, 9e6, count)[:, None]


def test_it_is_the_gradient_of_the_potential():
    p, step = around_the_earth(1), 500.0
    slope = np.stack([(potential(p + d) - potential(p - d)) / (2 * step) for d in step * np.eye(3)], axis=-1)
    # Rounding of the potential, 6e7 x 1e-16 / 1 km, and the step's square leave some 1e-8
    np.testing.assert_allclose(J2Gravity().at(p), slope, atol=1e-7)


def test_in_empty_space_that_of_a_planet_has_neither_sources_nor_curl(jacobian):
    slopes = jacobian(J2Gravity().at, around_the_earth(2), 1e3)
    scale = np.abs(slopes).max()
    assert np.abs(np.trace(slopes, axis1=1, axis2=2)).max() < 1e-9 * scale
    np.testing.assert_allclose(slopes, slopes.swapaxes(1, 2), atol=1e-9 * scale)


def test_the_bulge_adds_no_mass(flux):
    field = J2Gravity(mu=7.0, radius_m=0.5, j2=0.1, center=(0.1, 0.1, -0.1))
    assert flux(field.at, (0, 0, 0), 1.0) == pytest.approx(-4 * math.pi * 7.0, rel=1e-9)


def test_the_factors_on_the_axes():
    # 1 + 3/2 J2 at the equator, 1 - 3 J2 over the pole at the same distance
    equator, pole = J2Gravity().at([[RADIUS, 0, 0], [0, 0, RADIUS]])
    np.testing.assert_allclose(equator, [-MU / RADIUS**2 * (1 + 1.5 * J2), 0, 0], rtol=1e-14)
    np.testing.assert_allclose(pole, [0, 0, -MU / RADIUS**2 * (1 - 3 * J2)], rtol=1e-14)


def test_it_is_the_earth_s_gravity_but_for_its_turn():
    # Normal gravity of WGS 84 (NIMA TR8350.2): 9.7803253359 at the equator, 9.8321849378 at the poles. The turn takes
    # omega^2 a off the former; the terms left out weigh some 1e-4 m/s^2 together.
    turn = 7.292115e-5**2 * RADIUS
    assert turn == pytest.approx(0.0339, abs=5e-5)
    assert -J2Gravity().at((0, RADIUS, 0))[1] - turn == pytest.approx(9.7803253359, abs=1e-4)
    assert -J2Gravity().at((0, 0, POLE_M))[2] == pytest.approx(9.8321849378, abs=2e-4)
    assert -J2Gravity().at((0, RADIUS, 0))[1] == pytest.approx(9.8142, abs=5e-5)
    assert -J2Gravity().at((0, 0, POLE_M))[2] == pytest.approx(9.8321, abs=5e-5)


def test_without_bulge_or_far_away_it_is_a_point():
    p = around_the_earth(3)
    np.testing.assert_allclose(J2Gravity(j2=0.0).at(p), PointMassGravity().at(p), rtol=1e-15)
    np.testing.assert_allclose(J2Gravity().at(1e4 * p), PointMassGravity().at(1e4 * p), rtol=1e-10)


def test_it_turns_an_orbit_s_plane_as_it_should():
    # Mean torque on a circular orbit: the node moves by -3/2 n J2 (R/r)^2 cos i
    r, inclination, count = 7.0e6, math.radians(60), 720
    u = np.arange(count) * (2 * math.pi / count)
    node, up = np.array([1.0, 0, 0]), np.array([0, math.cos(inclination), math.sin(inclination)])
    p = r * (np.cos(u)[:, None] * node + np.sin(u)[:, None] * up)
    torque = np.cross(p, J2Gravity().at(p)).mean(axis=0)
    n = math.sqrt(MU / r**3)
    rate = -1.5 * n * J2 * (RADIUS / r) ** 2 * math.cos(inclination)
    momentum = n * r**2 * np.cross(node, up)
    np.testing.assert_allclose(torque, np.cross([0, 0, rate], momentum), atol=1e-9 * n * r**2 * n)


def test_values_of_a_planet_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match=r"J2Gravity.radius_m is 0"):
        J2Gravity(radius_m=0)
    with pytest.raises(SpecError, match=r"which is J2Gravity.center; .* at r = 0"):
        J2Gravity().at((0, 0, 0))
