"""Recorded joints."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.worlds import JointTrack

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
