"""A sheet from a synthetic recording with known errors, and what it says of turns that were held out."""

import time

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.fit.lidar import fit_lidar
from sensorium.recordings.opening import open_recording
from tests.unit.recordings.measure.scenes import ELEVATION, room
from tests.unit.recordings.real import lidar as real_lidar


def law_m(reflectivity):
    return 0.004 + 0.1 / (reflectivity + 5.0)


def recorded(**options):
    rng = np.random.default_rng(4)
    second_m = rng.uniform(0.8, 4.0, 4000)
    given = {"turns": 6, "noise_m": law_m, "jitter_s": 2e-6, "drop": 0.01, "second_m": second_m, **options}
    return room(rng=rng, is_locked=True, **given)


@pytest.fixture(scope="module")
def fitted():
    return fit_lidar(recorded())


def test_every_error_is_found_and_loaded_by_from_device(fitted, tmp_path):
    (tmp_path / "mine.toml").write_text(fitted.text)
    lidar = sn.Lidar.from_device("mine", folder=tmp_path)
    assert lidar.pattern.elevation_deg == pytest.approx(np.degrees(ELEVATION))
    assert lidar.pattern.columns == 1200
    assert 1.0 / (lidar.pattern.rate_hz * 1200) == pytest.approx(0.1 / 1200, rel=1e-5)
    assert lidar.timing.jitter_s == pytest.approx(2e-6, rel=0.05)
    assert lidar.noise.dropout == pytest.approx(0.01, rel=0.1)
    assert lidar.errors[0].lsb == pytest.approx(0.002)
    table = np.array(lidar.noise.by_reflectance)
    for reflectivity in (10, 20, 45, 80):
        factor = np.interp(np.log(reflectivity / 100.0), np.log(table[:, 0]), table[:, 1])
        by_range = np.interp(5.0, *np.array(lidar.noise.by_range).T)
        assert lidar.noise.base_m * factor * by_range == pytest.approx(law_m(reflectivity), rel=0.06)
    dual = sn.Lidar.from_device("mine", folder=tmp_path, beam={"rays": 7}, returns="dual")
    assert dual.beam.separation_m == pytest.approx(0.8, abs=0.02)


def test_every_measured_value_has_a_source_and_what_has_an_interval_lies_in_it(fitted):
    sheet = fitted.sheet
    assert sheet.sources == {"CAL": "angles read with room", "REC": "measured in room"}
    for name, quantity, _ in sheet.everything():
        assert quantity.grade == ("A" if quantity.source == "CAL" else "R"), name
    for name in ("range_noise", "dropout", "return_separation", "noise_by_range", "noise_by_reflectance"):
        assert getattr(sheet, name).interval is not None, name
    assert "Fitted to 3 turns of 6." in sheet.notes


def test_turns_that_were_held_out_agree(fitted):
    by = {(row.figure.quantity, row.figure.where): row.ratio for row in fitted.held_out}
    assert len(by) > 8
    for (quantity, where), ratio in by.items():
        limit = {"noise.by_range": 0.1, "noise.by_reflectivity": 0.1, "quantum": 1e-9, "firing_period": 1e-4}
        if quantity in limit:
            assert ratio == pytest.approx(1.0, abs=limit[quantity]), where
    assert by["separation.least", ""] == pytest.approx(1.0, abs=0.1)


def test_tails_and_biases_of_beams_are_found():
    rng = np.random.default_rng(6)
    bias_m = rng.normal(0.0, 0.012, len(ELEVATION))

    def heavy(shape):
        scale = np.where(rng.random(shape) < 0.2, 1.6, np.sqrt((1.0 - 0.2 * 1.6**2) / 0.8))  # of unit variance
        return scale * rng.standard_normal(shape)

    found = fit_lidar(recorded(normal=heavy, noise_m=0.01, drop=0.0, bias_m=bias_m, columns=2000)).sheet
    excess = 3.0 * (0.2 * 1.6**4 + (1.0 - 0.2 * 1.6**2) ** 2 / 0.8 - 1.0)
    assert found.excess_kurtosis.value == pytest.approx(excess, abs=0.25)
    table_m = np.array(found.number("channel_bias"))
    # A mean and a trend over elevation are not told apart from the walls
    trend = np.stack([np.ones(len(ELEVATION)), ELEVATION], axis=1)
    rest = bias_m - trend @ np.linalg.lstsq(trend, bias_m, rcond=None)[0]
    assert np.abs(table_m - rest).max() < 0.004


def test_one_turn_holds_nothing_out_and_unknown_angles_are_refused():
    alone = fit_lidar(recorded(turns=1))
    assert alone.held_out == ()
    assert "along rings" in alone.sheet.range_noise.source
    with pytest.raises(SpecError, match="'room' has no calibration of test; a sheet needs the elevations"):
        fit_lidar(recorded()._replace(elevation=None))


def test_all_turns_may_be_fitted():
    all_turns = fit_lidar(recorded(), hold_out=False)
    assert all_turns.held_out == ()
    assert "Fitted to 6 turns of 6." in all_turns.sheet.notes


@pytest.mark.parametrize("name", ["vlp16", "xt32", "pandar64"])
def test_real_devices_at_rest(name, tmp_path):
    path, _ = real_lidar(name)
    began_s = time.perf_counter()
    fitted = fit_lidar(open_recording(path))
    assert time.perf_counter() - began_s < 60.0  # a second on an idle machine
    for row in fitted.held_out:
        figure = row.figure
        within = {"noise.by_range": 0.15, "noise.by_reflectivity": 0.2, "quantum": 1e-6, "firing_period": 1e-4}
        limit = within.get(figure.quantity)
        if limit is not None:
            near = abs(row.fitted - figure.value) <= limit * figure.value
            assert near or figure.low <= row.fitted <= figure.high, (figure.quantity, figure.where, row.ratio)
    (tmp_path / "twin.toml").write_text(fitted.text)
    maker = describe(tmp_path / "twin.toml").sheet.range_noise.maker
    assert (maker is None) == (name == "pandar64")
