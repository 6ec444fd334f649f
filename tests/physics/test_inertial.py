"""Inertial and magnetic sensors against closed forms (physics.md 6, 9, 11)."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Noise, Quantize, Saturate

G = 9.80665


def one_step(spec, path, *, step_s=0.01, pose=None, steps=1, **options):
    """The reading of a sensor on a path after some steps, and its handle."""
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"body": path}, step_s=step_s), **options)
    sensor = env.attach(spec, body="body", pose=pose)
    for _ in range(steps):
        env.step()
    return sensor.read()


@pytest.mark.parametrize("source", ["velocity", "engine"])
def test_at_rest_it_reads_up(source):
    reading = one_step(sn.Accelerometer(source=source), sn.paths.Fixed(sn.Pose()))
    np.testing.assert_allclose(reading.acceleration, (0, 0, G), atol=1e-12)


def test_the_papers_sign_on_request():
    reading = one_step(sn.Accelerometer(gravity_sign=1), sn.paths.Fixed(sn.Pose()))
    np.testing.assert_allclose(reading.acceleration, (0, 0, -G), atol=1e-12)


@pytest.mark.parametrize("source", ["velocity", "engine"])
def test_in_free_fall_it_reads_nothing(source):
    def falling(t):
        return sn.Pose(position=np.stack([2 * t, 0 * t, 100 - 0.5 * G * t * t], axis=-1))

    reading = one_step(sn.Accelerometer(source=source), sn.paths.Function(falling))
    np.testing.assert_allclose(reading.acceleration, 0, atol=1e-4 if source == "engine" else 1e-6)


@pytest.mark.parametrize("source", ["velocity", "engine"])
def test_on_an_arm_it_feels_the_centripetal_force(source):
    # w = (0, 0, 2), r = (0.5, 0, 0): (-2, 0, g)
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    spec = sn.Accelerometer(source=source, timing=sn.Timing(rate_hz=1e4))
    reading = one_step(spec, spin, pose=sn.Pose(position=(0.5, 0, 0)), step_s=1e-4)
    np.testing.assert_allclose(reading.acceleration, (-2, 0, G), rtol=1e-8, atol=1e-9)


def test_the_mean_over_a_step_of_a_circle_is_short_by_a_24th():
    # Relative error -(w dt)^2 / 24: -4.167e-4 at w dt = 0.1
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=10.0)
    reading = one_step(sn.Accelerometer(), spin, pose=sn.Pose(position=(0.5, 0, 0)), step_s=0.01)
    error = reading.acceleration[0] / -50.0 - 1
    assert error == pytest.approx(-(0.1**2) / 24, rel=2e-3)
    assert abs(reading.acceleration[1]) < 1e-9


def test_velocity_differences_are_of_second_order_about_the_middle_and_of_first_at_the_end():
    path = sn.paths.Circle(center=(0, 0, 0), radius=3.0, rate=1.3)
    pose = sn.Pose.from_euler_deg(position=(0.2, 0.1, -0.3), yaw=20, pitch=-30, roll=50)
    at_end, at_middle = [], []
    for step_s in (0.04, 0.02, 0.01):
        steps = round(0.4 / step_s)
        mean = one_step(
            sn.Accelerometer(timing=sn.Timing(rate_hz=1 / step_s)), path, pose=pose, step_s=step_s, steps=steps
        )
        end = one_step(sn.Accelerometer(source="engine"), path, pose=pose, step_s=0.4)
        middle = one_step(
            sn.Accelerometer(source="engine", timing=sn.Timing(rate_hz=1 / (0.4 - step_s / 2))),
            path,
            pose=pose,
            step_s=0.4 - step_s / 2,
        )
        at_end.append(np.linalg.norm(mean.acceleration - end.acceleration))
        at_middle.append(np.linalg.norm(mean.acceleration - middle.acceleration))
    end_orders = np.log2(np.array(at_end[:-1]) / at_end[1:])
    middle_orders = np.log2(np.array(at_middle[:-1]) / at_middle[1:])
    assert np.all(middle_orders > 1.9)
    assert np.all((end_orders > 0.9) | (np.array(at_end[1:]) < 1e-9))


def test_a_gyroscope_reads_the_rate_in_its_own_axes_wherever_it_sits():
    spin = sn.paths.Spin(position=(1, 2, 3), axis=(0, 0, 1), rate=0.7)
    pose = sn.Pose.from_euler_deg(position=(5, -4, 2), yaw=0, pitch=0, roll=90)
    reading = one_step(sn.Gyroscope(), spin, pose=pose)
    np.testing.assert_allclose(reading.angular_velocity, (0, 0.7, 0), atol=1e-12)


def test_a_gyroscope_feels_acceleration():
    # 0.1 deg/s/g = 1.7797e-4 (rad/s)/(m/s^2)
    sensitivity = np.deg2rad(0.1) / G
    assert sensitivity == pytest.approx(1.7797e-4, rel=1e-4)
    reading = one_step(sn.Gyroscope(g_sensitivity=sensitivity), sn.paths.Fixed(sn.Pose()))
    np.testing.assert_allclose(reading.angular_velocity, (0, 0, np.deg2rad(0.1)), atol=1e-15)
    matrix = ((0, 0, 1e-3), (0, 0, 0), (0, 0, 0))
    reading = one_step(sn.Gyroscope(g_sensitivity=matrix), sn.paths.Fixed(sn.Pose()))
    np.testing.assert_allclose(reading.angular_velocity, (1e-3 * G, 0, 0), atol=1e-15)


def test_a_magnetometer_reads_the_field_at_its_place_in_its_axes():
    uniform = sn.fields.UniformMagnetic((20e-6, 0, -44e-6))
    pose = sn.Pose.from_euler_deg(position=(0, 0, 0), yaw=90, pitch=0, roll=0)
    reading = one_step(sn.Magnetometer(), sn.paths.Fixed(sn.Pose()), pose=pose, magnetic=uniform)
    np.testing.assert_allclose(reading.magnetic_field, (0, -20e-6, -44e-6), atol=1e-18)

    dipole = sn.fields.MagneticDipole(moment=(0, 0, 1e3), position=(0, 0, 0))
    place = sn.Pose(position=(0, 0, 2.0))
    reading = one_step(sn.Magnetometer(), sn.paths.Fixed(sn.Pose()), pose=place, magnetic=dipole)
    np.testing.assert_allclose(reading.magnetic_field, (0, 0, 1e-7 * 2 * 1e3 / 8), rtol=1e-9)


def test_the_worlds_own_gravity_comes_before_the_environments():
    class Moon(sn.worlds.Static):
        def state(self):
            from dataclasses import replace

            return replace(super().state(), gravity_W=np.array([0.0, 0.0, -1.62]))

    env = sn.Environment(sn.Scene(), Moon({"rover": sn.Pose()}))
    accelerometer = env.attach(sn.Accelerometer(), body="rover")
    env.step()
    np.testing.assert_allclose(accelerometer.read().acceleration, (0, 0, 1.62), atol=1e-12)

    env = sn.Environment(sn.Scene(), gravity=sn.fields.PointMassGravity())
    accelerometer = env.attach(sn.Accelerometer(), pose=sn.Pose(position=(6378137.0, 0, 0)))
    env.step()
    np.testing.assert_allclose(accelerometer.read().acceleration, (9.7982872, 0, 0), rtol=1e-6)


# --- increments -------------------------------------------------------------------------------------------------------


def test_increments_run_over_every_step_between_samples():
    # An IMU at 10 Hz in a world at 1 kHz, turning: each increment is the integral, in the turning axes
    spec = sn.Imu(timing=sn.Timing(rate_hz=10.0), outputs=("delta_velocity", "delta_angle"))
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=3.0)
    reading = one_step(spec, spin, pose=sn.Pose(position=(0.5, 0, 0)), step_s=1e-3, steps=100)
    np.testing.assert_allclose(reading.delta_velocity, (-4.5 * 0.1, 0, G * 0.1), rtol=1e-5, atol=1e-9)
    np.testing.assert_allclose(reading.delta_angle, (0, 0, 0.3), atol=1e-12)
    assert reading.interval_s == pytest.approx(0.1)


def test_increments_of_a_coning_motion_compose_to_the_attitude():
    def coning(t):
        return sn.Pose.from_euler_deg(
            position=np.zeros((*np.shape(t), 3)), yaw=5 * np.sin(9 * t), pitch=5 * np.cos(9 * t), roll=40 * t
        )

    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"body": sn.paths.Function(coning)}, step_s=0.001))
    imu = env.attach(sn.Imu(timing=sn.Timing(rate_hz=50.0), outputs=("delta_angle",)), body="body")
    attitude = env.world.state().X_WB[0, 0]
    for _ in env.run(duration_s=1.0):
        if imu.fresh:
            attitude = attitude @ sn.Pose.exp((0, 0, 0), imu.read().delta_angle)
    assert attitude.almost_equal(env.world.state().X_WB[0, 0], atol=1e-9)


def test_rounding_of_the_rate_is_taken_from_the_increment():
    # a = 1.234, lsb 0.1 to zero, dt = 0.01: 1.2, and 0.01234 becomes 0.01200
    def pushed(t):
        return sn.Pose(position=np.stack([0.617 * t * t, 0 * t, 0 * t], axis=-1))

    group = {"quantization": Quantize(lsb=0.1, rounding="to_zero")}
    spec = sn.Imu(linear=group, outputs=("acceleration", "delta_velocity"))
    reading = one_step(spec, sn.paths.Function(pushed), steps=50)
    assert reading.acceleration[0] == pytest.approx(1.2, abs=1e-12)
    assert reading.delta_velocity[0] == pytest.approx(0.012, abs=1e-9)


def test_saturation_of_the_rate_is_taken_from_the_increment_on_saturated_axes_only():
    def pushed(t):
        return sn.Pose(position=np.stack([10.0 * t * t, 0 * t, 1.0 * t * t], axis=-1))

    spec = sn.Imu(linear={"saturation": Saturate(min=-16.0, max=16.0)}, outputs=("acceleration", "delta_velocity"))
    reading = one_step(spec, sn.paths.Function(pushed), steps=50)
    np.testing.assert_allclose(reading.acceleration, (16.0, 0, G + 2.0), atol=1e-5)
    np.testing.assert_allclose(reading.delta_velocity, (0.16, 0, 0.01 * (G + 2.0)), atol=1e-7)


def test_errors_of_a_rate_turn_the_increment():
    spec = sn.Imu(angular={"noise": Noise(bias=(0.0, 0.0, 0.2))}, outputs=("angular_velocity", "delta_angle"))
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(1, 0, 0), rate=1.0)
    reading = one_step(spec, spin)
    exact = sn.Pose.exp((0, 0, 0), (0.01, 0, 0)) @ sn.Pose.exp((0, 0, 0), (0, 0, 0.002))
    np.testing.assert_allclose(reading.delta_angle, exact.log()[1], atol=1e-12)


def shaken(t):
    """A body that vibrates along x: 50 m/s^2 at 3 Hz."""
    w = 2 * np.pi * 3.0
    return sn.Pose(position=np.stack([-50.0 / w**2 * np.sin(w * t), 0 * t, 0 * t], axis=-1))


@pytest.mark.parametrize(
    ("group", "most"),
    [
        ({"extra": (sn.corruption.Stuck(mode="off"),)}, 0.0),
        ({"saturation": Saturate.stuck_at(0.0)}, 0.0),
        ({"saturation": Saturate(min=-10.0, max=10.0)}, 10.0),
        ({"quantization": Quantize(lsb=1000.0)}, 0.0),
    ],
)
def test_increments_of_a_changing_signal_obey_what_the_rate_obeys(group, most):
    outputs = ("acceleration", "delta_velocity")
    spec = sn.Imu(linear=group, outputs=outputs, timing=sn.Timing(rate_hz=20.0))
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"body": sn.paths.Function(shaken)}, step_s=0.001))
    imu = env.attach(spec, body="body")
    for _ in env.run(duration_s=0.5):
        if imu.fresh:
            got = imu.read()
            assert np.abs(got.delta_velocity).max() <= most * got.interval_s + 1e-12
            np.testing.assert_allclose(got.delta_velocity, got.acceleration * got.interval_s, atol=1e-12)


def test_a_scale_error_scales_the_increment():
    outputs = ("delta_velocity",)
    specs = [sn.Imu(linear={"scale": {"error": e}}, outputs=outputs, timing=sn.Timing(rate_hz=20.0)) for e in (0, -0.5)]
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"body": sn.paths.Function(shaken)}, step_s=0.001))
    exact, half = (env.attach(spec, body="body", name=str(i)) for i, spec in enumerate(specs))
    for _ in env.run(duration_s=0.3):
        pass
    np.testing.assert_allclose(half.read().delta_velocity, 0.5 * exact.read().delta_velocity, rtol=1e-12)


def test_a_stuck_gyroscope_turns_by_nothing():
    path = sn.paths.Function(lambda t: sn.Pose.from_euler_deg(yaw=40 * np.sin(9 * t), pitch=0 * t, roll=10 * t))
    group = {"extra": (sn.corruption.Stuck(mode="off"),)}
    spec = sn.Imu(angular=group, outputs=("delta_angle",), timing=sn.Timing(rate_hz=50.0))
    reading = one_step(spec, path, step_s=0.002, steps=60)
    np.testing.assert_allclose(reading.delta_angle, 0, atol=1e-15)
