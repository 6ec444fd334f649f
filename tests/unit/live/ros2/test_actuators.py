"""JointState and Float64MultiArray set the controls of MuJoCo's actuators."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.live.ros2.commands import JOINTS, NUMBERS, Commands
from sensorium.live.ros2.options import ZenohOptions
from sensorium.pacing import RunClock
from sensorium.record.ros2.message import header

ARM = """<mujoco><option timestep="0.01"/><worldbody>
  <body name="upper"><joint name="shoulder" axis="0 0 1"/><geom size="0.1"/>
    <body name="lower" pos="1 0 0"><joint name="elbow" axis="0 0 1"/><geom size="0.1"/>
      <body name="hand" pos="1 0 0"><joint name="wrist" axis="0 0 1"/><geom size="0.1"/></body></body></body>
</worldbody><actuator>
  <position name="servo" joint="shoulder" kp="10"/><velocity name="wheel" joint="elbow" kv="3"/>
  <motor name="torque" joint="wrist"/>
</actuator></mujoco>"""


@pytest.fixture
def arm():
    world = sn.worlds.MuJoCo(ARM)
    env, clock = sn.Environment(world.scene(), world, worlds=2), RunClock()
    clock.begin(env.time_ns, env.reset)
    return world, clock, Commands(env, clock, ZenohOptions())


def joints(name, position=(), velocity=(), effort=()) -> dict:
    arrays = {"position": position, "velocity": velocity, "effort": effort}
    numbers = {part: np.array(values, np.float64) for part, values in arrays.items()}
    return {"header": header(0, ""), "name": list(name), **numbers}


def array(values) -> dict:
    return {"layout": {"dim": [], "data_offset": 0}, "data": np.array(values, np.float64)}


def test_an_array_sets_all_actuators_in_all_worlds(order, arm):
    world, clock, commands = arm
    order(commands, "/actuator_commands", NUMBERS, array([1.0, 2.0, 3.0]))
    clock.wait_for_step()
    for data in world.data:
        np.testing.assert_array_equal(data.ctrl, (1.0, 2.0, 3.0))


def test_each_joint_takes_what_its_actuator_is_for(order, arm):
    world, clock, commands = arm
    fields = joints(("wrist", "servo", "elbow"), (1.0, 2.0, 3.0), (4.0, 5.0, 6.0), (7.0, 8.0, 9.0))
    order(commands, "/joint_commands", JOINTS, fields)
    clock.wait_for_step()
    np.testing.assert_array_equal(world.data[1].ctrl, (2.0, 6.0, 7.0))
    order(commands, "/joint_commands", JOINTS, joints(("shoulder",), (0.5,)))
    clock.wait_for_step()
    np.testing.assert_array_equal(world.data[0].ctrl, (0.5, 6.0, 7.0))
    assert (commands.applied, commands.refused) == (2, 0)


@pytest.mark.parametrize(
    ("topic", "kind", "fields", "reason"),
    [
        ("/actuator_commands", NUMBERS, array([1.0, 2.0]), "3 actuators"),
        ("/actuator_commands", NUMBERS, array([1.0, np.nan, 2.0]), "must be finite"),
        ("/joint_commands", JOINTS, joints((), ()), "name is empty"),
        ("/joint_commands", JOINTS, joints(("knee",), (1.0,)), "'knee'"),
        ("/joint_commands", JOINTS, joints(("shoulder",), (), (1.0,)), "takes position"),
        ("/joint_commands", JOINTS, joints(("wrist",), (1.0,)), "takes effort"),
        ("/joint_commands", JOINTS, joints(("shoulder",), (np.inf,)), "must be finite"),
    ],
)
def test_other_commands_are_refused_and_change_nothing(order, arm, topic, kind, fields, reason):
    world, clock, commands = arm
    order(commands, topic, kind, fields)
    clock.wait_for_step()
    assert (commands.applied, commands.refused) == (0, 1)
    assert reason in commands.error
    np.testing.assert_array_equal(world.data[0].ctrl, 0.0)


def test_a_model_without_actuators_takes_no_such_commands():
    env = sn.Environment.from_mujoco("<mujoco><worldbody><geom size='1'/></worldbody></mujoco>")
    commands = Commands(env, RunClock(), ZenohOptions())
    assert {topic.name for topic in commands.topics} == {f"/sensorium/{word}" for word in ("fault", "control", "speed")}
