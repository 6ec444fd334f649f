"""Darkening towards the edges."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def test_the_reference_values():
    assert optics.vignetting(0.0, focal_length_m=0.006, falloff_per_m=50.0) == 1.0
    assert optics.vignetting(0.006, focal_length_m=0.006) == 0.25


def test_it_falls_outwards_and_ends_in_darkness():
    r = np.linspace(0.0, 0.03, 50)
    v = optics.vignetting(r, focal_length_m=0.006, falloff_per_m=50.0)
    assert (np.diff(v[r < 0.02]) < 0.0).all()
    assert (v[r > 0.02] == 0.0).all()


def test_without_falloff_it_is_the_fourth_power_of_the_cosine():
    angle = np.radians(35.0)
    assert optics.vignetting(np.tan(angle), focal_length_m=1.0) == pytest.approx(np.cos(angle) ** 4, rel=1e-14)


def test_a_negative_radius_is_refused():
    with pytest.raises(SpecError, match="radius_m is -1; it must be finite and at least 0"):
        optics.vignetting(-1.0, focal_length_m=0.006)
