"""States made of one array of numbers are like any other."""

import dataclasses
import pickle

import numpy as np
import pytest

from sensorium.core.errors import WorldError
from sensorium.core.frames import Pose
from sensorium.worlds.base import WorldState, check_state
from sensorium.worlds.state_layout import StateLayout

BODIES, JOINTS = ("car", "ball", "door"), ("hinge", "wheel")
LAYOUT = StateLayout(2, 3, 2)
ARRAYS = ("v_WB", "w_WB", "a_WB", "alpha_WB", "joint_position", "joint_velocity")


def plain(seed=1, **changes):
    rng = np.random.default_rng(seed)
    vectors = {name: rng.normal(size=(2, 3, 3)) for name in ARRAYS[:4]}
    joints = {name: rng.normal(size=(2, 2)) for name in ARRAYS[4:]}
    X_WB = Pose(rng.normal(size=(2, 3, 3)), rng.normal(size=(2, 3, 4)))
    return WorldState(**{"time_ns": 70, "X_WB": X_WB, **vectors, **joints, **changes})


def packed(**options):
    return LAYOUT.state(70, plain().numbers.copy(), **options)


def test_numbers_are_the_arrays_one_behind_the_other():
    whole = plain(a_WB=None)
    p, q, v, w, a, alpha, joints, speeds = LAYOUT.views(whole.numbers)
    np.testing.assert_array_equal(p, whole.X_WB.position)
    np.testing.assert_array_equal(q, whole.X_WB.quaternion)
    np.testing.assert_array_equal([v, w, alpha], [whole.v_WB, whole.w_WB, whole.alpha_WB])
    np.testing.assert_array_equal([joints, speeds], [whole.joint_position, whole.joint_velocity])
    assert not a.any()
    assert whole.numbers.shape == (LAYOUT.size,)

    # A state with other arrays has other numbers
    changed = dataclasses.replace(whole, v_WB=np.full((2, 3, 3), 5.0))
    np.testing.assert_array_equal(LAYOUT.views(changed.numbers)[2], 5.0)


@pytest.mark.parametrize("late", [False, True])
def test_a_state_of_numbers_has_the_arrays_they_were_made_of(late):
    gravity_W = np.array([0, 0, -9.8])
    state, source = packed(gravity_W=gravity_W), plain()
    if late:
        state = pickle.loads(pickle.dumps(state.at(99)))
        assert state.time_ns == 99
    check_state(state, BODIES, JOINTS)
    assert state.X_WB == source.X_WB
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(state, name), getattr(source, name))
    np.testing.assert_array_equal(state.gravity_W, gravity_W)
    assert state.has_accelerations
    assert state.v_WB is state.v_WB
    assert "v_WB=array" in repr(state)


def test_accelerations_may_be_unknown():
    state = packed(accelerations=False)
    assert state.a_WB is state.alpha_WB is None
    assert not state.has_accelerations
    check_state(state, BODIES, JOINTS)
    assert plain().has_accelerations
    assert not plain(alpha_WB=None).has_accelerations


def test_a_state_of_numbers_cannot_be_written():
    state = packed()
    for array in (state.numbers, state.X_WB.position, state.X_WB.quaternion, *(getattr(state, n) for n in ARRAYS)):
        with pytest.raises(ValueError, match="read-only"):
            array[...] = 0.0
    with pytest.raises(dataclasses.FrozenInstanceError):
        state.time_ns = 3


def test_a_changed_copy_is_changed_everywhere_and_checked_anew():
    state = packed()
    np.testing.assert_array_equal(state.v_WB, plain().v_WB)
    changed = dataclasses.replace(state, v_WB=np.ones((2, 3, 3)), a_WB=None)
    np.testing.assert_array_equal(LAYOUT.views(changed.numbers)[2], 1.0)
    np.testing.assert_array_equal(changed.w_WB, state.w_WB)
    assert not changed.has_accelerations
    with pytest.raises(WorldError, match="v_WB has shape"):
        check_state(dataclasses.replace(state, v_WB=np.ones((2, 2, 3))), BODIES, JOINTS)
    with pytest.raises(WorldError, match="v_WB of 'car' in world 0 is nan"):
        check_state(dataclasses.replace(state, v_WB=np.full((2, 3, 3), np.nan)), BODIES, JOINTS)


def test_numbers_of_another_world_or_not_finite_are_found():
    with pytest.raises(WorldError, match="position has shape"):
        check_state(packed(), BODIES[:2], JOINTS)
    with pytest.raises(WorldError, match="joint position has shape"):
        check_state(packed(), BODIES, JOINTS[:1])
    with pytest.raises(WorldError, match="gravity_W has shape"):
        check_state(packed(gravity_W=np.zeros(4)), BODIES, JOINTS)
    for block, name in enumerate(("position", "quaternion", "velocity", "angular velocity")):
        numbers = plain().numbers.copy()
        LAYOUT.views(numbers)[block][1, 2, 0] = np.inf
        with pytest.raises(WorldError, match=f"the {name}.* of 'door' in world 1 is inf at 70 ns"):
            check_state(LAYOUT.state(70, numbers), BODIES, JOINTS)
