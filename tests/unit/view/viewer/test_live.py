import numpy as np
import pytest

from sensorium.view.quantities import world_points
from sensorium.view.viewer.live import Live


def shown(env, path, seconds):
    """Run with a view; gives the sweeps, and the IMU's readings with their truths."""
    sweeps, pairs = [], []
    for _ in env.run(seconds, view=path):
        sweeps += env.sensors["top"].readings()
        pairs += [(capture.reading, capture.truth()) for capture in env.sensors["imu"].arrivals()]
    return sweeps, pairs


def test_a_run_shows_sweeps_signals_bodies_and_faults(yard, tmp_path, columns):
    env, path = yard(), tmp_path / "run.rrd"
    sweeps, pairs = shown(env, path, 0.3)
    clouds = columns(path, "/world/top\\ points", "Points3D:positions")
    assert [time_ns for time_ns, _ in clouds] == [sweep.end_ns for sweep in sweeps]
    for (_, points), sweep in zip(clouds, sweeps, strict=True):
        assert points == pytest.approx(world_points(sweep.flat()), abs=1e-4)
    labels = columns(path, "/world/top\\ points", "Points3D:class_ids")[0][1]
    assert labels.tolist() == sweeps[0].flat().label.tolist()

    forces = columns(path, "/signals/imu/acceleration", "Scalars:scalars")
    assert np.array([v for _, v in forces]) == pytest.approx(np.array([r.acceleration for r, _ in pairs]))
    truths = columns(path, "/signals/imu/acceleration/truth", "Scalars:scalars")
    assert np.array([v for _, v in truths]) == pytest.approx(np.array([t.acceleration for _, t in pairs]))

    places = columns(path, "/world/van", "Transform3D:translation")
    assert [2.0 * time_ns * 1e-9 for time_ns, _ in places] == pytest.approx([float(p[0, 0]) for _, p in places])
    assert columns(path, "/world/van/top", "Transform3D:translation")[0][0] is None
    words = [text.tolist() for _, text in columns(path, "/faults", "TextLog:text")]
    assert words == [["imu: stuck is active"], ["imu: stuck is over"]]


def test_several_worlds_are_shown_by_the_first(yard, tmp_path, columns):
    env, path = yard(worlds=2), tmp_path / "run.rrd"
    with Live(path) as live:
        for _ in env.run(0.1):
            live.record(env)
    ((_, points),) = columns(path, "/world/top\\ points", "Points3D:positions")
    assert len(points) == int(env.sensors["top"].read().valid[0].sum())
    words = columns(path, "/faults", "TextLog:text")
    assert len(words) <= 1


def test_a_loop_that_is_left_early_leaves_a_file(yard, tmp_path, columns):
    path = tmp_path / "run.rrd"
    for _ in yard().run(1.0, view=path):
        break
    assert columns(path, "/signals/imu/acceleration", "Scalars:scalars")
