"""Sensors on a body during a sweep: the same bits as the algebra of poses, at the times the rule says."""

import numpy as np
import pytest

from sensorium.core.frames import Pose
from sensorium.sensors.common.mount_path import follow_mounts
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.worlds.base import WorldState
from sensorium.worlds.history import History

WORLDS, BODIES = 3, 2


def history_of(poses):
    """A history of states 10 ns apart, from poses (states, worlds, bodies)."""
    worlds, bodies = poses.shape[1:]
    vectors, none = np.zeros((worlds, bodies, 3)), np.zeros((worlds, 0))
    states = [WorldState(10 * k, X_WB, vectors, vectors, none, none) for k, X_WB in enumerate(poses)]
    history = History(states[0])
    for state in states[1:]:
        history.add(state)
    return history


def wandering(states=4, turn=0.004, seed=0):
    """Bodies far from the origin that move and turn a little from state to state."""
    rng = np.random.default_rng(seed)
    poses = [Pose(rng.normal(size=(WORLDS, BODIES, 3)) * 100.0, rng.normal(size=(WORLDS, BODIES, 4)))]
    for _ in range(states - 1):
        step = Pose.exp(rng.normal(size=(WORLDS, BODIES, 3)), turn * rng.normal(size=(WORLDS, BODIES, 3)))
        poses.append(poses[-1] @ step)
    return Pose.stack(poses)


def follow(history, start_ns, end_ns, body, X_BS):
    table = history.span(start_ns, end_ns).table
    mounts = np.array(X_BS.position)[None], np.array(X_BS.quaternion)[None]
    found = follow_mounts(
        start_ns, end_ns, table, history.worlds, history.bodies, -1 if body is None else body, *mounts
    )
    return dict(zip(("knot_ns", "time", "position", "quaternion", "anchor", "matrix"), found, strict=True))


def mounts(sensors=2):
    rng = np.random.default_rng(5)
    return Pose(rng.normal(size=(sensors, 3)), rng.normal(size=(sensors, 4)))


@pytest.mark.parametrize("interval", [(0, 30), (3, 27), (10, 20), (12, 17)])
def test_poses_are_those_of_the_history_times_the_mount_bit_for_bit(interval):
    history, X_BS = history_of(wandering()), mounts()
    found = follow(history, *interval, 1, X_BS)
    inside = [t for t in (10, 20) if interval[0] < t < interval[1]]
    np.testing.assert_array_equal(found["knot_ns"], [interval[0], *inside, interval[1]])
    np.testing.assert_array_equal(
        found["time"], ((found["knot_ns"] - interval[0]) / (interval[1] - interval[0])).astype(np.float32)
    )
    X_WS = history.poses(found["knot_ns"], 1)[..., None] @ X_BS
    assert found["position"].tobytes() == X_WS.position.tobytes()
    assert found["quaternion"].tobytes() == X_WS.quaternion.tobytes()

    # Matrices count from the anchor, and lie midway between knots too
    np.testing.assert_array_equal(found["anchor"], PlacedScenes.on_grid(X_WS.position[0, :, 0]))
    assert np.abs(found["anchor"]).max() > 0.0
    knots = found["knot_ns"]
    dense = np.sort(np.concatenate([knots, knots[:-1] + np.diff(knots) // 2]))
    matrix = (history.poses(dense, 1)[..., None] @ X_BS).matrix.copy()
    matrix[..., 3] -= found["anchor"][:, None]
    expected = matrix.transpose(1, 2, 0, 3, 4).reshape(WORLDS * 2, len(dense), 12).astype(np.float32)
    assert found["matrix"].tobytes() == expected.tobytes()


def test_a_body_that_turns_far_has_more_knots():
    far = wandering(turn=0.1)
    times = np.arange(0, 31, 10)
    found = follow(history_of(far), 0, 30, 0, mounts())
    quaternion = far.quaternion[:, :, 0]
    cosine = np.abs((quaternion[1:] * quaternion[:-1]).sum(axis=-1)).min()
    pieces = int(np.ceil(2.0 * np.arccos(cosine) / 0.015))
    assert pieces > 10  # more than there are nanoseconds: each is a knot once
    np.testing.assert_array_equal(found["knot_ns"], np.arange(31))
    assert set(times) <= set(found["knot_ns"].tolist())


def test_what_stands_still_has_one_knot():
    poses = wandering()
    still = Pose.stack([poses[0]] * 4)
    for found in (follow(history_of(still), 0, 30, 1, mounts()), follow(history_of(poses), 0, 30, None, mounts())):
        np.testing.assert_array_equal(found["knot_ns"], [0])
        assert found["position"].shape == (1, WORLDS, 2, 3)
        assert found["matrix"].shape == (WORLDS * 2, 1, 12)


def test_one_world_that_moves_gives_knots_to_all():
    poses = wandering()
    position = np.array(np.broadcast_to(poses.position[:1], poses.position.shape))
    position[2, 1, 0, 2] += 1e-9
    history = history_of(Pose(position, np.broadcast_to(poses.quaternion[:1], poses.quaternion.shape)))
    assert len(follow(history, 0, 30, 0, mounts())["knot_ns"]) == 4
    assert len(follow(history, 0, 30, 1, mounts())["knot_ns"]) == 1


def test_fixed_in_the_world_the_mount_is_the_pose():
    X_BS = mounts()
    found = follow(history_of(wandering()), 0, 30, None, X_BS)
    for world in range(WORLDS):
        assert found["position"][0, world].tobytes() == X_BS.position.tobytes()
        assert found["quaternion"][0, world].tobytes() == X_BS.quaternion.tobytes()


def test_an_instant_has_one_pose():
    history, X_BS = history_of(wandering()), mounts()
    found = follow(history, 14, 14, 1, X_BS)
    np.testing.assert_array_equal(found["knot_ns"], [14])
    np.testing.assert_array_equal(found["time"], [0.0])
    X_WS = history.poses(np.array([14]), 1)[..., None] @ X_BS
    assert found["position"].tobytes() == X_WS.position.tobytes()
