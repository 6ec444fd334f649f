"""A lidar of one ray is recorded as a rangefinder too."""

import numpy as np
import pytest

import sensorium as sn


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
