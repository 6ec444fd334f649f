"""Sheet of a pulse: of Gaussian pulses the shape is the one whose means over samples were recorded."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.recordings.fit.waveform import fit_waveform, halves
from tests.unit.recordings.measure.test_waveform import recording


@pytest.mark.parametrize("spacing_ns", [0.5, 1.0, 2.0])
def test_means_of_the_shape_over_samples_are_the_recorded_pulse(spacing_ns, tmp_path):
    pulses = recording(np.random.default_rng(6), fwhm_s=6e-9, spacing_s=1e-9 * spacing_ns, noise=0.5, pulses=900)
    fitted = fit_waveform(pulses, hold_out=False)
    (tmp_path / "pulse.toml").write_text(fitted.text)
    lidar = sn.Lidar.from_device(tmp_path / "pulse.toml")
    assert lidar.mode == "waveform"
    assert lidar.waveform.resolution_s == pytest.approx(1e-9 * spacing_ns)
    assert lidar.beam.pulse_s == pytest.approx(6e-9, rel=0.01)
    time_ns, shape = 1e9 * np.array(lidar.waveform.pulse.time_s), np.array(lidar.waveform.pulse.value)
    for t in np.linspace(-5.0, 5.0, 41):
        within = t + spacing_ns * (np.arange(400) + 0.5) / 400 - 0.5 * spacing_ns
        mean = np.interp(within, time_ns, shape, left=0.0, right=0.0).mean()
        peak = np.interp(spacing_ns * (np.arange(400) / 400 - 0.5), time_ns, shape).mean()
        assert mean / peak == pytest.approx(np.exp(-4.0 * np.log(2.0) * (t / 6.0) ** 2), abs=0.015)


def test_other_modes_leave_the_waveform_out(tmp_path):
    fitted = fit_waveform(recording(np.random.default_rng(7), fwhm_s=5e-9, spacing_s=1e-9, noise=1.0))
    (tmp_path / "pulse.toml").write_text(fitted.text)
    assert sn.Lidar.from_device(tmp_path / "pulse.toml", mode="relative").beam.pulse_s == pytest.approx(5e-9, rel=0.01)
    assert all(pair.ratio == pytest.approx(1.0, abs=0.05) for pair in fitted.held_out)
    assert "waveform.pulse" not in fitted.sheet.defaults()


def test_pulses_are_split():
    whole = recording(np.random.default_rng(8), fwhm_s=5e-9, spacing_s=1e-9, noise=1.0, pulses=61)
    first, second = halves(whole)
    np.testing.assert_array_equal(first.groups[0].samples, whole.groups[0].samples[::2])
    assert (len(first.groups[0].returns), len(second.groups[0].location_s)) == (31, 30)
