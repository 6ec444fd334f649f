"""The check of a state: nothing that is not finite, nothing out of place."""

import dataclasses

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError, WorldError
from sensorium.core.frames import Pose
from sensorium.worlds.base import (
    WorldState,
    all_finite,
    check_state,
    checked_mask,
    checked_worlds,
    slides_of,
    step_length_ns,
)

BODIES, JOINTS = ("car", "ball", "door"), ("hinge", "wheel")


def state(**changes):
    vectors = {name: np.ones((2, 3, 3)) for name in ("v_WB", "w_WB", "a_WB", "alpha_WB")}
    joints = {name: np.ones((2, 2)) for name in ("joint_position", "joint_velocity")}
    good = WorldState(
        time_ns=70, X_WB=Pose().broadcast_to((2, 3)), gravity_W=np.array([0, 0, -9.8]), **vectors, **joints
    )
    return dataclasses.replace(good, **changes)


def one_bad(shape, index, value):
    array = np.zeros(shape)
    array[index] = value
    return array


def test_good_states_pass_also_without_accelerations_or_bodies():
    check_state(state(), BODIES, JOINTS)
    check_state(state(a_WB=None, alpha_WB=None, gravity_W=None), BODIES, JOINTS)
    check_state(state(v_WB=np.full((2, 3, 3), 1e308)), BODIES, JOINTS)  # finite, though the sum is not
    nothing = np.zeros((2, 0, 3))
    empty = WorldState(0, Pose(np.zeros((2, 0, 3))), nothing, nothing, np.zeros((2, 0)), np.zeros((2, 0)))
    check_state(empty, (), ())


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", ["v_WB", "w_WB", "a_WB", "alpha_WB"])
def test_the_message_names_quantity_body_world_and_time(name, value):
    bad = state(**{name: one_bad((2, 3, 3), (1, 2, 0), value)})
    with pytest.raises(WorldError, match=rf"{name} of 'door' in world 1 is {value} at 70 ns"):
        check_state(bad, BODIES, JOINTS)


@pytest.mark.parametrize("name", ["joint_position", "joint_velocity"])
def test_the_message_names_the_joint(name):
    bad = state(**{name: one_bad((2, 2), (0, 1), np.nan)})
    with pytest.raises(WorldError, match=rf"{name.replace('_', ' ')} of 'wheel' in world 0 is nan"):
        check_state(bad, BODIES, JOINTS)


def test_poses_that_are_not_finite_are_found():
    # An engine's arrays may reach the state without the checks of Pose's constructor
    position = one_bad((2, 3, 3), (0, 1, 2), np.nan)
    bad = state(X_WB=Pose._trusted(position, np.array(Pose().broadcast_to((2, 3)).quaternion)))
    with pytest.raises(WorldError, match="position of 'ball' in world 0 is nan"):
        check_state(bad, BODIES, JOINTS)


def test_gravity_that_is_not_finite_is_found():
    with pytest.raises(WorldError, match="gravity_W of 'the world' is inf"):
        check_state(state(gravity_W=np.array([0, np.inf, 0])), BODIES, JOINTS)


def test_gravity_may_be_that_on_each_body():
    check_state(state(gravity_W=np.ones((2, 3, 3))), BODIES, JOINTS)
    with pytest.raises(WorldError, match="gravity_W of 'ball' in world 1 is nan at 70 ns"):
        check_state(state(gravity_W=one_bad((2, 3, 3), (1, 1, 2), np.nan)), BODIES, JOINTS)
    with pytest.raises(WorldError, match=r"gravity_W has shape \(2, 1, 3\); this world's state must have \(2, 3, 3\)"):
        check_state(state(gravity_W=np.ones((2, 1, 3))), BODIES, JOINTS)


@pytest.mark.parametrize("name", ["v_WB", "a_WB", "joint_position", "gravity_W"])
def test_wrong_shapes_are_found(name):
    with pytest.raises(WorldError, match="has shape"):
        check_state(state(**{name: np.zeros((2, 5))}), BODIES, JOINTS)


@pytest.mark.parametrize("given", [None, {"time_ns": 0}])
def test_what_is_no_state_is_refused(given):
    with pytest.raises(WorldError, match=rf"state\(\) gave a {type(given).__name__}; it must give a sn\.worlds\.World"):
        check_state(given, BODIES, JOINTS)


def test_the_same_state_at_another_time():
    here = state()
    later = here.at(99)
    assert (here.time_ns, later.time_ns) == (70, 99)
    assert later.v_WB is here.v_WB
    assert later.X_WB is here.X_WB


def test_every_number_that_is_not_finite_is_seen():
    rng = np.random.default_rng(5)
    good = rng.normal(size=1001) * 10.0 ** rng.integers(-320, 300, 1001)
    good[:6] = (0.0, -0.0, 5e-324, -5e-324, 1.7976931348623157e308, -1.7976931348623157e308)
    assert all_finite(good)
    assert all_finite(np.zeros(0))
    for at in (0, 1, 500, 999, 1000):
        for value in (np.nan, -np.nan, np.inf, -np.inf):
            bad = good.copy()
            bad[at] = value
            assert not all_finite(bad)


def test_shared_checks():
    assert step_length_ns(0.01) == 10_000_000
    for call, says in (
        (lambda: step_length_ns(0.0), "step_s is 0.0"),
        (lambda: checked_worlds(0), "worlds is 0"),
        (lambda: checked_worlds(1.5), "worlds is 1.5"),
        (lambda: checked_mask(np.zeros(3), 3), "mask is float64"),
        (lambda: checked_mask(np.zeros(2, dtype=bool), 3), "must be bool of shape"),
    ):
        with pytest.raises(SpecError, match=says):
            call()


def test_joints_that_slide_must_be_joints():
    line = sn.paths.JointLine()
    with pytest.raises(SpecError, match="slide_joints has 'left'; it must be one of the joints, lift"):
        sn.worlds.Kinematic({}, {"lift": line}, slide_joints=("left",))
    with pytest.raises(SpecError, match="slide_joints is the string 'lift'"):
        sn.worlds.Kinematic({}, {"lift": line}, slide_joints="lift")


def test_a_world_that_does_not_tell_has_joints_that_turn():
    class Plain:
        joint_names = ("a", "b")

    assert slides_of(Plain()) == ()
    told = Plain()
    told.slide_joints = ("b",)
    assert slides_of(told) == ("b",)
