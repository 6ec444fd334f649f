"""Scatter of signal, background and reflectivity, against counts whose law is known."""

import numpy as np
import pytest

from sensorium.recordings.measure.lidar_rays import rays_of
from sensorium.recordings.measure.lidar_signal import signal_figures
from tests.unit.recordings.measure.scenes import room


def figures_of(recording):
    figures, curves = signal_figures(recording, rays_of(recording))
    return {(each.quantity, each.where): each for each in figures}, curves


def recorded(seed=1, **changed):
    return room(rng=np.random.default_rng(seed), signal=True, is_locked=True, **changed)


def test_counted_photons_scatter_by_the_root_of_their_mean_in_the_stated_share_of_cases():
    covered, all_figures = 0, 0
    for seed in range(25):
        found, curves = figures_of(recorded(seed, turns=3, columns=600))
        for (quantity, _), figure in found.items():
            if quantity.endswith("variance_over_mean"):
                covered += figure.low <= 1.0 <= figure.high
                all_figures += 1
                assert figure.unit == "1"
        assert {curve.quantity for curve in curves} <= {"signal.variance_over_mean", "background.variance_over_mean"}
        assert len(curves) >= 1
    assert all_figures >= 100
    assert 0.90 <= covered / all_figures <= 0.99


@pytest.mark.parametrize("factor", [2, 5])
def test_counts_that_are_multiplied_have_that_factor(factor):
    recording = recorded()
    multiplied = recording._replace(
        signal=(factor * recording.signal).astype(np.uint16), background=factor * recording.background
    )
    found, _ = figures_of(multiplied)
    for (quantity, where), figure in found.items():
        if quantity.endswith("variance_over_mean"):
            assert figure.value == pytest.approx(factor, rel=0.08), where


def test_noise_of_reflectivity_is_that_of_one_value_and_outliers_do_not_count():
    recording, rng = recorded(), np.random.default_rng(3)
    spread = np.rint(rng.normal(0.0, 3.0, recording.reflectivity.shape))
    wild = np.where(rng.random(recording.reflectivity.shape) < 0.001, 100.0, 0.0)
    bright = recording.reflectivity >= 40
    values = recording.reflectivity + np.where(bright, spread + wild, 0.0)
    found, _ = figures_of(recording._replace(reflectivity=np.clip(values, 0, 255).astype(np.uint8)))
    for where in ("reflectivity 30 to 60", "reflectivity 60 to 100"):
        figure = found["reflectivity.noise", where]
        assert figure.value == pytest.approx(np.sqrt(9.0 + 1.0 / 12.0), rel=0.05)
        assert figure.low < figure.value < figure.high
    assert ("reflectivity.noise", "reflectivity 8 to 15") not in found  # it does not scatter there


def test_a_device_without_signals_has_figures_of_reflectivity_alone():
    found, curves = figures_of(room(rng=np.random.default_rng(4), is_locked=True))
    assert not [quantity for quantity, _ in found if quantity.endswith("variance_over_mean")]
    assert curves == []


def test_the_return_that_is_strongest_counts():
    second_m = np.random.default_rng(5).uniform(0.8, 3.0, 500)
    recording = recorded(second_m=second_m)
    assert recording.returns == ("last", "strongest")
    signal = recording.signal.copy()
    signal[:, :, 0] = 7
    found, _ = figures_of(recording._replace(signal=signal))
    assert all(figure.value > 0.5 for (name, _), figure in found.items() if name == "signal.variance_over_mean")
