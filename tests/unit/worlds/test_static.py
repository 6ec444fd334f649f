"""A world in which only time passes."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError, WorldError
from sensorium.core.frames import Pose
from sensorium.worlds import Static, World, check_state


def test_bodies_stay_while_the_clock_runs():
    world: World = Static({"desk": Pose((1, 2, 3)), "lamp": Pose((4, 5, 6), (0, 0, 0, 1))}, step_s=0.02)
    world.start(3)
    for k in range(4):
        state = world.state()
        check_state(state, world.body_names, world.joint_names)
        assert state.time_ns == world.time_ns == k * 20_000_000
        assert state.X_WB.shape == (3, 2)
        assert state.X_WB[2, 1] == Pose((4, 5, 6), (0, 0, 0, 1))
        assert not np.any([state.v_WB, state.w_WB, state.a_WB, state.alpha_WB])
        world.step()


def test_each_world_may_have_its_own_pose():
    world = Static({"desk": Pose([[0, 0, 0], [1, 0, 0]])})
    world.start(2)
    assert world.state().X_WB.position[:, 0, 0].tolist() == [0, 1]
    with pytest.raises(WorldError, match=r"'desk' has shape \(2,\); it must be \(\) or \(3,\)"):
        world.start(3)


def test_no_bodies_at_all():
    world = Static()
    world.start(2)
    assert world.state().X_WB.shape == (2, 0)
    check_state(world.state(), (), ())


def test_reset_changes_nothing_but_checks_its_mask():
    world = Static({"desk": Pose()})
    world.start(2)
    world.step()
    world.reset(np.array([True, False]))
    assert world.state().time_ns == 10_000_000
    with pytest.raises(SpecError, match="mask is"):
        world.reset(np.array([True]))


def test_what_users_may_not_do():
    with pytest.raises(WorldError, match="not started"):
        Static().state()
    with pytest.raises(SpecError, match="body 'desk' has"):
        Static({"desk": (0, 0, 0)})
    with pytest.raises(SpecError, match="a body is named ''"):
        Static({"": Pose()})
