"""Where a polynomial radius stops growing."""

import numpy as np
import pytest

from sensorium.physics.optics.lenses.turning import first_turn


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
