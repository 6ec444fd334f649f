"""Pixel noise by EMVA 1288: laws of each part, the photon transfer curve, and what stays from frame to frame."""

import numpy as np
import pytest

from sensorium.physics import optics
from sensorium.physics.imaging import PixelNoise, digitized, fixed_pattern, noisy_electrons
from sensorium.random import Stream

PIXELS = 40_000


def frame(mean_e, noise, *, tick=0, full_well_e=1e9, exposure_s=0.01, seed=1):
    stream = Stream(seed, "camera")
    electrons = np.full(PIXELS, mean_e, np.float32)
    pattern = fixed_pattern(noise, stream, values=PIXELS)
    noisy_electrons(
        electrons, noise, pattern, exposure_s=exposure_s, full_well_e=full_well_e, key=stream.key, tick=tick
    )
    return electrons


@pytest.mark.parametrize("mean", [0.3, 4.0, 15.9, 16.1, 60.0, 1000.0, 9000.0])
def test_shot_noise_has_poissons_moments(mean):
    x = np.concatenate([frame(mean, PixelNoise(), tick=t) for t in range(4)]).astype(float)
    n = len(x)
    assert x.mean() == pytest.approx(mean, abs=4 * np.sqrt(mean / n))
    assert x.var() == pytest.approx(mean, abs=4 * np.sqrt((2 * mean**2 + mean) / n))
    assert ((x - mean) ** 3).mean() == pytest.approx(mean, abs=6 * np.sqrt((15 * mean**3 + 50 * mean) / n))
    assert (x == np.rint(x)).all()


def test_noise_and_snr_of_the_reference_pixel():
    """eta mu_p = 600 e-, sigma_d = 5 e-, K = 0.1: sigma_y = 2.51661, SNR = 23.8416 (physics.md 12)."""
    noise = PixelNoise(read_noise_e=5.0)
    e = np.concatenate([frame(600.0, noise, tick=t) for t in range(8)])
    _, codes = digitized(e[:, None], gain=(1.0,), full_well_e=10_000, bits=12, adc_bits=12, gain_dn_e=0.1)
    y = codes.astype(float)
    assert y.std() == pytest.approx(2.51661, rel=0.006)
    assert y.mean() / y.std() == pytest.approx(23.8416, rel=0.006)
    assert optics.gray_value_noise(600.0, dark_noise_e=5.0, gain_dn_e=0.1) == pytest.approx(2.51661, abs=5e-6)


def test_the_photon_transfer_curve_gives_back_gain_and_read_noise_within_two_percent():
    """From pairs of simulated flats: variance over mean is a line of slope K, and K^2 sigma_d^2 in the dark."""
    K, read_e, black = 0.4, 5.56, 60.0
    noise = PixelNoise(read_noise_e=read_e, prnu=0.007, dsnu_e=3.7)

    def code(mean_e, tick):
        e = frame(mean_e, noise, tick=tick, full_well_e=9458.0)
        _, codes = digitized(
            e[:, None], gain=(1.0,), full_well_e=9458.0, bits=12, adc_bits=12, gain_dn_e=K, black_dn=black
        )
        return codes.astype(float)

    means, variances = [], []
    for level, mean_e in enumerate(np.linspace(0.0, 6000.0, 13)):
        pairs = [(code(mean_e, 20 * level + 2 * k), code(mean_e, 20 * level + 2 * k + 1)) for k in range(4)]
        means.append(np.mean([a.mean() + b.mean() for a, b in pairs]) / 2)
        variances.append(np.mean([np.var(a - b) for a, b in pairs]) / 2)
    mean, variance = np.array(means) - means[0], np.array(variances)
    slope = (mean * (variance - variance[0])).sum() / (mean**2).sum()
    assert slope == pytest.approx(K, rel=0.02)
    assert np.sqrt(variance[0] - 1.0 / 12.0) / slope == pytest.approx(read_e, rel=0.02)


def test_prnu_and_dsnu_stay_from_frame_to_frame():
    noise = PixelNoise(prnu=0.02, dsnu_e=10.0, shot=False)
    first, second = frame(5000.0, noise, tick=1), frame(5000.0, noise, tick=2)
    np.testing.assert_array_equal(first, second)
    assert first.std() == pytest.approx(np.hypot(0.02 * 5000.0, 10.0), rel=0.02)
    assert frame(0.0, noise).std() == pytest.approx(10.0, rel=0.02)
    assert (frame(5000.0, noise, seed=2) != first).mean() > 0.99


def test_dark_current_flows_with_time_and_the_well_is_full_at_its_brim():
    noise = PixelNoise(dark_current_e_s=400.0)
    assert frame(0.0, noise, exposure_s=0.5).mean() == pytest.approx(200.0, rel=0.005)
    assert frame(20_000.0, noise, full_well_e=9000.0).max() == 9000.0


def test_threads_and_frames_do_not_share_draws():
    import sensorium as sn

    one = frame(100.0, PixelNoise(read_noise_e=1.0), tick=5)
    sn.set_threads(1)
    try:
        np.testing.assert_array_equal(one, frame(100.0, PixelNoise(read_noise_e=1.0), tick=5))
    finally:
        sn.set_threads(2)
    other = frame(100.0, PixelNoise(read_noise_e=1.0), tick=6)
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.03
