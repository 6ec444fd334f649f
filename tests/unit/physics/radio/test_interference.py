"""Another radar's chirps in the beat: when they are in the band, with which frequency and how strong."""

import numpy as np
import pytest

from sensorium.physics import radio

OWN = radio.Chirp(bandwidth_hz=300e6, ramp_s=40e-6, samples=256, chirps=16)
RATE_HZ = 256 / 40e-6


def test_one_way_power_by_hand():
    """10 mW, 20 and 25 dBi at 50 m and 77 GHz."""
    wave = OWN.wavelength_m
    found = radio.one_way_power(50.0, power_W=0.01, gains=10**4.5, wavelength_m=wave, loss=2.0)
    assert found == pytest.approx(0.01 * 10**4.5 * (wave / (4 * np.pi * 50.0)) ** 2 / 2.0)


@pytest.mark.parametrize("is_falling", [False, True])
def test_a_burst_lasts_as_long_as_the_band_is_crossed(is_falling):
    """f_s over the difference of the slopes, for each crossing; its frequency runs by that difference."""
    other = radio.Chirp(bandwidth_hz=600e6, ramp_s=40e-6)
    slope = OWN.slope_Hz_s - (-1 if is_falling else 1) * other.slope_Hz_s
    beat = radio.interfering_beat(OWN, other, start_s=0.0, is_falling=is_falling)
    assert beat.shape == (16, 256)
    burst = np.flatnonzero(np.abs(beat[0]))
    lasts_s = len(burst) / RATE_HZ
    assert lasts_s == pytest.approx(min(RATE_HZ / abs(slope), 0.5 * 40e-6), rel=0.6, abs=2 / RATE_HZ)
    np.testing.assert_allclose(np.abs(beat[0, burst]), 1.0)
    step = beat[0, burst[1:]] * np.conj(beat[0, burst[:-1]])
    np.testing.assert_allclose(step[1:] * np.conj(step[:-1]), np.exp(2j * np.pi * slope / RATE_HZ**2), atol=1e-6)


def test_the_same_chirps_a_little_later_are_an_echo_that_is_not_there():
    """0.2 us late is 30 m one way: a tone at S x 0.2 us in every chirp with the same phase."""
    beat = radio.interfering_beat(OWN, OWN, start_s=0.2e-6, is_falling=False)
    spectrum = np.abs(np.fft.fft2(beat * radio.window_samples("hann", count=256)))
    speed, distance = np.unravel_index(spectrum.argmax(), spectrum.shape)
    assert speed == 0
    assert distance == round(OWN.slope_Hz_s * 0.2e-6 * 40e-6)


def test_what_is_never_in_the_band_is_not_heard():
    far = radio.Chirp(carrier_hz=79e9, bandwidth_hz=300e6, ramp_s=40e-6)
    assert not radio.interfering_beat(OWN, far, start_s=0.0, is_falling=False).any()


def test_in_pauses_nothing_is_sent():
    """Half of the interval is a pause: chirps that fall into it have no burst."""
    other = radio.Chirp(bandwidth_hz=300e6, ramp_s=40e-6, interval_s=80e-6)
    beat = radio.interfering_beat(OWN, other, start_s=0.1e-6, is_falling=False)
    heard = np.abs(beat).sum(axis=1) > 200.0
    np.testing.assert_array_equal(heard, np.arange(16) % 2 == 0)
