"""White balance: gray under a black body, and the world gray on average."""

import numpy as np
import pytest
from scipy.integrate import quad

from sensorium.physics.imaging import Band, GrayWorld, filters, next_balance, temperature_gains

RGB = filters.rgb()


@pytest.mark.parametrize("temperature_k", [2800.0, 5800.0, 9000.0])
def test_gains_make_a_gray_thing_gray_in_the_light_of_a_black_body(temperature_k):
    """Photons of Planck's law that count in each band, integrated by quad, are even after the gains."""
    h, c, k = 6.62607015e-34, 299792458.0, 1.380649e-23

    def photons(band):
        low, high = band.limits_m

        def counted(nm):
            w = nm * 1e-9
            planck = 2 * h * c**2 / w**5 / np.expm1(h * c / (w * k * temperature_k))
            return planck * w * float(band.sensitivity(np.array([w]))[0])

        return quad(counted, low * 1e9, high * 1e9, limit=200, epsrel=1e-7)[0]

    gains = temperature_gains(RGB, temperature_k)
    seen = np.array([photons(band) for band in RGB]) * gains
    np.testing.assert_allclose(seen, seen[0], rtol=2e-4)
    assert gains.min() == 1.0


def test_warm_light_needs_more_blue_and_cold_light_more_red():
    names = [band.name for band in RGB]
    warm, cold = (dict(zip(names, temperature_gains(RGB, T), strict=True)) for T in (2500.0, 12_000.0))
    assert warm["blue"] / warm["red"] > 3.0 * cold["blue"] / cold["red"]


def test_the_means_of_all_bands_come_together_by_the_speed():
    """Without limits the logarithm of each gain's error shrinks by 1 - speed an image."""
    rng = np.random.default_rng(1)
    tint = np.array([0.8, 0.5, 0.2])
    pixels = (rng.uniform(0.1, 0.9, (20, 30, 1)) * tint).astype(np.float32)
    band = np.broadcast_to(np.arange(3), pixels.shape)
    gray, gains = GrayWorld(speed=0.4, max_gain=100.0), np.ones(3)
    for frame in range(12):
        np.testing.assert_allclose(np.log(gains * tint / tint[0]), np.log(tint / tint[0]) * 0.6**frame, atol=1e-6)
        gains = next_balance(gray, pixels, band, gains)


def test_saturated_pixels_do_not_count():
    pixels = np.full((4, 4, 2), 0.2, np.float32)
    pixels[..., 1] = 0.1
    pixels[:2] = 1.0
    band = np.broadcast_to(np.arange(2), pixels.shape)
    np.testing.assert_allclose(next_balance(GrayWorld(speed=1.0), pixels, band, np.ones(2)), (1.0, 2.0))


def test_a_mosaic_counts_each_pixel_in_its_own_band():
    band = np.tile([[0, 1], [1, 2]], (3, 3))[..., None]
    pixels = np.array([0.4, 0.2, 0.1], np.float32)[band]
    np.testing.assert_allclose(next_balance(GrayWorld(speed=1.0), pixels, band, np.ones(3)), (1.0, 2.0, 4.0))


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_black_and_saturated_images_leave_gains_as_they_are(level):
    pixels = np.full((4, 4, 3), level, np.float32)
    band, gains = np.broadcast_to(np.arange(3), pixels.shape), np.array([1.0, 1.7, 2.5])
    np.testing.assert_array_equal(next_balance(GrayWorld(), pixels, band, gains), gains)


def test_gains_end_at_their_limit():
    pixels = np.zeros((4, 4, 2), np.float32)
    pixels[..., 0] = 0.5
    band = np.broadcast_to(np.arange(2), pixels.shape)
    np.testing.assert_allclose(next_balance(GrayWorld(speed=1.0, max_gain=3.0), pixels, band, np.ones(2)), (1.0, 3.0))


def test_bands_may_be_any():
    bands = (Band(name="a", filter=((8e-6, 1.0), (14e-6, 1.0))), Band(name="b", filter=((3e-6, 1.0), (5e-6, 1.0))))
    assert temperature_gains(bands, 300.0)[1] > 5.0
