"""Several worlds on one clock."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError, WorldError
from sensorium.worlds import Joined, Kinematic, MuJoCo, Replay, Static, Track, World, check_state

FALLING = """
<mujoco>
  <option timestep="0.002" gravity="0 0 -3"/>
  <worldbody>
    <body name="ball" pos="0 0 5"><freejoint/><geom size="0.1"/><site name="top" pos="0 0 0.1"/></body>
    <body name="arm" pos="1 0 5"><joint name="hinge" axis="0 1 0"/><geom size="0.1" pos="0.5 0 0"/></body>
  </worldbody>
</mujoco>
"""


def walker(step_s=0.01):
    paths = {"walker": sn.paths.Line(start=(0, 1, 0), velocity=(2, 0, 0))}
    return Kinematic(paths, {"turn": sn.paths.JointLine(0.5, 3.0)}, step_s=step_s)


def recorded():
    return Replay({"ghost": Track([0.0, 1.0], sn.Pose([[0, 0, 0], [1, 0, 0]]))}, step_s=0.01)


def test_bodies_and_joints_of_all_parts_move_as_they_do_alone():
    world: World = Joined([MuJoCo(FALLING), walker()])
    assert world.body_names == ("ball", "arm", "walker")
    assert world.joint_names == ("hinge", "turn")
    assert world.step_ns == 10_000_000
    alone = MuJoCo(FALLING)
    world.start(2)
    alone.start(2)
    for k in range(1, 31):
        world.step()
        for _ in range(5):
            alone.step()
        state = world.state()
        check_state(state, world.body_names, world.joint_names)
        assert state.time_ns == world.time_ns == k * 10_000_000
    own = alone.state()
    assert np.array_equal(state.X_WB.position[:, :2], own.X_WB.position)
    assert np.array_equal(state.v_WB[:, :2], own.v_WB)
    assert np.array_equal(state.a_WB[:, :2], own.a_WB)
    assert np.array_equal(state.joint_position[:, :1], own.joint_position)
    assert np.allclose(state.X_WB.position[:, 2], (0.6, 1, 0))
    assert np.allclose(state.joint_position[:, 1], 0.5 + 0.9)
    assert np.allclose(state.joint_velocity[:, 1], 3.0)
    assert state.has_accelerations


def test_gravity_is_that_of_the_part_which_applies_one():
    world = Joined([walker(), MuJoCo(FALLING)])
    world.start(1)
    assert world.state().gravity_W.tolist() == [0, 0, -3]
    plain = Joined([walker(), Static({"desk": sn.Pose()})])
    plain.start(1)
    assert plain.state().gravity_W is None


def test_parts_with_different_gravity_keep_theirs():
    light = (
        FALLING.replace('gravity="0 0 -3"', 'gravity="0 0 -1"').replace("ball", "moon_ball").replace("arm", "moon_arm")
    )
    world = Joined([MuJoCo(FALLING), walker(), MuJoCo(light.replace("hinge", "moon_hinge"))])
    world.start(1)
    world.step()
    state = world.state()
    check_state(state, world.body_names, world.joint_names)
    assert state.gravity_W[0, :, 2].tolist() == [-3, -3, -3, -1, -1]

    # Each ball falls freely, and an accelerometer on it reads nothing
    env = sn.Environment(sn.Scene(), world)
    imus = [env.attach(sn.Accelerometer(), body=body, name=body) for body in ("ball", "moon_ball")]
    for _ in env.run(0.05):
        pass
    for imu in imus:
        assert np.allclose(imu.read().acceleration, 0.0, atol=1e-9)


def test_accelerations_are_known_if_all_parts_know_them():
    world = Joined([walker(), recorded()])
    world.start(1)
    state = world.state()
    assert (state.a_WB, state.alpha_WB, state.has_accelerations) == (None, None, False)
    check_state(state, world.body_names, world.joint_names)


def test_reset_restarts_every_part_and_time_goes_on():
    world = Joined([MuJoCo(FALLING), walker()])
    world.start(2)
    first = world.state()
    for _ in range(10):
        world.step()
    world.reset(np.array([True, False]))
    state = world.state()
    assert state.time_ns == 100_000_000
    assert np.array_equal(state.X_WB.position[0], first.X_WB.position[0])
    assert (state.X_WB.position[1, (0, 2)] != first.X_WB.position[1, (0, 2)]).any(axis=-1).all()


def test_sites_of_a_mujoco_part_are_mounts():
    world = Joined([walker(), MuJoCo(FALLING)])
    mount = world.site("top")
    assert mount["body"] == "ball"
    assert mount["pose"].position.tolist() == [0, 0, 0.1]
    with pytest.raises(SpecError, match="no site 'bottom'"):
        world.site("bottom")
    with pytest.raises(SpecError, match="none of the joined worlds has sites"):
        Joined([walker()]).site("top")


def test_what_users_may_not_do():
    with pytest.raises(SpecError, match="parts is empty"):
        Joined([])
    with pytest.raises(SpecError, match=r"parts\[0\] and parts\[1\] both have a body 'walker'; names must differ"):
        Joined([walker(), walker()])
    with pytest.raises(SpecError, match=r"parts\[0\] steps by 4000000 ns and all together by 10000000 ns"):
        Joined([walker(0.004), recorded()])
    with pytest.raises(WorldError, match="not started"):
        Joined([walker()]).state()
    part = walker()
    world = Joined([part, recorded()])
    world.start(1)
    part.step()
    with pytest.raises(WorldError, match=r"parts\[0\] is at 10000000 ns and the joined world at 0 ns"):
        world.state()


def test_joints_that_slide_are_those_of_the_parts():
    line = sn.paths.JointLine()
    first = sn.worlds.Kinematic({}, {"lift": line, "wheel": line}, slide_joints=("lift",))
    second = sn.worlds.Kinematic({}, {"drawer": line}, slide_joints=("drawer",))
    assert sn.worlds.Joined([first, sn.worlds.Static(), second]).slide_joints == ("lift", "drawer")
