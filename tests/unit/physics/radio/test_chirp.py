"""FMCW chirps: the reference values of physics.md 12, and what follows from the beat alone."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import radio

AT_77_GHZ = radio.Chirp(bandwidth_hz=1e9, ramp_s=50e-6, samples=512, chirps=128)


def test_reference_values(printed):
    assert AT_77_GHZ.range_resolution_m == printed("0.149896")
    assert AT_77_GHZ.wavelength_m * 1e3 == printed("3.89341")
    assert AT_77_GHZ.unambiguous_speed_m_s == printed("19.4670")
    assert AT_77_GHZ.speed_resolution_m_s == printed("0.304173")


def test_the_farthest_range_beats_at_the_sampling_rate():
    rate_hz = AT_77_GHZ.samples / AT_77_GHZ.ramp_s
    assert AT_77_GHZ.beat_hz(AT_77_GHZ.unambiguous_range_m) == pytest.approx(rate_hz, rel=1e-12)


def test_a_receding_surface_seems_farther_by_its_doppler():
    speed = np.array([-30.0, 0.0, 30.0])
    shift_m = AT_77_GHZ.coupling_m(speed)
    np.testing.assert_allclose(AT_77_GHZ.beat_hz(50.0, speed), AT_77_GHZ.beat_hz(50.0 + shift_m), rtol=1e-12)
    assert shift_m[2] > 0.0


def test_half_a_turn_between_chirps_is_the_largest_speed():
    assert AT_77_GHZ.speed_of_phase(np.pi) == pytest.approx(AT_77_GHZ.unambiguous_speed_m_s, rel=1e-12)
    paused = AT_77_GHZ.model_copy(update={"interval_s": 100e-6})
    assert paused.unambiguous_speed_m_s == pytest.approx(0.5 * AT_77_GHZ.unambiguous_speed_m_s)
    assert paused.range_resolution_m == AT_77_GHZ.range_resolution_m


def test_folding_loses_whole_periods():
    values = np.array([-21.0, -5.0, 0.0, 7.5, 30.0])
    found = radio.folded(values, 20.0, low=-10.0)
    np.testing.assert_allclose(found, [-1.0, -5.0, 0.0, 7.5, -10.0])
    np.testing.assert_allclose((values - found) / 20.0, np.rint((values - found) / 20.0), atol=1e-12)


@pytest.mark.parametrize(
    ("field", "value"), [("bandwidth_hz", 0.0), ("samples", 4), ("chirps", 0), ("ramp_s", -1.0), ("carrier_hz", np.nan)]
)
def test_what_no_chirp_can_be_is_refused(field, value):
    with pytest.raises(SpecError, match=f"Chirp.{field} is"):
        radio.Chirp(**{field: value})
