"""Time of flight: signal, noise by signal, wrap, against their closed forms."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.imaging.depth_errors import (
    Frames,
    TimeOfFlightError,
    ambiguity_range,
    phase_range,
    phase_std,
    returned_power,
    signal_electrons,
)
from sensorium.random import stream_key

PIXELS = 40_000


def measured(range_m, *, reflectance=1.0, cosine=1.0, tick=0, **figures):
    ranges = np.full((1, PIXELS), range_m, np.float32)
    power = np.full_like(ranges, returned_power(range_m, reflectance=reflectance, cos_incidence=cosine))
    error = TimeOfFlightError(**{"modulation_hz": 20e6, "signal_e": 1e5, **figures})
    phase_range(ranges, power, error, frames=Frames(np.array(stream_key(5, "tof"), np.uint32), tick))
    return ranges[0].astype(np.float64)


def test_the_ambiguity_range_is_half_a_wave():
    assert ambiguity_range(20e6) == pytest.approx(7.494811, abs=1e-6)
    assert ambiguity_range(100e6) == pytest.approx(1.498962, abs=1e-6)


def test_the_closed_form_of_the_noise():
    """10,000 electrons at 100 MHz without ambient light: c / (4 sqrt(2) pi f) / 100 = 1.68693 mm."""
    assert phase_std(1e4, modulation_hz=100e6) == pytest.approx(1.686925e-3, rel=1e-5)
    assert phase_std(1e4, ambient_e=3e4, modulation_hz=100e6) == pytest.approx(2 * 1.686925e-3, rel=1e-5)
    assert phase_std(4e4, modulation_hz=100e6) == pytest.approx(0.5 * 1.686925e-3, rel=1e-5)


def test_signal_falls_with_the_square_of_range_and_with_reflectance_and_incidence():
    assert signal_electrons(2.0, signal_e=800.0) == pytest.approx(200.0)
    assert signal_electrons(2.0, signal_e=800.0, reflectance=0.5, cos_incidence=0.5) == pytest.approx(50.0)


@pytest.mark.parametrize(
    ("r", "reflectance", "cosine", "ambient"), [(1.0, 1.0, 1.0, 0.0), (4.0, 0.2, 0.5, 0.0), (3.0, 0.5, 1.0, 5e4)]
)
def test_noise_follows_the_signal(r, reflectance, cosine, ambient):
    found = measured(r, reflectance=reflectance, cosine=cosine, ambient_e=ambient)
    signal = signal_electrons(r, signal_e=1e5, reflectance=reflectance, cos_incidence=cosine)
    law = float(phase_std(signal, ambient_e=ambient, modulation_hz=20e6))
    assert found.std() == pytest.approx(law, rel=4 / np.sqrt(2 * PIXELS))
    assert found.mean() == pytest.approx(r, abs=4 * law / np.sqrt(PIXELS) + 1e-6)


def test_without_ambient_light_noise_is_proportional_to_range():
    near, far = measured(1.0), measured(3.0, tick=1)
    assert far.std() / near.std() == pytest.approx(3.0, rel=0.03)


def test_phase_begins_anew_at_the_ambiguity_range():
    wrap = float(ambiguity_range(20e6))
    np.testing.assert_allclose(measured(wrap + 1.0, signal_e=1e12).mean(), 1.0, atol=1e-4)
    np.testing.assert_allclose(measured(2 * wrap + 0.5, signal_e=1e12).mean(), 0.5, atol=1e-4)
    np.testing.assert_allclose(measured(wrap + 1.0, signal_e=1e12, ambiguity_m=15.0).mean(), wrap + 1.0, atol=1e-4)


def test_too_little_signal_gives_no_range():
    assert (measured(2.0, min_signal_e=2.6e4) == 0.0).all()
    assert (measured(2.0, min_signal_e=2.4e4) > 0.0).all()
    assert (measured(2.0, reflectance=0.0) == 0.0).all()


def test_systematic_error():
    found = measured(2.0, signal_e=1e12, bias_m=0.011, bias_slope=0.001)
    assert found.mean() == pytest.approx(2.013, abs=1e-5)


@pytest.mark.parametrize(
    ("figures", "told"),
    [
        ({"modulation_hz": 0.0}, "modulation_hz is 0.0; it must be greater than 0"),
        ({"signal_e": -1.0}, "signal_e is -1.0"),
        ({"ambiguity_m": 0.0}, "ambiguity_m is 0.0"),
        ({"ambient_e": float("nan")}, "ambient_e is nan"),
    ],
)
def test_bad_figures_are_told(figures, told):
    with pytest.raises(SpecError, match=told):
        TimeOfFlightError(**{"modulation_hz": 1e8, "signal_e": 1e5, **figures})
    with pytest.raises(SpecError, match="signal is 0; it must be finite and above 0"):
        phase_std(0.0, modulation_hz=1e8)
