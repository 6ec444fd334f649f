import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def test_a_lidars_own_pulse_comes_from_where_it_was():
    rng = np.random.default_rng(4)
    range_m, index, at_s = rng.uniform(0, 300, 50), rng.uniform(1.0, 1.5, 50), rng.uniform(0, 0.1, 50)
    told_m = optics.apparent_range(at_s, other_fired_s=at_s, optical_path_m=2.0 * index * range_m, index=index)
    np.testing.assert_allclose(told_m, range_m, atol=1e-6)


def test_a_pulse_fired_later_is_told_farther():
    told_m = optics.apparent_range(0.0, other_fired_s=[-1e-7, 0.0, 1e-7], optical_path_m=30.0)
    np.testing.assert_allclose(told_m, 15.0 + 0.5 * 29.9792458 * np.array([-1.0, 0.0, 1.0]), rtol=1e-12)


def test_the_share_of_a_beam_is_that_of_the_exact_integral_far_out():
    rng = np.random.default_rng(5)
    for _ in range(20):
        distance_m, radius_m, half_rad = rng.uniform(50, 300), rng.uniform(1e-3, 1e-2), rng.uniform(1e-3, 5e-3)
        beam = {"exit_radius_m": 0.01, "half_divergence_rad": half_rad}
        w = optics.beam_radius(distance_m, **beam)
        offset_m = rng.uniform(0.0, 1.0) * float(w)
        exact = optics.captured_fraction(distance_m, detector_radius_m=radius_m, detector_offset_m=offset_m, **beam)
        share = optics.direct_share(np.pi * radius_m**2, beam_radius_m=w, offset_m=offset_m)
        assert float(share) == pytest.approx(float(exact), rel=0.02)


def test_bad_input():
    with pytest.raises(SpecError, match="optical_path_m is -1; it must be finite and at least 0"):
        optics.apparent_range(0.0, other_fired_s=0.0, optical_path_m=-1.0)
    with pytest.raises(SpecError, match="beam_radius_m is 0; it must be finite and above 0"):
        optics.direct_share(1e-4, beam_radius_m=0.0)
