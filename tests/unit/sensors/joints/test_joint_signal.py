"""A joint's ideal position and velocity: exact at the world's states, straight lines between them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sensorium as sn
from sensorium.core.errors import SpecError, WorldError
from sensorium.sensors.joints.joint_signal import JointSignal

MS = 1_000_000


def environment(joints, step_s=0.01, worlds=None):
    bodies = {"base": sn.paths.Fixed(sn.Pose())}
    return sn.Environment(sn.Scene(), sn.worlds.Kinematic(bodies, joints, step_s=step_s), worlds=worlds)


def signal_of(env, joint="hinge", pose=None):
    """A joint's signal over the world's first step, both states of which are kept, and its number of rows."""
    rig = env.attach(sn.Encoder(), joint=joint, pose=pose).rig
    env.world.step()
    rig.history.add(env.world.state())
    return JointSignal(rig), rig.worlds * rig.sensors


def at(signal, rows, time_ns):
    out = np.full((rows, 2), np.nan)
    signal.sample(time_ns, out)
    return out


@given(start=st.floats(-50, 50), velocity=st.floats(-300, 300), time_ms=st.integers(0, 10_000))
@settings(max_examples=30, deadline=None)
def test_a_line_is_exact_at_any_instant(start, velocity, time_ms):
    env = environment({"hinge": sn.paths.JointLine(start, velocity)})
    signal, rows = signal_of(env)
    time_ns = time_ms * 1000  # 0 to 10 ms: within the step
    np.testing.assert_allclose(at(signal, rows, time_ns), [[start + velocity * time_ns * 1e-9, velocity]], atol=1e-12)


def test_between_states_a_sine_is_its_chord():
    amplitude, rate, step_s = 0.7, 9.0, 0.02
    env = environment({"hinge": sn.paths.JointSine(amplitude, rate)}, step_s=step_s)
    signal, rows = signal_of(env)

    # Exact at both states
    for t_s in (0.0, step_s):
        expected = [[amplitude * np.sin(rate * t_s), amplitude * rate * np.cos(rate * t_s)]]
        np.testing.assert_allclose(at(signal, rows, round(t_s * 1e9)), expected, atol=1e-14)

    # Off by no more than a chord can be: M h^2 / 8, M the largest second derivative
    t_s = np.arange(0.0, step_s, 0.0005)
    out = np.concatenate([at(signal, rows, round(t * 1e9)) for t in t_s])
    wrong = np.abs(out - np.stack([amplitude * np.sin(rate * t_s), amplitude * rate * np.cos(rate * t_s)], axis=1))
    assert (wrong.max(axis=0) < amplitude * np.array([rate**2, rate**3]) * step_s**2 / 8).all()
    assert (wrong.max(axis=0) > 0).all()
    np.testing.assert_allclose(np.diff(out, n=2, axis=0), 0.0, atol=1e-13)


def test_rows_are_worlds_and_then_sensors():
    starts, speeds = np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3])
    joints = {"other": sn.paths.JointLine(-9.0, 0.0), "hinge": sn.paths.JointLine(starts, speeds)}
    env = environment(joints, worlds=3)
    signal, rows = signal_of(env, pose=[sn.Pose(), sn.Pose()])
    assert rows == 6
    expected = np.stack([starts + speeds * 0.004, speeds], axis=1)
    np.testing.assert_allclose(at(signal, rows, 4 * MS), np.repeat(expected, 2, axis=0), atol=1e-14)


def test_it_fills_channels_of_a_wider_sample():
    env = environment({"hinge": sn.paths.JointLine(1.0, 2.0)})
    signal, _ = signal_of(env)
    wide = np.full((1, 4), 7.0)
    signal.sample(10 * MS, wide[:, :2])
    np.testing.assert_allclose(wide, [[1.02, 2.0, 7.0, 7.0]])


def test_a_time_that_the_history_lacks_is_an_error():
    env = environment({"hinge": sn.paths.JointLine(1.0, 2.0)})
    signal, rows = signal_of(env)
    with pytest.raises(WorldError, match="the history has 0 to 10000000 ns"):
        at(signal, rows, 10 * MS + 1)


@pytest.mark.parametrize("sensor", [sn.Encoder(), sn.Odometer(radius_m=0.1)])
def test_without_a_joint_there_is_nothing_to_measure(sensor):
    env = environment({"hinge": sn.paths.JointLine()})
    with pytest.raises(SpecError, match=rf"sensor '{sensor.kind}' measures a joint; attach it with joint="):
        env.attach(sensor)
    with pytest.raises(SpecError, match="the world has no joint 'elbow'; it has hinge"):
        env.attach(sensor, joint="elbow")
