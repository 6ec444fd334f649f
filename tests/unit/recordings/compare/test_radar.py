"""A simulated radar past recorded detections: its twin agrees, one of more noise does not."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.devices import describe
from sensorium.recordings.compare.radar import compare_radar, simulate_detections
from sensorium.recordings.fit.radar import fit_radar
from tests.unit.recordings.compare.changed import changed_sheet, verdicts
from tests.unit.recordings.fit.test_radar import listed


@pytest.fixture(scope="module")
def detections():
    return listed(np.random.default_rng(9), speed_noise=0.03, azimuth_noise=0.008, count=300)


def test_a_twin_agrees_on_detections_that_were_held_out(detections, tmp_path):
    found = compare_radar(detections, describe(changed_sheet(tmp_path, fit_radar(detections).text)))
    assert "detections of this recording; these were held out" in found.remarks[0]
    assert found.count("differs") == 0
    rows = {row.real.quantity: row for row in found.rows}
    assert rows["own_speed"].ratio == pytest.approx(1.0, abs=2e-3)
    assert rows["still_share"].verdict == "not modeled"


def test_a_noisier_radar_differs(detections, tmp_path):
    found = verdicts(
        compare_radar(detections, describe(changed_sheet(tmp_path, fit_radar(detections).text, speed_noise=4.0)))
    )
    assert found["doppler_noise"] == {"differs"}
    assert found["own_speed"] == {"agrees"}


def test_targets_are_seen_where_they_were(detections):
    made, how = simulate_detections(describe("delphi-esr-mid"), detections, 0)
    assert "elevation_angle" not in made.fields
    assert how[0].startswith("targets: 27")
    known = np.stack([detections.fields["range"], detections.fields["azimuth_angle"]])
    seen = np.stack([made.fields["range"], made.fields["azimuth_angle"]])
    apart = np.abs(seen[:, :, None] - known[:, None]) / np.array([1.0, 0.05])[:, None, None]
    assert np.mean(apart.max(axis=0).min(axis=1) < 1.0) > 0.9


def test_a_sheet_of_all_detections_holds_nothing_out(detections, tmp_path):
    found = compare_radar(detections, describe(changed_sheet(tmp_path, fit_radar(detections, hold_out=False).text)))
    assert found.remarks[0] == "the sheet was fitted to all of this recording: nothing is held out"
    assert found.real.figure("own_speed").samples == 300


def test_a_radar_that_sees_nothing_is_refused(detections, tmp_path):
    path = changed_sheet(tmp_path, fit_radar(detections).text, max_range=0.02)
    with pytest.raises(
        SpecError, match=r"what 'changed' records in simulation cannot be measured: 'list.yaml' has \d valid"
    ):
        compare_radar(detections, describe(path))


def test_a_radar_of_one_antenna_is_refused(detections, tmp_path):
    path = changed_sheet(tmp_path, fit_radar(detections).text)
    path.write_text(
        path.read_text().split("[azimuth_noise]")[0] + "[antennas]\nvalue = 1\nsource = 'REC'\ngrade = 'R'\n"
    )
    with pytest.raises(SpecError, match="device 'changed' measures no azimuth"):
        compare_radar(detections, describe(path))
