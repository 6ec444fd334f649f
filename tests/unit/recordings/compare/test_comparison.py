"""Real beside simulated: a fitted sheet agrees on turns that it was not fitted to, and a wrong one does not."""

import re

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.compare.comparison import Row, compare_lidar
from sensorium.recordings.compare.page import page, save_page
from sensorium.recordings.compare.simulation import simulated_recording, simulated_separation
from sensorium.recordings.fit.lidar import fit_lidar
from sensorium.recordings.measurement import Figure
from sensorium.recordings.opening import open_recording
from tests.unit.recordings.measure.scenes import room
from tests.unit.recordings.real import lidar as real_lidar


@pytest.fixture(scope="module")
def recording():
    rng = np.random.default_rng(4)

    def law_m(reflectivity):
        return 0.004 + 0.1 / (reflectivity + 5.0)

    separations_m = rng.uniform(0.8, 4.0, 4000)
    return room(
        rng=rng, turns=6, noise_m=law_m, jitter_s=2e-6, drop=0.01, second_m=separations_m, is_locked=True,
        quantum_m=0.004,
    )  # fmt: skip


@pytest.fixture(scope="module")
def sheet(recording, tmp_path_factory):
    path = tmp_path_factory.mktemp("sheets") / "twin.toml"
    path.write_text(fit_lidar(recording).text)
    return path


def test_a_fitted_sheet_agrees_on_turns_that_were_held_out(recording, sheet):
    found = compare_lidar(recording, describe(sheet))
    assert found.remarks[0] == "the sheet was fitted to the other half of this recording; this one was held out"
    rows = {(row.real.quantity, row.real.where): row for row in found.rows}
    assert found.count("differs") == 0
    assert found.count("agrees") >= 12
    for (quantity, where), row in rows.items():
        if quantity in ("noise.by_range", "noise.by_reflectivity"):
            assert row.ratio == pytest.approx(1.0, abs=0.1), where
    assert rows["quantum", ""].ratio == pytest.approx(1.0)
    assert rows["firing_period", ""].ratio == pytest.approx(1.0, abs=1e-4)
    assert rows["column_jitter", ""].ratio == pytest.approx(1.0, abs=0.1)
    assert rows["separation.least", ""].ratio == pytest.approx(1.0, abs=0.1)
    assert rows["motion.shift", ""].verdict == "not modeled"


def test_a_sheet_of_twice_the_noise_differs(recording, sheet, tmp_path):
    noise_mm = describe(sheet).sheet.range_noise.value
    text = re.sub(r"(\[range_noise\]\nvalue = )\S+", rf"\g<1>{2.0 * noise_mm}", sheet.read_text())
    text = re.sub(r"(\[range_noise\](?:\n(?!\[).*)*?)\ninterval = .*", r"\g<1>", text)
    (tmp_path / "twice.toml").write_text(text)
    found = compare_lidar(recording, describe(tmp_path / "twice.toml"))
    rows = {(row.real.quantity, row.real.where): row for row in found.rows}
    assert rows["noise", ""].verdict == "differs"
    assert rows["noise", ""].ratio == pytest.approx(2.0, abs=0.1)
    assert rows["quantum", ""].verdict == "agrees"


def test_a_sheet_of_finer_ranges_differs(recording, sheet, tmp_path):
    text = re.sub(r"(\[range_quantum\]\nvalue = )\S+", r"\g<1>1.0", sheet.read_text())
    (tmp_path / "finer.toml").write_text(text)
    found = compare_lidar(recording, describe(tmp_path / "finer.toml"))
    (quantum,) = (row for row in found.rows if row.real.quantity == "quantum")
    assert quantum.verdict == "differs"
    assert quantum.simulated.value == pytest.approx(1e-3)


def test_the_rule_of_the_verdict():
    real = Figure("noise", 10.0, "m", 9.0, 11.0, 5)
    near, far = Figure("noise", 11.4, "m", 11.3, 11.5, 5), Figure("noise", 12.0, "m", 11.6, 12.4, 5)
    wide = Figure("noise", 14.0, "m", 10.9, 17.0, 5)
    assert [Row(real, other, 0.15).verdict for other in (near, far, wide, None)] == [
        "agrees", "differs", "agrees", "not modeled",
    ]  # fmt: skip
    assert Row(real, near, None).verdict == "not modeled"


def test_the_simulation_is_a_recording_of_the_same_shape_and_seeds_differ(recording, sheet):
    device = describe(sheet)
    runs = [simulated_recording(device, recording, turns=2, is_still=True, seed=seed) for seed in (0, 0, 1)]
    assert runs[0].range_m.shape == (2 * 1200, 16, 1)
    np.testing.assert_array_equal(runs[0].range_m, runs[1].range_m)
    assert (runs[0].range_m != runs[2].range_m).mean() > 0.3
    assert runs[0].is_stamped.all()


def test_the_separation_is_that_of_the_sheet(sheet):
    found = simulated_separation(describe(sheet), 0.8)
    assert found.value == pytest.approx(describe(sheet).sheet.return_separation.value, rel=0.03)
    assert simulated_separation(describe("ouster-os2-128"), 0.8) is None


def test_the_page_needs_no_network_and_has_every_figure(recording, sheet, tmp_path):
    found = compare_lidar(recording, describe(sheet))
    save_page(tmp_path / "page.html", found)
    text = (tmp_path / "page.html").read_text()
    assert text == page(found).decode()
    assert not re.findall(r'(?:src|href)="(?!data:|#)', text)
    for quantity in ("noise.by_range", "noise.by_reflectivity", "firing_period", "separation.least"):
        assert quantity in text
    assert text.count("data:image/png;base64,") >= 3
    assert "overlap" in text


def test_devices_that_do_not_fit_are_refused(recording):
    with pytest.raises(SpecError, match="device 'velodyne-vls128' has 128 channels; the recording has 16"):
        compare_lidar(recording, describe("velodyne-vls128"))
    with pytest.raises(SpecError, match="device 'livox-avia' is no spinning lidar; the recording is of test"):
        compare_lidar(recording, describe("livox-avia"))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["vlp16", "xt32", "pandar64", "os0-at-rest", "os1", "vls128"])
def test_twins_of_real_devices_are_within_the_limits_on_what_was_held_out(name, tmp_path):
    recording = open_recording(real_lidar(name)[0])
    (tmp_path / "twin.toml").write_text(fit_lidar(recording).text)
    found = compare_lidar(recording, describe(tmp_path / "twin.toml"))
    limits = {"noise.by_range": 0.15, "noise.by_reflectivity": 0.2, "quantum": 1e-6}
    rows = [row for row in found.rows if row.real.quantity in limits]
    assert len(rows) >= 6
    for row in rows:
        assert row.ratio == pytest.approx(1.0, abs=limits[row.real.quantity]), (row.real.quantity, row.real.where)
        if row.real.quantity != "quantum":
            assert row.real.high - row.real.low < 0.22 * row.real.value
    for quantity in ("firing_period", "separation.least"):
        assert [row.verdict for row in found.rows if row.real.quantity == quantity] in ([], ["agrees"])
