"""Detections of a radar as a table: a row for each, with the columns that there are."""

import csv

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.detections import DetectionTable
from sensorium.record.tables import CsvTable
from sensorium.sensors.common.attached import Arrival

MEASURED = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "power_W", "snr_dB", "cross_section_m2")


def attached(worlds=None, **options):
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.05), worlds=worlds, first_world=10 if worlds else 0)
    return env.attach(sn.Radar(), **options).rig


def arrival(rig, valid):
    """A frame whose numbers tell their column and place."""
    valid = np.array(valid)
    numbers = {
        name: np.where(valid, 100.0 * k + np.arange(valid.size).reshape(valid.shape) + 0.1, 0.0)
        for k, name in enumerate(MEASURED)
    }
    reading = sn.RadarReading(
        valid=valid,
        **numbers,
        object_id=np.where(valid, 4, -1).astype(np.int32),
        label=np.where(valid, 2, -1).astype(np.int32),
        cause=np.full(valid.shape, 1, np.uint8),
        end_ns=1000,
        time_ns=1007,
        X_WS=sn.Pose(np.zeros((rig.worlds, rig.sensors, 3))),
    )
    return Arrival(2000, reading, lambda: reading)


def rows_of(path, rig, arrivals, **options):
    table = DetectionTable(CsvTable, path, rig, **options)
    table.add(arrivals)
    table.table.close()
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def test_a_row_has_the_times_the_numbers_and_the_truth(tmp_path):
    rig = attached()
    rows = rows_of(tmp_path / "radar.csv", rig, [arrival(rig, [True, True, False])], truth=True)
    assert [row["detection"] for row in rows] == ["0", "1"]
    assert list(rows[0]) == [
        *("time_ns", "arrival_ns", "detection", *MEASURED),
        *("truth_object_id", "truth_label", "truth_cause"),
    ]
    for number, row in enumerate(rows):
        assert (row["time_ns"], row["arrival_ns"]) == ("1007", "2000")
        assert [float(row[name]) for name in MEASURED] == [100.0 * k + number + 0.1 for k in range(len(MEASURED))]
        assert (row["truth_object_id"], row["truth_label"], row["truth_cause"]) == ("4", "2", "1")


def test_truth_is_left_out_where_it_is_not_asked_for_and_an_empty_frame_has_no_row(tmp_path):
    rig = attached()
    rows = rows_of(
        tmp_path / "radar.csv", rig, [arrival(rig, [False, False]), arrival(rig, [True, False])], truth=False
    )
    assert len(rows) == 1
    assert not [name for name in rows[0] if name.startswith("truth")]


@pytest.mark.parametrize("sensors", [1, 2])
def test_worlds_have_their_numbers_in_the_experiment_and_sensors_theirs(tmp_path, sensors):
    pose = sn.Pose() if sensors == 1 else [sn.Pose(), sn.Pose((1, 0, 0))]
    rig = attached(worlds=2, pose=pose)
    valid = np.ones((2, sensors, 2), np.bool_) if sensors > 1 else np.ones((2, 2), np.bool_)
    rows = rows_of(tmp_path / "radar.csv", rig, [arrival(rig, valid)], truth=False)
    expected = [(10 + w, s, d) for w in range(2) for s in range(sensors) for d in range(2)]
    assert [(int(row["world"]), int(row.get("sensor", 0)), int(row["detection"])) for row in rows] == expected
    assert ("sensor" in rows[0]) == (sensors > 1)
    assert [float(row["range_m"]) for row in rows] == [k + 0.1 for k in range(len(rows))]
