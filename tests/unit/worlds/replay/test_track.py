"""Recorded poses: what lies between them, and velocities from differences."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.core.rotations import quaternion_exp
from sensorium.worlds import JointTrack, Track


def tumbling(t):
    """A motion with known derivatives: p = (sin t, t^2, cos 2t), turning about a fixed axis by sin(3 t)."""
    t = np.asarray(t)[:, None]
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    pose = sn.Pose(np.concatenate([np.sin(t), t**2, np.cos(2 * t)], axis=1), quaternion_exp(np.sin(3 * t) * axis))
    return pose, np.concatenate([np.cos(t), 2 * t, -2 * np.sin(2 * t)], axis=1), 3 * np.cos(3 * t) * axis


def test_recorded_times_give_the_recorded_poses():
    t = np.sort(np.random.default_rng(1).uniform(0, 4, 30))
    pose, v_WB, w_WB = tumbling(t)
    position, quaternion, v, w = Track(t, pose, v_WB, w_WB).at(t)
    np.testing.assert_allclose(position, pose.position, atol=1e-15)
    assert sn.Pose(position, quaternion).almost_equal(pose, 1e-14)
    np.testing.assert_allclose(v, v_WB, atol=1e-14)
    np.testing.assert_allclose(w, w_WB, atol=1e-14)


def test_straight_lines_and_slerp_between():
    t = np.array([0.0, 0.3, 1.1])
    pose, v_WB, _ = tumbling(t)
    position, quaternion, v, _ = Track(t, pose, v_WB).at(np.array([0.5]))
    assert sn.Pose(position[0], quaternion[0]).almost_equal(pose[1].interpolate(pose[2], 0.25), 1e-14)
    np.testing.assert_allclose(v[0], 0.75 * v_WB[1] + 0.25 * v_WB[2])


def test_the_sign_of_a_quaternion_does_not_matter():
    t = np.linspace(0, 2, 9)
    pose, _, _ = tumbling(t)
    flipped = sn.Pose(pose.position, pose.quaternion * np.where(np.arange(9) % 2, -1, 1)[:, None])
    between = np.linspace(0, 2, 50)
    one, other = (Track(t, p).at(between) for p in (pose, flipped))
    assert sn.Pose(one[0], one[1]).almost_equal(sn.Pose(other[0], other[1]), 1e-12)
    np.testing.assert_allclose(one[3], other[3], atol=1e-12)


def test_differences_are_of_second_order_on_uneven_times_and_at_the_ends():
    errors = []
    for n in (200, 400, 800):
        u = np.linspace(0, 1, n)
        t = 2 * u + 0.1 * np.sin(5 * u)
        pose, v_WB, w_WB = tumbling(t)
        track = Track(t, pose)
        errors.append((np.abs(track.v_WB - v_WB).max(), np.abs(track.w_WB - w_WB).max()))
    np.testing.assert_allclose(np.log2(np.array(errors[:-1]) / errors[1:]), 2.0, atol=0.1)


def test_constant_acceleration_is_exact():
    t = np.array([0.0, 0.1, 0.5, 0.6, 1.4])
    track = Track(t, sn.Pose(np.stack([0.5 * 3 * t**2, 2 * t, 0 * t], axis=-1), np.tile((1.0, 0, 0, 0), (5, 1))))
    np.testing.assert_allclose(track.v_WB, np.stack([3 * t, 2 + 0 * t, 0 * t], axis=-1), atol=1e-13)
    np.testing.assert_array_equal(track.w_WB, 0)


def test_before_and_after_the_body_stands_still():
    t = np.array([1.0, 1.1, 1.2])
    track = Track(t, [sn.Pose((x, 0, 0)) for x in (1, 2, 3)])
    position, _, v, _ = track.at(np.array([0.5, 1.0, 1.2, 1.3]))
    np.testing.assert_allclose(position[:, 0], [1, 1, 3, 3])
    np.testing.assert_allclose(v[:, 0], [0, 10, 10, 0])


def test_one_or_two_poses():
    one = Track([2.0], [sn.Pose((1, 2, 3))])
    position, quaternion, v, w = one.at(np.array([0.0, 5.0]))
    np.testing.assert_array_equal(position, [[1, 2, 3]] * 2)
    np.testing.assert_array_equal(quaternion, [[1, 0, 0, 0]] * 2)
    assert not v.any()
    assert not w.any()
    np.testing.assert_allclose(Track([0, 2], [sn.Pose(), sn.Pose((4, 0, 0))]).v_WB, [[2, 0, 0]] * 2)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([], []), "at least one time"),
        (([0.0, 1.0, 1.0], 3), r"times_s\[2\] is 1\.0 after 1\.0; times must increase"),
        (([0.0, np.nan], 2), "times_s holds nan"),
        (([0.0, 1.0], 3), r"poses have shape \(3,\); it must be \(2,\)"),
        (([0.0, 1.0], 2, np.zeros((3, 3))), r"v_WB has shape \(3, 3\); it must be \(2, 3\)"),
        (([0.0, 1.0], 2, None, [[0, 0, 0], [0, np.inf, 0]]), r"w_WB\[1\] is"),
    ],
)
def test_wrong_recordings(arguments, says):
    times, count, *velocities = arguments
    poses = [sn.Pose()] * count if isinstance(count, int) else count
    with pytest.raises(SpecError, match=says):
        Track(times, poses, *velocities)


@pytest.mark.parametrize("times_s", [[0.0, 1e10], [-1e10, 0.0]])
def test_times_beyond_what_there_are_are_refused(times_s):
    poses = sn.Pose(np.zeros((2, 3)), np.tile([1.0, 0.0, 0.0, 0.0], (2, 1)))
    with pytest.raises(SpecError, match=r"times_s holds -?10000000000\.0; every time must be within 2\^63"):
        sn.worlds.Track(times_s, poses)


TURN = 2.0 * np.pi


def test_between_times_it_goes_straight_and_outside_it_rests():
    track = JointTrack([1.0, 2.0, 4.0], [0.0, 1.0, 5.0], [1.0, 1.5, 2.5])
    position, velocity = track.at(np.array([0.0, 1.0, 1.5, 3.0, 4.0, 9.0]))
    np.testing.assert_allclose(position, [0.0, 0.0, 0.5, 3.0, 5.0, 5.0])
    np.testing.assert_allclose(velocity, [0.0, 1.0, 1.25, 2.0, 2.5, 0.0])


def test_velocities_from_differences_are_exact_on_parabolas():
    t = np.array([0.0, 0.1, 0.3, 0.35, 0.7])
    track = JointTrack(t, 3.0 + 2.0 * t - 4.0 * t**2)
    np.testing.assert_allclose(track.velocity, 2.0 - 8.0 * t, atol=1e-13)


def test_one_time_is_a_joint_at_rest():
    position, velocity = JointTrack([5.0], [0.3], [7.0]).at(np.array([0.0, 5.0, 6.0]))
    assert position.tolist() == [0.3] * 3
    assert velocity.tolist() == [0.0] * 3


@pytest.mark.parametrize("rate", [-500.0, -3.0, 0.1, 40.0, 500.0])
def test_turns_that_an_encoder_leaves_out_are_put_back(rate):
    """Up to 0.8 turns between readings, forward and backward."""
    t = np.arange(200) * 0.01
    true = 1.0 + rate * t + 5.0 * np.sin(3.0 * t)
    speed = rate + 15.0 * np.cos(3.0 * t)
    track = JointTrack.unwound(t, true % TURN, speed)
    np.testing.assert_allclose(track.position, true, atol=1e-9)
    np.testing.assert_allclose(track.velocity, speed, atol=0.01)
    np.testing.assert_array_equal(JointTrack.unwound(t, true, speed).position, true)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (([0.0, 0.0], [1, 2]), r"times_s\[1\] is 0\.0 after 0\.0; times must increase"),
        (([], []), "with at least one time"),
        (([0.0, 1.0], [1, 2, 3]), r"position has shape \(3,\); it must be \(2,\)"),
        (([0.0, 1.0], [1, np.nan]), r"position\[1\] is nan; it must be finite"),
        (([0.0, 1.0], [1, 2], [1]), r"velocity has shape \(1,\); it must be \(2,\)"),
    ],
)
def test_bad_input_names_the_value_and_the_rule(arguments, says):
    with pytest.raises(SpecError, match=says):
        JointTrack(*arguments)
