"""Radiance to electrons, and what of it reaches the edge."""

import numpy as np
import pytest

from sensorium.physics import optics
from sensorium.physics.imaging import electrons_per_radiance, relative_illumination

CHIP = {"columns": 8, "rows": 6, "pitch_m": (1e-3, 1e-3), "factor": 4, "focal_length_m": 0.01, "falloff_per_m": 20.0}


def test_a_lens_of_f_number_n_passes_a_share_of_the_radiance():
    """E = pi L / (4 N^2) for an object far away: pupil radius f / 2N at the distance f."""
    N, f, L = 2.0, 0.01, 5.0
    found = electrons_per_radiance(
        pupil_radius_m=f / (2 * N), pupil_distance_m=f, area_m2=1e-11, exposure_s=0.01, wavelength_m=550e-9
    )
    E = np.pi * L / (4 * N**2)
    assert found * L == pytest.approx(optics.photons(E, area_m2=1e-11, exposure_s=0.01, wavelength_m=550e-9), rel=1e-12)


def test_illumination_is_the_vignetting_at_pixel_centers():
    found = relative_illumination(**CHIP, field_stop_m=None)
    assert found.shape == (6, 8)
    r = np.hypot(0.5e-3, 0.5e-3)
    assert found[2, 3] == pytest.approx(optics.vignetting(r, focal_length_m=0.01, falloff_per_m=20.0), rel=1e-6)
    np.testing.assert_allclose(found, found[::-1, ::-1], rtol=1e-6)


def test_a_fisheye_has_no_cosine_to_the_fourth():
    found = relative_illumination(**CHIP | {"falloff_per_m": 0.0}, field_stop_m=None, cosine=False)
    np.testing.assert_allclose(found, 1.0)


def test_cells_outside_the_field_stop_are_dropped():
    whole = relative_illumination(**CHIP | {"factor": 64}, field_stop_m=None)
    stopped = relative_illumination(**CHIP | {"factor": 64}, field_stop_m=2.5e-3)
    inside = stopped / whole
    assert inside[3, 4] == 1.0
    assert inside[0, 0] == 0.0
    assert inside.sum() * 1e-6 == pytest.approx(np.pi * 2.5e-3**2, rel=2e-3)
