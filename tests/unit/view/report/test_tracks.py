import numpy as np
import pytest

import sensorium as sn
from sensorium.view.report.tracks import TrackRecord, sensor_frames


def test_a_track_is_where_the_body_was_after_each_step(yard, unpacked):
    env = yard()
    record = TrackRecord(env)
    for _ in env.run(0.2):
        record.add(env)
    (van,) = record.tracks()
    assert van["name"] == "van"
    assert van["way_m"] == pytest.approx(2.0 * 0.19)
    assert np.unique(unpacked(van["x"])) == pytest.approx(2.0 * 0.01 * np.arange(1, 21))
    assert unpacked(van["z"]) == pytest.approx(0.5)


def moved(steps):
    paths = {"goes": sn.paths.Line((0, 0, 0), (1.0, 0, 0)), "stays": sn.paths.Line((3.0, 4.0, 0.0), (0, 0, 0))}
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic(paths, step_s=0.01))
    record = TrackRecord(env)
    for _ in range(steps):
        env.step()
        record.add(env)
    return record.tracks()


def test_a_long_run_keeps_a_bounded_number_of_places_and_the_last(unpacked):
    goes, stays = moved(5000)
    x = unpacked(goes["x"])
    assert 500 < len(x) <= 1025
    assert x[-1] == pytest.approx(50.0)
    assert (np.diff(x)[:-1] > 0).all()
    assert unpacked(stays["x"]).tolist() == [3.0]


def test_sensors_stand_where_their_mounts_are(yard):
    env = yard(poses=sn.Pose.from_euler_deg((0.0, 0.0, 1.0), yaw=90.0))
    for _ in env.run(0.1):
        pass
    frames = {frame["name"]: frame for frame in sensor_frames(env)}
    assert frames["top"]["place"] == pytest.approx([0.2, 0.0, 1.5])
    assert np.array(frames["top"]["axes"]) == pytest.approx(np.array([[0, 1, 0], [-1, 0, 0], [0, 0, 1]]), abs=1e-9)
    assert frames["imu"]["place"] == pytest.approx([0.2, 0.0, 0.5])


def test_a_world_without_bodies_has_no_tracks():
    env = sn.Environment(sn.Scene())
    record = TrackRecord(env)
    record.add(env)
    assert record.tracks() == []
