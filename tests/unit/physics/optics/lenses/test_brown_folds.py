"""Folds of Brown's lens: the curve where the determinant of its Jacobian vanishes."""

import numpy as np
import pytest

from sensorium.physics import optics
from sensorium.physics.optics.lenses.brown_folds import first_turn, fold_curve, turning_radius, unfolded_radius


def determinant(points, k, step=1e-6):
    along = [
        (optics.brown_distorted(points + d, k) - optics.brown_distorted(points - d, k)) / (2 * step)
        for d in step * np.eye(2)
    ]
    return along[0][:, 0] * along[1][:, 1] - along[0][:, 1] * along[1][:, 0]


def test_the_determinant_vanishes_on_the_curve_and_nowhere_else_near_the_axis():
    rng = np.random.default_rng(7)
    for _ in range(30):
        k = tuple(rng.normal(size=5) * np.array([0.5, 0.5, 0.2, 0.2, 0.5]))
        _, curve = fold_curve(k, np.linspace(0.0, np.pi, 91))
        radius = np.hypot(*curve.T)
        own = curve[radius < 3.0]
        scale = np.abs(determinant(1.01 * own, k)) + np.abs(determinant(0.99 * own, k))
        assert (np.abs(determinant(own, k)) < 1e-3 * scale + 1e-5).all()

        # Within the least radius it is positive, in directions between too
        inner = min(unfolded_radius(k), 5.0)
        turn = np.linspace(0.0, 2 * np.pi, 700)
        for r in np.linspace(0.0, 0.999 * inner, 40):
            assert (determinant(r * np.stack([np.cos(turn), np.sin(turn)], -1), k) > 0.0).all()


def test_a_radial_lens_turns_back_at_its_radius():
    assert turning_radius((-0.3, 0.0, 0.0, 0.0, 0.0)) == pytest.approx(1.0 / np.sqrt(0.9))
    assert unfolded_radius((-0.3, 0.0, 0.0, 0.0, 0.0)) == pytest.approx(1.0 / np.sqrt(0.9))
    assert unfolded_radius((0.3, 0.0, 0.0, 0.0, 0.1)) == np.inf


def test_little_tangential_terms_change_the_curve_little():
    """The curve lies in a ring as narrow as the terms are small, and is found in every direction."""
    _, curve = fold_curve((-0.3, 0.0, 1e-7, 2e-7, 0.0), np.linspace(0.0, np.pi, 19))
    radius = np.hypot(*curve.T)
    first = radius[radius < 1.2]
    assert len(first) == 2 * 19
    np.testing.assert_allclose(first, 1.0 / np.sqrt(0.9), atol=1e-5)


def test_the_unit_only_helps_the_roots():
    k, angle = (-2000.0, 1e5, 0.3, -0.2, 0.0), np.linspace(0.0, np.pi, 7)
    plain, scaled = (np.sort(np.hypot(*fold_curve(k, angle, unit=unit)[1].T)) for unit in (1.0, 0.02))
    np.testing.assert_allclose(plain, scaled, rtol=1e-6)


def test_random_slopes_turn_where_they_are_first_negative():
    rng = np.random.default_rng(2)
    q = np.linspace(0.0, 8.0, 200_001)
    turned = 0
    for _ in range(300):
        slope = 0.5 * rng.normal(size=rng.integers(1, 5))
        value = 1.0 + sum(s * q ** (n + 1) for n, s in enumerate(slope))
        negative = np.flatnonzero(value < 0.0)
        found = first_turn(slope)
        if len(negative):
            turned += 1
            assert found == pytest.approx(q[negative[0]], abs=1e-4)
        else:
            assert found > q[-1]
    assert turned > 50


@pytest.mark.parametrize("q0", [0.1, 1.0, 7.0])
def test_a_root_that_is_only_touched_is_none(q0):
    assert first_turn((-2.0 / q0, 1.0 / q0**2)) == np.inf
    assert first_turn((-2.0 / q0 * 1.0001, 1.0 / q0**2)) == pytest.approx(q0, rel=0.02)


def test_a_slope_without_terms_never_turns():
    assert first_turn((0.0, 0.0, 0.0)) == np.inf
