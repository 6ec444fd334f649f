"""Bodies that move as they are told."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError, WorldError


def started(worlds=1, **options):
    world = sn.worlds.Commanded({"car": sn.Pose((1.0, 0.0, 0.0)), "still": sn.Pose()}, step_s=0.1, **options)
    world.start(worlds)
    return world


def test_a_car_that_drives_and_turns_goes_round_a_circle():
    world = started()
    world.command("car", velocity=(3.0, 0.0, 0.0), angular_velocity=(0.0, 0.0, 0.5))
    for _ in range(20):
        world.step()
    angle = 0.5 * 2.0
    state = world.state()
    circle = np.array([1.0 + 6.0 * np.sin(angle), 6.0 * (1.0 - np.cos(angle)), 0.0])
    np.testing.assert_allclose(state.X_WB.position[0, 0], circle, atol=1e-12)
    np.testing.assert_allclose(state.v_WB[0, 0], 3.0 * np.array([np.cos(angle), np.sin(angle), 0.0]), atol=1e-12)
    np.testing.assert_allclose(state.w_WB[0, 0], [0.0, 0.0, 0.5], atol=1e-12)
    np.testing.assert_array_equal(state.X_WB.position[0, 1], 0.0)


def test_commands_hold_and_worlds_have_their_own():
    world = started(worlds=2, velocities={"car": (1.0, 0.0, 0.0)})
    world.step()
    world.command("car", velocity=[(2.0, 0.0, 0.0), (4.0, 0.0, 0.0)])
    world.step()
    world.step()
    np.testing.assert_allclose(world.state().X_WB.position[:, 0, 0], [1.5, 1.9])
    world.reset(np.array([True, False]))
    state = world.state()
    np.testing.assert_allclose(state.X_WB.position[:, 0, 0], [1.0, 1.9])
    np.testing.assert_allclose(state.v_WB[:, 0, 0], [1.0, 4.0])
    assert state.time_ns == 300_000_000
    assert not state.has_accelerations


def test_an_imu_on_it_feels_what_is_commanded():
    world = sn.worlds.Commanded({"car": sn.Pose()}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world)
    imu = env.attach(sn.Imu(timing=sn.Timing(rate_hz=100.0)), body="car")
    for step in range(50):
        world.command("car", velocity=(0.02 * step, 0.0, 0.0))
        env.step()
    np.testing.assert_allclose(imu.read().acceleration, [2.0, 0.0, 9.80665], atol=1e-6)


def test_bad_commands_are_refused():
    world = started()
    with pytest.raises(SpecError, match="body is 'van'; the bodies are car, still"):
        world.command("van", velocity=(0.0, 0.0, 0.0))
    with pytest.raises(SpecError, match="velocity of 'car' is"):
        world.command("car", velocity=(np.nan, 0.0, 0.0))
    with pytest.raises(SpecError, match="velocities names 'van'"):
        sn.worlds.Commanded({"car": sn.Pose()}, velocities={"van": (0, 0, 0)})
    with pytest.raises(WorldError, match="not started"):
        sn.worlds.Commanded({"car": sn.Pose()}).command("car", velocity=(0.0, 0.0, 0.0))
