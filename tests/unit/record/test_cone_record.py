"""A cone sensor's readings as messages and as tables."""

import csv
import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Noise
from sensorium.record.ros2.message import Source
from sensorium.record.ros2.readings import messages_of


@pytest.fixture
def passing():
    """A box that drives through the cone of a noisy sensor, and is out of it before and after."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(1, 1, 1), body="box", label="box")
    path = sn.paths.Line(start=(6.0, -8.0, 0.5), velocity=(0.0, 8.0, 0.0))
    env = sn.Environment(scene, sn.worlds.Kinematic({"box": path}, step_s=0.05), seed=4)
    spec = sn.ConeSensor(horizontal_fov_deg=60.0, vertical_fov_deg=40.0, range_m=9.0, range={"noise": Noise(std=0.05)})
    return env, env.attach(spec)


def test_messages_are_a_range_and_where_something_is_in_sight_its_point_and_rate(passing):
    env, sensor = passing
    source = Source.of(sensor, ("box",), ())
    seen = []
    for _ in env.run(2.0):
        reading = sensor.read()
        found = dict(messages_of(reading, source))
        seen.append(bool(reading.in_sight))
        expected = ["/cone/range", "/cone/point", "/cone/range_rate"] if reading.in_sight else ["/cone/range"]
        assert list(found) == expected
        fields = found["/cone/range"].fields
        assert found["/cone/range"].kind == "sensor_msgs/msg/Range"
        assert (fields["range"], fields["max_range"], fields["min_range"]) == (float(reading.range_m), 9.0, 0.0)
        assert fields["field_of_view"] == pytest.approx(math.radians(60.0))
        assert fields["header"]["frame_id"] == "cone"
        if reading.in_sight:
            point = found["/cone/point"].fields["point"]
            assert [point[axis] for axis in "xyz"] == reading.point.tolist()
            assert found["/cone/range_rate"].fields == {"data": float(reading.range_rate)}
    assert {True, False} == set(seen)


def test_tables_have_all_of_a_reading_and_its_truth(passing, tmp_path):
    env, sensor = passing
    readings = []
    with sn.record.SignalRecorder(tmp_path) as recorder:
        for _ in env.run(2.0):
            recorder.record(env)
            readings.append((sensor.read(), sensor.truth()))
    with (tmp_path / "cone.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == len(readings) == 40
    for row, (reading, truth) in zip(rows, readings, strict=True):
        assert row["in_sight"] == str(int(reading.in_sight))
        for column, value in {
            "range_m": reading.range_m,
            "truth_range_m": truth.range_m,
            "azimuth_rad": reading.azimuth,
            "point_y_m": reading.point[1],
            "point_W_y_m": reading.point_W[1],
            "range_rate_m_s": reading.range_rate,
            "speed_m_s": reading.speed,
            "truth_differenced_range_rate_m_s": truth.differenced_range_rate,
        }.items():
            np.testing.assert_equal(float(row[column]), float(value))
        assert [int(row[name]) for name in ("verdict", "object_id", "label")] == [
            int(getattr(reading, name)) for name in ("verdict", "object_id", "label")
        ]
