"""Simulated pulses beside recorded ones: the twin agrees, a longer pulse does not."""

import numpy as np
import pytest

from sensorium.devices import describe
from sensorium.recordings.compare.waveform import compare_waveform, simulate_pulses
from sensorium.recordings.fit.waveform import fit_waveform
from sensorium.recordings.measure.waveform import aligned_pulses
from tests.unit.recordings.compare.changed import changed_sheet, verdicts
from tests.unit.recordings.measure.test_waveform import recording as pulses_of


@pytest.fixture(scope="module")
def recording():
    return pulses_of(np.random.default_rng(9), fwhm_s=5e-9, spacing_s=1e-9, noise=1.0, pulses=1000)


def test_a_twin_agrees_on_pulses_that_were_held_out(recording, tmp_path):
    found = compare_waveform(recording, describe(changed_sheet(tmp_path, fit_waveform(recording).text)))
    assert "pulses of this recording; these were held out" in found.remarks[0]
    assert found.count("differs") == 0
    assert found.count("agrees") >= 6


def test_longer_pulses_differ(recording, tmp_path):
    text = fit_waveform(recording).text
    found = verdicts(compare_waveform(recording, describe(changed_sheet(tmp_path, text, pulse_times=1.1))))
    assert found["pulse.fwhm"] == found["pulse.rise_time"] == {"differs"}
    assert found["sample_spacing"] == {"agrees"}
    found = verdicts(compare_waveform(recording, describe(changed_sheet(tmp_path, text, sample_spacing=0.5))))
    assert found["sample_spacing"] == {"differs"}


def test_pulses_are_as_late_as_high_and_as_noisy(recording):
    made, _ = simulate_pulses(describe("velodyne-vlp16"), recording, 0)
    real, again = aligned_pulses(recording.groups[0]), aligned_pulses(made.groups[0])
    assert again.amplitude == pytest.approx(real.amplitude, rel=0.05)
    assert -again.time_s[:, 0] == pytest.approx(-real.time_s[:, 0], abs=0.1e-9)
    assert again.noise == pytest.approx(real.noise, rel=0.05)
    assert (made.groups[0].samples % 1.0 == 0.0).all()
