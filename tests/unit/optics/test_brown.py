"""Brown's distortion and its inverse."""

import numpy as np
import pytest

from sensorium import optics
from sensorium.errors import SpecError

LENS = (-0.28, 0.07, 1e-3, -5e-4, -0.01)


def test_the_inverse_undoes_it_over_a_whole_image():
    x, y = np.meshgrid(np.linspace(-0.6, 0.6, 41), np.linspace(-0.45, 0.45, 31))
    ideal = np.stack([x, y], axis=-1)
    np.testing.assert_allclose(optics.brown_ideal(optics.brown_distorted(ideal, LENS), LENS), ideal, atol=1e-10)


def test_the_terms_are_those_of_plumb_bob():
    """A point worked by hand: x = 0.2, y = 0.1, q = 0.05."""
    found = optics.brown_distorted((0.2, 0.1), (0.1, 0.2, 0.01, 0.02, 0.3))
    radial = 1.0 + 0.1 * 0.05 + 0.2 * 0.05**2 + 0.3 * 0.05**3
    assert found[0] == pytest.approx(0.2 * radial + 2.0 * 0.01 * 0.02 + 0.02 * (0.05 + 2.0 * 0.04), rel=1e-14)
    assert found[1] == pytest.approx(0.1 * radial + 0.01 * (0.05 + 2.0 * 0.01) + 2.0 * 0.02 * 0.02, rel=1e-14)


def test_a_polynomial_that_turns_back_is_refused():
    with pytest.raises(SpecError, match=r"no ray comes to the image point \(2, 0\) with distortion .* grow outwards"):
        optics.brown_ideal((2.0, 0.0), (-0.5, 0.0, 0.0, 0.0, 0.0))


def test_five_coefficients_are_needed():
    with pytest.raises(SpecError, match=r"distortion is \(0.1,\); it must be five numbers"):
        optics.brown_distorted((0.0, 0.0), (0.1,))
