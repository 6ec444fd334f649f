"""Commands move worlds, switch faults and control the run; bad ones are refused and counted."""

import math
import random
import threading

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.ros2.commands import (
    ACKERMANN,
    ACKERMANN_STAMPED,
    NUMBER,
    TEXT,
    TWIST,
    TWIST_STAMPED,
    Commands,
    ackermann_motion,
)
from sensorium.live.ros2.options import ZenohOptions
from sensorium.pacing import RunClock
from sensorium.record.ros2.message import header, vector


def twist(linear=(0.0, 0.0, 0.0), angular=(0.0, 0.0, 0.0)) -> dict:
    return {"linear": vector(linear), "angular": vector(angular)}


def drive(speed: float, steering: float) -> dict:
    rest = dict.fromkeys(("steering_angle_velocity", "acceleration", "jerk"), 0.0)
    return {"steering_angle": steering, "speed": speed, **rest}


def set_up(world, **options) -> tuple[sn.Environment, RunClock, Commands]:
    env, clock = sn.Environment(sn.Scene(), world), RunClock()
    clock.begin(env.time_ns, env.reset)
    return env, clock, Commands(env, clock, ZenohOptions(**options))


def step(env: sn.Environment, clock: RunClock) -> None:
    """As a run does."""
    assert clock.wait_for_step()
    env.step()


def test_a_twist_moves_the_only_body_from_the_next_step_on(order):
    env, clock, commands = set_up(sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.5))
    order(commands, "/cmd_vel", TWIST, twist((2.0, 0.0, 0.0), (0.0, 0.0, math.pi)))
    assert commands.applied == 0, "a command waits for the step"
    step(env, clock)
    assert commands.applied == 1
    radius = 2.0 / math.pi
    np.testing.assert_allclose(env.state.X_WB.position[0, 0], (radius, radius, 0.0), atol=1e-12)
    fields = {"header": header(0, ""), "twist": twist((0.0, 1.0, 0.0))}
    order(commands, "/car/cmd_vel", TWIST_STAMPED, fields)
    step(env, clock)
    np.testing.assert_allclose(env.state.X_WB.position[0, 0], (radius - 0.5, radius, 0.0), atol=1e-12)


def test_several_bodies_have_topics_of_their_own_in_a_joined_world_too(order):
    cars = sn.worlds.Commanded({"car 1": sn.Pose(), "car 2": sn.Pose()}, step_s=0.1)
    world = sn.worlds.Joined([cars, sn.worlds.Static({"tree": sn.Pose()}, step_s=0.1)])
    env, clock, commands = set_up(world)
    assert "/cmd_vel" not in [topic.name for topic in commands.topics]
    order(commands, "/car_2/cmd_vel", TWIST, twist((1.0, 0.0, 0.0)))
    step(env, clock)
    np.testing.assert_allclose(env.state.X_WB.position[0, :, 0], (0.0, 0.1, 0.0))


def test_ackermann_commands_follow_the_single_track_model(order):
    env, clock, commands = set_up(sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.01), wheelbase_m=2.5)
    steering = 0.3
    order(commands, "/ackermann_cmd", ACKERMANN, drive(5.0, steering))
    for _ in range(100):
        step(env, clock)

    # The rear axle runs on a circle about the point where both axles' normals meet
    radius = 2.5 / math.tan(steering)
    position = env.state.X_WB.position[0, 0]
    assert np.hypot(position[0], position[1] - radius) == pytest.approx(radius, rel=1e-6)
    order(commands, "/ackermann_cmd", ACKERMANN_STAMPED, {"header": header(0, ""), "drive": drive(0.0, 0.0)})
    step(env, clock)
    np.testing.assert_allclose(env.state.v_WB, 0.0)


def test_ackermann_needs_a_wheelbase(order):
    env, clock, commands = set_up(sn.worlds.Commanded({"car": sn.Pose()}))
    order(commands, "/ackermann_cmd", ACKERMANN, drive(5.0, 0.1))
    step(env, clock)
    assert (commands.applied, commands.refused) == (0, 1)
    assert "wheelbase_m is not set" in commands.error


@pytest.mark.parametrize(("speed", "steering"), [(np.nan, 0.0), (np.inf, 0.0), (1.0, np.nan), (1.0, 1.58)])
def test_impossible_steering_is_refused(speed, steering):
    with pytest.raises(SpecError, match="the speed must be finite"):
        ackermann_motion(speed, steering, 2.0)


def test_commands_that_are_not_finite_are_refused_and_the_last_one_stays(order):
    env, clock, commands = set_up(sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.1))
    order(commands, "/cmd_vel", TWIST, twist((1.0, 0.0, 0.0)))
    order(commands, "/cmd_vel", TWIST, twist((np.nan, 0.0, 0.0)))
    order(commands, "/cmd_vel", TWIST, twist((3.0, 0.0, 0.0), (0.0, np.inf, 0.0)))
    order(commands, "/cmd_vel", TWIST, twist((1e200, 0.0, 0.0)))
    step(env, clock)
    assert (commands.applied, commands.refused) == (1, 3)
    assert "/cmd_vel was refused" in commands.error
    np.testing.assert_allclose(env.state.v_WB[0, 0], (1.0, 0.0, 0.0))


def test_random_bytes_never_raise():
    env, clock, commands = set_up(sn.worlds.Commanded({"car": sn.Pose()}))
    pick = random.Random(1)
    for _ in range(300):
        topic = pick.choice([one for one in commands.topics if not one.name.endswith("control")])
        commands.receive(topic, b"\x00\x01\x00\x00" + pick.randbytes(pick.randint(0, 80)))
        if pick.random() < 0.1:
            step(env, clock)
    step(env, clock)
    assert commands.refused > 100


def test_more_commands_than_can_wait_are_refused(order):
    env, clock, commands = set_up(sn.worlds.Commanded({"car": sn.Pose()}))
    for _ in range(300):
        order(commands, "/cmd_vel", TWIST, twist())
    step(env, clock)
    assert (commands.applied, commands.refused) == (256, 44)
    order(commands, "/cmd_vel", TWIST, twist())
    step(env, clock)
    assert commands.applied == 257


def imu_with_fault() -> sn.Imu:
    fault = sn.corruption.Fault(sn.corruption.Stuck(mode="value", value=7.0), start_s=1e6, name="stuck")
    schedule = sn.corruption.FaultSchedule(faults=[fault])
    return sn.Imu(timing=sn.Timing(rate_hz=100.0), faults=schedule)


def test_faults_are_switched(order):
    env, clock, commands = set_up(sn.worlds.Static(step_s=0.01))
    imu = env.attach(imu_with_fault())
    step(env, clock)
    order(commands, "/sensorium/fault", TEXT, {"data": "imu: stuck on"})
    step(env, clock)
    step(env, clock)
    np.testing.assert_allclose(imu.read().acceleration, 7.0)
    assert imu.faults.log.at(env.time_ns) == ("stuck",)
    order(commands, "/sensorium/fault", TEXT, {"data": "imu: stuck off"})
    step(env, clock)
    step(env, clock)
    assert imu.faults.log.at(env.time_ns) == ()
    assert (commands.applied, commands.refused) == (2, 0)


@pytest.mark.parametrize(
    "text", ["", "imu stuck on", "imu: stuck", "gps: stuck on", "imu: broken on", "imu: stuck maybe"]
)
def test_other_faults_are_refused(order, text):
    env, clock, commands = set_up(sn.worlds.Static(step_s=0.01))
    env.attach(imu_with_fault())
    order(commands, "/sensorium/fault", TEXT, {"data": text})
    step(env, clock)
    assert (commands.applied, commands.refused) == (0, 1)


def test_the_run_is_controlled_while_it_waits(order):
    env, clock, commands = set_up(sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.1), node="sim")
    say = "/sim/control"
    order(commands, say, TEXT, {"data": "pause"})
    assert clock.paused
    order(commands, say, TEXT, {"data": "step"})
    step(env, clock)
    order(commands, "/cmd_vel", TWIST, twist((1.0, 0.0, 0.0)))
    order(commands, say, TEXT, {"data": "step"})
    step(env, clock)
    assert env.state.X_WB.position[0, 0, 0] == pytest.approx(0.1)
    waiting = threading.Thread(target=clock.wait_for_step, daemon=True)
    waiting.start()
    order(commands, say, TEXT, {"data": "reset"})
    order(commands, say, TEXT, {"data": "resume"})
    waiting.join(5.0)
    assert not waiting.is_alive()
    assert not clock.paused
    assert env.state.X_WB.position[0, 0, 0] == 0.0
    order(commands, "/sim/speed", NUMBER, {"data": 0.25})
    assert clock.speed == 0.25
    refused = commands.refused
    for wrong in (0.0, -1.0, np.nan, np.inf):
        order(commands, "/sim/speed", NUMBER, {"data": wrong})
    order(commands, say, TEXT, {"data": "explode"})
    assert commands.refused - refused == 5
    assert clock.speed == 0.25
