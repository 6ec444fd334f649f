"""Pulse widths: recovered from pulses of known shape, and of a real scanner."""

from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.waveform import measure_waveform
from sensorium.recordings.readers.las_waveforms import WaveformRecording, Waveforms, read_las_waveforms
from tests.unit.recordings.real import real


def recording(rng, *, fwhm_s, spacing_s, noise, pulses=600, bins=None):
    """Gaussian pulses of random time and height, by NumPy, rounded to whole numbers."""
    bins = bins or int(8 * fwhm_s / spacing_s) + 20
    sigma = fwhm_s / np.sqrt(8.0 * np.log(2.0))
    start = rng.uniform(0.45, 0.55, (pulses, 1)) * bins * spacing_s
    height = rng.uniform(100.0, 900.0, (pulses, 1))
    t = np.arange(bins) * spacing_s
    pulse = height * np.exp(-0.5 * ((t - start) / sigma) ** 2)
    samples = np.rint(20.0 + pulse + noise * rng.normal(size=pulse.shape))
    group = Waveforms(spacing_s, 16, samples, np.ones(pulses, np.int64), start[:, 0], 65535.0)
    return WaveformRecording(Path("pulses.las"), "test", (group,), pulses)


def test_widths_of_random_gaussian_pulses_come_back():
    rng = np.random.default_rng(5)
    for _ in range(12):
        fwhm, spacing = rng.uniform(3e-9, 12e-9), rng.uniform(0.4e-9, 1.0e-9)
        found = measure_waveform(recording(rng, fwhm_s=fwhm, spacing_s=spacing, noise=rng.uniform(0.5, 2.0)))
        assert found.figure("pulse.fwhm").value == pytest.approx(fwhm, rel=0.012)
        assert found.figure("pulse.fwhm.median").value == pytest.approx(fwhm, rel=0.012)
        # From 10 to 90 % of a Gaussian: sigma (sqrt(2 ln 10) - sqrt(2 ln (10/9)))
        edge = fwhm / np.sqrt(8 * np.log(2)) * (np.sqrt(2 * np.log(10)) - np.sqrt(2 * np.log(10 / 9)))
        assert found.figure("pulse.rise_time").value == pytest.approx(edge, rel=0.03)
        assert found.figure("pulse.fall_time").value == pytest.approx(edge, rel=0.03)


def test_noise_is_that_of_the_samples():
    found = measure_waveform(recording(np.random.default_rng(1), fwhm_s=5e-9, spacing_s=1e-9, noise=1.5))
    assert found.figure("sample_noise").value == pytest.approx(np.hypot(1.5, np.sqrt(1 / 12)), rel=0.03)


def test_pulses_of_several_returns_and_clipped_ones_are_left_out():
    rng = np.random.default_rng(2)
    whole = recording(rng, fwhm_s=5e-9, spacing_s=1e-9, noise=1.0)
    (group,) = whole.groups
    returns = np.where(np.arange(600) < 400, 1, 2)
    clipped = np.minimum(group.samples, np.where(np.arange(600) < 200, 60.0, np.inf)[:, None])
    mixed = whole._replace(groups=(group._replace(returns=returns, samples=clipped),))
    found = measure_waveform(mixed)
    assert found.figure("pulse.fwhm").samples <= 200
    assert found.figure("pulse.fwhm").value == pytest.approx(5e-9, rel=0.012)


def test_too_few_pulses_are_refused():
    few = recording(np.random.default_rng(2), fwhm_s=5e-9, spacing_s=1e-9, noise=1.0, pulses=10)
    with pytest.raises(SpecError, match="has 10 pulses to measure; 30 single returns must"):
        measure_waveform(few)


def test_the_riegl_pulse():
    path = real("waveform_riegl/100429_152240_2535pt_UTM.las")
    found = measure_waveform(read_las_waveforms(path))
    assert found.figure("pulse.fwhm").value == pytest.approx(4.52e-9, abs=0.03e-9)
    assert found.figure("sample_spacing").value == pytest.approx(1e-9)
