"""sensor_msgs/PointCloud2: every point is found by the offsets and types that the message itself names."""

import struct
from itertools import pairwise

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.ros2.message import Source
from sensorium.record.ros2.point_cloud import point_cloud

# sensor_msgs/PointField: INT8, UINT8, INT16, UINT16, INT32, UINT32, FLOAT32, FLOAT64 are 1 to 8
CODES = dict(enumerate("bBhHiIfd", start=1))


def source(rows: int = 1) -> Source:
    """As of a lidar in so many worlds."""
    prefixes = [f"world_{k}/" for k in range(rows)] if rows > 1 else [""]
    return Source(
        "top", None, None, None, None, tuple(p + "top" for p in prefixes), tuple(p + "world" for p in prefixes)
    )


def points_of(reader) -> tuple[tuple[int, str], list[dict]]:
    """Header and points of a message's bytes."""
    header = reader.header()
    height, width = reader.take("I", "I")
    (count,) = reader.take("I")
    fields = []
    for _ in range(count):
        name = reader.text()
        offset, datatype, items = reader.take("I", "B", "I")
        assert items == 1
        fields.append((name, offset, CODES[datatype]))
    is_bigendian, step, row_step = reader.take("?", "I", "I")
    data = bytes(reader.numbers("B"))
    (is_dense,) = reader.take("?")
    assert reader.bytes_left() == 0
    assert height == 1
    assert row_step == step * width == len(data)
    assert is_dense

    # Fields lie within a point, and none over another
    ends = sorted((offset, offset + struct.calcsize(code)) for _, offset, code in fields)
    assert all(end <= begin for (_, end), (begin, _) in pairwise(ends))
    assert ends[-1][1] <= step
    order = ">" if is_bigendian else "<"
    points = [
        {name: struct.unpack_from(order + code, data, k * step + offset)[0] for name, offset, code in fields}
        for k in range(width)
    ]
    return header, points


@pytest.mark.parametrize("frame", ["sensor", "world"])
def test_every_return_is_a_point_with_what_the_scan_says_of_it(random_scan, decoded, frame):
    scan = random_scan(shape=(2, 4, 10), frame=frame)
    ((row, topic, message),) = point_cloud(scan, source())
    assert (row, topic) == (0, "points")
    (stamp_ns, frame_id), points = points_of(decoded(message))
    assert (stamp_ns, frame_id) == (scan.time_ns, "top" if frame == "sensor" else "world")
    there = np.argwhere(scan.valid).tolist()  # return by return, channel by channel
    assert len(points) == len(there) > 20
    for point, (number, channel, column) in zip(points, there, strict=True):
        at = (number, channel, column)
        assert [point[axis] for axis in "xyz"] == scan.points[at].tolist()
        assert point["intensity"] == scan.intensity[at]
        assert (point["label"], point["cause"]) == (scan.label[at], scan.cause[at])
        assert (point["ring"], point["return"]) == (channel, number)
        offset_ns = int(scan.offset_ns[channel, column])
        assert abs(point["t"] - offset_ns * (1 + scan.clock_skew)) <= 1.0  # by the sensor's clock


def test_a_long_sweep_tells_seconds_as_float64(random_scan, decoded):
    offset_ns = np.linspace(0, 6e9, 20).astype(np.int64).reshape(2, 10)
    scan = random_scan(shape=(1, 2, 10), offset_ns=offset_ns, end_ns=3_000_000_001 + 6 * 10**9, clock_skew=0.0)
    _, points = points_of(decoded(point_cloud(scan, source())[0][2]))
    assert "t" not in points[0]
    expected = offset_ns[scan.valid[0]] * 1e-9
    np.testing.assert_array_equal([point["time"] for point in points], expected)


def test_worlds_have_clouds_of_their_own_and_an_empty_one_has_no_points(random_scan, decoded):
    scan = random_scan(shape=(2, 1, 2, 10))
    scan.light.cause[1] = 0  # no return
    first, second = (points_of(decoded(message)) for _, _, message in point_cloud(scan, source(2)))
    assert (first[0][1], second[0][1]) == ("world_0/top", "world_1/top")
    assert len(first[1]) == np.count_nonzero(scan.valid[0]) > 0
    assert second[1] == []


def test_ranges_come_back_and_nothing_is_infinitely_far(tmp_path, read_back):
    scene = sn.Scene()
    scene.add(sn.shapes.box(1.0, 4.0, 4.0), pose=sn.Pose((6.0, 0, 0)))
    world = sn.worlds.Kinematic({"car": sn.paths.Line((0, 0, 0), velocity=(0, 10.0, 0))}, step_s=0.05)
    env = sn.Environment(scene, world)
    pattern = sn.patterns.Table(azimuth_deg=(0.0,), elevation_deg=(0.0,), time_s=(0.0,), rate_hz=20)
    lidar = env.attach(sn.Lidar(pattern=pattern, min_range_m=0.1, max_range_m=40.0), body="car", name="nose")
    ranges = []
    with sn.record.McapRecorder(tmp_path / "run.mcap") as recorder:
        for _ in env.run(0.5):
            recorder.record(env)
            ranges += [float(scan.range_m[0, 0]) if scan.valid[0, 0] else np.inf for scan in lidar.readings()]
    assert ranges[0] == pytest.approx(5.5, abs=0.01)
    assert np.isinf(ranges[-1])
    for messages in read_back(tmp_path / "run.mcap", "/nose/range"):
        assert [message.range for message in messages] == ranges
        assert {message.radiation_type for message in messages} == {1}
        assert (messages[0].min_range, messages[0].max_range) == pytest.approx((0.1, 40.0))
        assert (messages[0].field_of_view, messages[0].header.frame_id) == (0.0, "nose")
    points, _ = read_back(tmp_path / "run.mcap", "/nose/points")
    assert [message.width for message in points] == [int(np.isfinite(r)) for r in ranges]
