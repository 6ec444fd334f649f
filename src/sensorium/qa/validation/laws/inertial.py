"""Inertial, magnetic and air-pressure sensors against closed forms."""

from typing import Any

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.sensors.barometer import pressure_at
from sensorium.sensors.inertial.triaxial import LinearGroup

INERTIAL = Family("Inertial sensors")

_G = 9.80665


def _reading(spec: Any, path: Any, *, step_s: float = 0.01, pose: Any = None, steps: int = 1, **options: Any) -> Any:
    """Readings of a sensor on a path after some steps."""
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"body": path}, step_s=step_s), **options)
    sensor = env.attach(spec, body="body", pose=pose)
    for _ in range(steps):
        env.step()
    return sensor.read()


@INERTIAL.check(
    "specific-force",
    "An accelerometer reads +g at rest, 0 in free fall, and (-2, 0, g) half a meter off the axis of 2 rad/s.",
    reference="physics.md 6, E-17: a - g",
    absolute=1e-6,
)
def _force(quick: bool) -> Comparison:
    def falling(t: Any) -> sn.Pose:
        return sn.Pose(position=np.stack([2 * t, 0 * t, 100 - 0.5 * _G * t * t], axis=-1))

    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=2.0)
    arm = sn.Pose(position=(0.5, 0, 0))
    fast = sn.Accelerometer(timing=sn.Timing(rate_hz=1e4))
    found = [
        *_reading(sn.Accelerometer(), sn.paths.Fixed(sn.Pose())).acceleration,
        *_reading(sn.Accelerometer(), sn.paths.Function(falling)).acceleration,
        *_reading(fast, spin, pose=arm, step_s=1e-4).acceleration,
    ]
    expected = [0, 0, _G, 0, 0, 0, -2, 0, _G]
    return Comparison(found, expected, x=Axis("at rest, falling, on an arm"), y=Axis("specific force [m/s^2]"))


@INERTIAL.check(
    "mean-over-a-step",
    "Differences of velocity on a circle are short by (w dt)^2 / 24, as the mean over a chord must be.",
    reference="physics.md 6: -4.167e-4 at w dt = 0.1",
    relative=3e-3,
)
def _mean(quick: bool) -> Comparison:
    steps = np.array([0.002, 0.005, 0.01])
    found = []
    for step_s in steps:
        spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=10.0)
        spec = sn.Accelerometer(timing=sn.Timing(rate_hz=1.0 / step_s))
        reading = _reading(spec, spin, pose=sn.Pose(position=(0.5, 0, 0)), step_s=float(step_s))
        found.append(1.0 - reading.acceleration[0] / -50.0)
    x, y = Axis("step [s]", log=True), Axis("relative shortfall", log=True)
    return Comparison(found, (10.0 * steps) ** 2 / 24, at=steps, x=x, y=y)


@INERTIAL.check(
    "gyroscope",
    "A gyroscope reads the rate in its own axes wherever it sits, and its g-sensitivity adds 0.1 deg/s at 1 g.",
    reference="physics.md 6: 0.1 deg/s/g = 1.7797e-4 (rad/s)/(m/s^2)",
    absolute=1e-9,
)
def _gyroscope(quick: bool) -> Comparison:
    spin = sn.paths.Spin(position=(1, 2, 3), axis=(0, 0, 1), rate=0.7)
    pose = sn.Pose.from_euler_deg(position=(5, -4, 2), yaw=0, pitch=0, roll=90)
    turning = _reading(sn.Gyroscope(), spin, pose=pose).angular_velocity
    sensitive = sn.Gyroscope(g_sensitivity=np.deg2rad(0.1) / _G)
    resting = _reading(sensitive, sn.paths.Fixed(sn.Pose())).angular_velocity
    expected = [0, 0.7, 0, 0, 0, np.deg2rad(0.1)]
    return Comparison([*turning, *resting], expected, y=Axis("rate [rad/s]"))


@INERTIAL.check(
    "increments",
    "Increments run over every step between samples, in turning axes, and compose to the attitude of a coning motion.",
    reference="physics.md 9, integrated outputs: the integral of a, and log(R1^T R2)",
    absolute=1e-5,
)
def _increments(quick: bool) -> Comparison:
    spec = sn.Imu(timing=sn.Timing(rate_hz=10.0), outputs=("delta_velocity", "delta_angle"))
    spin = sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=3.0)
    once = _reading(spec, spin, pose=sn.Pose(position=(0.5, 0, 0)), step_s=1e-3, steps=100)
    found = [*once.delta_velocity, *once.delta_angle]
    expected = [-4.5 * 0.1, 0, _G * 0.1, 0, 0, 0.3]

    def coning(t: Any) -> sn.Pose:
        position = np.zeros((*np.shape(t), 3))
        return sn.Pose.from_euler_deg(position, yaw=5 * np.sin(9 * t), pitch=5 * np.cos(9 * t), roll=40 * t)

    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"body": sn.paths.Function(coning)}, step_s=0.002))
    imu = env.attach(sn.Imu(timing=sn.Timing(rate_hz=50.0), outputs=("delta_angle",)), body="body")
    attitude = env.world.state().X_WB[0, 0]
    for _ in env.run(duration_s=0.3):
        if imu.fresh:
            attitude = attitude @ sn.Pose.exp((0, 0, 0), imu.read().delta_angle)
    left = attitude.inverse() @ env.world.state().X_WB[0, 0]
    found += list(left.log()[1])
    return Comparison(found, expected + [0, 0, 0], y=Axis("increments [m/s, rad]"))


@INERTIAL.check(
    "discretized-increments",
    "A rate discretized to zero takes what it lost from the increment: 1.234 becomes 1.2, and 0.01234 0.01200.",
    reference="physics.md 9, integrated outputs (R12)",
    absolute=1e-7,
)
def _discretized(quick: bool) -> Comparison:
    def pushed(t: Any) -> sn.Pose:
        return sn.Pose(position=np.stack([0.617 * t * t, 0 * t, 0 * t], axis=-1))

    group = LinearGroup(quantization=sn.corruption.Quantize(lsb=0.1, rounding="to_zero"))
    spec = sn.Imu(linear=group, outputs=("acceleration", "delta_velocity"))
    reading = _reading(spec, sn.paths.Function(pushed), steps=50)
    found = [reading.acceleration[0], reading.delta_velocity[0]]
    return Comparison(found, [1.2, 0.012], y=Axis("m/s^2, m/s"))


@INERTIAL.check(
    "magnetometer",
    "A magnetometer reads the field at its place in its own axes, of a uniform field and of a dipole.",
    reference="physics.md 6: mu_0 / 4 pi (3 (m.r) r - m) / r^3",
    relative=1e-9,
    absolute=1e-15,
)
def _magnetometer(quick: bool) -> Comparison:
    still = sn.paths.Fixed(sn.Pose())
    uniform = sn.fields.UniformMagnetic((20e-6, 0, -44e-6))
    turned = sn.Pose.from_euler_deg(position=(0, 0, 0), yaw=90, pitch=0, roll=0)
    dipole = sn.fields.MagneticDipole(moment=(0, 0, 1e3), position=(0, 0, 0))
    found = [
        *_reading(sn.Magnetometer(), still, pose=turned, magnetic=uniform).magnetic_field,
        *_reading(sn.Magnetometer(), still, pose=sn.Pose(position=(0, 0, 2.0)), magnetic=dipole).magnetic_field,
    ]
    return Comparison(found, [0, -20e-6, -44e-6, 0, 0, 2.5e-5], y=Axis("field [T]"))


@INERTIAL.check(
    "barometer",
    "Pressure falls as the standard atmosphere has it: 89,874.6 Pa at 1000 m, and the air carries its own weight.",
    reference="physics.md 13; ISO 2533; hydrostatics dp/dh = -g p / (R T)",
    relative=3e-5,
)
def _barometer(quick: bool) -> Comparison:
    height = np.linspace(0.0, 10_000.0, 21)
    slope = pressure_at(height + 0.5) - pressure_at(height - 0.5)
    weight = -_G * pressure_at(height) / (287.05287 * (288.15 - 0.0065 * height))
    rising = sn.paths.Fixed(sn.Pose((0.0, 0.0, 1000.0)))
    reading = _reading(sn.Barometer(), rising, step_s=0.1)
    found = np.concatenate([slope / weight, [reading.pressure_Pa / 89874.6]])
    at = np.append(height, 1000.0)
    return Comparison(found, 1.0, at=at, x=Axis("height [m]"), y=Axis("ratio to the law"))
