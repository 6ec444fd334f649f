"""Noise of raw radar samples: level and law of Gaussian and other noise, beside targets; and of a real radar."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.radar_cube import measure_radar_cube
from sensorium.recordings.readers.radar_cube import RadarCube, read_radar_cube
from tests.unit.recordings.real import real


def frame(noise, targets=3, rng=None):
    chirps, _, samples = noise.shape
    total = noise + (3.0 - 2.0j)
    for _ in range(targets):
        tone = np.exp(2j * np.pi * rng.random() * np.arange(samples))
        total = total + 400.0 * tone * np.exp(2j * np.pi * rng.uniform(-0.1, 0.1) * np.arange(chirps))[:, None, None]
    return RadarCube(Path("frame.npy"), total)


def gaussian(rng, shape):
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)) / np.sqrt(2.0)


def test_level_and_law_of_gaussian_noise_are_covered():
    rng = np.random.default_rng(3)
    level = law = 0
    for _ in range(40):
        sigma = rng.uniform(1.0, 30.0)
        found = measure_radar_cube(frame(sigma * gaussian(rng, (96, 2, 128)), rng=rng))
        level += found.figure("adc_noise").low <= sigma <= found.figure("adc_noise").high
        law += found.figure("noise_law").low <= 1.0 <= found.figure("noise_law").high
        assert found.figure("adc_noise").value == pytest.approx(sigma, rel=0.08)
    assert min(level, law) >= 34, f"{level} and {law} of 40"


def test_offset_of_the_converters_comes_back():
    rng = np.random.default_rng(4)
    found = measure_radar_cube(frame(gaussian(rng, (96, 2, 128)), targets=0, rng=rng))
    assert found.figure("dc_offset", "in phase").value == pytest.approx(3.0, abs=0.1)
    assert found.figure("dc_offset", "in quadrature").value == pytest.approx(-2.0, abs=0.1)


def test_interference_in_few_cells_shows_in_the_law():
    rng = np.random.default_rng(4)
    chirps = np.exp(2j * np.pi * 0.4 * np.arange(96))[:, None, None]  # one fast Doppler, over all ranges
    pulse = np.zeros(128)
    pulse[64] = 300.0
    found = measure_radar_cube(frame(gaussian(rng, (96, 2, 128)) + chirps * pulse, targets=0, rng=rng))
    assert found.figure("noise_law").low > 1.5


def test_frames_without_noise_or_with_few_chirps_are_refused():
    with pytest.raises(SpecError, match="without noise"):
        measure_radar_cube(RadarCube(Path("a.npy"), np.zeros((96, 1, 32), complex)))
    with pytest.raises(SpecError, match="has 16 chirps"):
        measure_radar_cube(RadarCube(Path("a.npy"), gaussian(np.random.default_rng(1), (16, 1, 32))))


def test_noise_of_the_ti_radar_is_complex_gaussian():
    for name, level in (("simple_frame_1", 6.4), ("doppler_example", 13.3)):
        found = measure_radar_cube(read_radar_cube(real(f"radar_ti_openradar/{name}.npy")))
        assert found.figure("adc_noise").value == pytest.approx(level, abs=0.2)
        law = found.figure("noise_law")
        assert law.low < 1.0 < law.high
