"""Poses between states: straight lines and slerp, states kept bit for bit, on any number of threads."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.worlds.interpolation import interpolated, slerp


def states(worlds, bodies=2, count=4, seed=3):
    rng = np.random.default_rng(seed)
    times = np.array([0, 10, 15, 40][:count], np.int64)
    shape = (count, worlds, bodies)
    return times, sn.Pose(rng.normal(size=(*shape, 3)), rng.normal(size=(*shape, 4)))


@pytest.mark.parametrize("worlds", [1, 100])
def test_it_is_what_poses_say_of_themselves(worlds):
    """`Pose.interpolate` is the slow and independent way; 100 worlds go through threads."""
    times, X_WB = states(worlds)
    asked = np.array([1, 9, 12, 39], np.int64)
    ours = interpolated(times, X_WB, asked)
    for i, (before, s) in enumerate([(0, 0.1), (0, 0.9), (1, 0.4), (2, 0.96)]):
        theirs = X_WB[before].interpolate(X_WB[before + 1], s)
        np.testing.assert_allclose(ours.position[i], theirs.position, atol=1e-14)
        np.testing.assert_allclose(ours[i].rotation, theirs.rotation, atol=1e-12)


def test_states_come_back_bit_for_bit():
    times, X_WB = states(3)
    ours = interpolated(times, X_WB, times)
    np.testing.assert_array_equal(ours.position, X_WB.position)
    np.testing.assert_array_equal(ours.quaternion, X_WB.quaternion)


def test_worlds_do_not_depend_on_each_other():
    times, X_WB = states(100)
    asked = np.array([3, 20, 21], np.int64)
    together, alone = interpolated(times, X_WB, asked), interpolated(times, X_WB[:, 70:71], asked)
    np.testing.assert_array_equal(together.quaternion[:, 70:71], alone.quaternion)


@pytest.mark.parametrize("angle", [1e-12, 1e-9, 1e-6, 0.1, 3.0])
def test_slerp_turns_evenly_at_every_angle(angle):
    """The chord keeps small angles exact, where the cosine of the angle between quaternions is 1."""
    qa, out = np.array([1.0, 0.0, 0.0, 0.0]), np.zeros(4)
    qb = np.array([np.cos(angle / 2), 0.0, np.sin(angle / 2), 0.0])
    for sign in (1.0, -1.0):  # the shorter way, whichever sign the quaternion has
        slerp(qa, sign * qb, 0.25, out)
        np.testing.assert_allclose(out, [np.cos(angle / 8), 0.0, np.sin(angle / 8), 0.0], rtol=1e-9, atol=1e-24)
