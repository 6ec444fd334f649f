"""Probability of detection, and the noise that stated ranges imply, against the law with random parameters."""

import numpy as np
import pytest
from scipy import stats

from sensorium.core.errors import SpecError
from sensorium.physics import optics


def test_a_signal_in_noise_exceeds_the_threshold_as_often_as_the_law_says():
    rng = np.random.default_rng(1)
    for _ in range(20):
        ratio, sigma, trials = rng.uniform(1.0, 6.0), rng.uniform(0.1, 10.0), 200_000
        intensity = sigma * (ratio + rng.uniform(-2.0, 2.0))
        found = (intensity + rng.normal(0.0, sigma, trials) >= ratio * sigma).mean()
        expected = float(optics.detection_probability(intensity, noise=sigma, ratio=ratio))
        assert found == pytest.approx(expected, abs=5 * np.sqrt(expected * (1 - expected) / trials))


def test_noise_is_that_of_the_stated_probability():
    rng = np.random.default_rng(2)
    intensity, ratio, p = rng.uniform(1e-8, 1e3, 500), rng.uniform(3.0, 8.0, 500), rng.uniform(0.01, 0.999, 500)
    noise = optics.noise_of_detection(intensity, probability=p, ratio=ratio)
    np.testing.assert_allclose(optics.detection_probability(intensity, noise=noise, ratio=ratio), p, rtol=1e-9)


def test_two_detections_in_one_noise_tell_the_threshold():
    rng = np.random.default_rng(3)
    for _ in range(200):
        ratio, sigma, p = rng.uniform(0.5, 9.0), rng.uniform(1e-6, 1.0), rng.uniform(0.05, 0.95, 2)
        intensity = tuple((sigma * (ratio + stats.norm.ppf(p))).tolist())
        if min(intensity) > 0.0 and abs(p[0] - p[1]) > 0.01:
            assert optics.ratio_of_detections(intensity, probability=tuple(p)) == pytest.approx(ratio, rel=1e-9)


def test_sunlight_on_the_target_is_part_of_the_noise():
    rng = np.random.default_rng(4)
    for _ in range(200):
        dark, sun, (one, two) = rng.uniform(0.1, 1.0), rng.uniform(0.0, 9.0), rng.uniform(0.02, 1.0, 2)
        noise = (np.sqrt(dark + sun * one), np.sqrt(dark + sun * two))
        np.testing.assert_allclose(
            optics.sunlit_noise(noise, reflectance=(one, two)), (dark, sun), atol=1e-9 / abs(one - two)
        )


@pytest.mark.parametrize("stated", [(35, 75), (45, 100), (90, 170), (80, 210), (200, 350)])
def test_ranges_of_ouster_at_10_and_80_percent_lie_between_darkness_and_sunlight(stated):
    """Noise over that on the dark target: 8 (r_10 / r_80)^2, between 1 and sqrt(8)."""
    dark, sun = optics.sunlit_noise((1.0, 8.0 * (stated[0] / stated[1]) ** 2), reflectance=(0.1, 0.8))
    assert dark > 0.0
    assert sun > 0.0


def test_counted_photons_and_electronics():
    rng = np.random.default_rng(5)
    for _ in range(10):
        signal, p, k = rng.uniform(200.0, 3000.0), rng.uniform(0.2, 0.95), rng.uniform(4.0, 6.0)
        sigma = optics.noise_electrons_of_detection(signal, probability=p, sigmas=k)
        counts = rng.poisson(signal, 200_000) + rng.normal(0.0, sigma, 200_000)
        assert (counts >= k * sigma).mean() == pytest.approx(p, abs=0.01)
    alone = optics.noise_electrons_of_detection(1000.0, probability=0.9, sigmas=5.0, counted=False)
    assert alone == pytest.approx(float(optics.noise_of_detection(1000.0, probability=0.9, ratio=5.0)), rel=1e-9)


def test_one_of_several_samples_is_enough():
    rng, samples = np.random.default_rng(6), np.array([300.0, 700.0, 900.0, 650.0, 200.0])
    sigma = optics.noise_electrons_of_detection(samples, probability=0.7, sigmas=5.0)
    counts = rng.poisson(samples, (200_000, 5)) + rng.normal(0.0, sigma, (200_000, 5))
    assert (counts >= 5.0 * sigma).any(axis=1).mean() == pytest.approx(0.7, abs=0.01)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: optics.noise_of_detection(1.0, probability=1.0, ratio=5.0), "probability is 1; it must be below 1"),
        (lambda: optics.noise_of_detection(1.0, probability=0.01, ratio=1.0), "noise alone exceeds the threshold as"),
        (lambda: optics.ratio_of_detections((1.0, 2.0), probability=(0.9, 0.5)), "the stronger return must be the one"),
        (lambda: optics.sunlit_noise((1.0, 4.0), reflectance=(0.1, 0.8)), r"is 4 times .* accounts for 1 to 2\.83"),
        (lambda: optics.sunlit_noise((1.0, 0.9), reflectance=(0.1, 0.8)), r"is 0\.9 times .* accounts for 1 to 2\.83"),
        (
            lambda: optics.noise_electrons_of_detection(1.0, probability=0.99, sigmas=5.0),
            "signal is 1 electrons; too few to be detected with 0.99 without any noise",
        ),
    ],
)
def test_what_cannot_be_is_refused(make, message):
    with pytest.raises(SpecError, match=message):
        make()
