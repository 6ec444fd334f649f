"""Encoders and odometers."""

from typing import Any

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Array, Axis, Comparison, Family

JOINTS = Family("Encoders and odometers")


def _readings(spec: Any, joint: Any, duration_s: float, name: str, step_s: float = 1e-3) -> Array:
    """One quantity of all readings of a sensor on a joint."""
    world = sn.worlds.Kinematic({"base": sn.paths.Fixed(sn.Pose())}, {"hinge": joint}, step_s=step_s)
    env = sn.Environment(sn.Scene(), world)
    sensor = env.attach(spec, joint="hinge")
    out: list[float] = []
    for _ in env.run(duration_s):
        out += [getattr(reading, name) for reading in sensor.readings()]
    return np.array(out)


@JOINTS.check(
    "encoder-bins",
    "A position falls into the bin below it and wraps: 0.37 reads 0.3, -0.01 reads 0.9, 2.37 reads 0.3.",
    reference="physics.md 7, E-20",
    absolute=1e-12,
)
def _bins(quick: bool) -> Comparison:
    spec = sn.Encoder(min=0.0, max=1.0, resolution=0.1)
    inputs = [0.37, -0.01, 2.37, 0.999]
    found = [_readings(spec, sn.paths.JointLine(u), 1e-3, "position")[-1] for u in inputs]
    return Comparison(found, [0.3, 0.9, 0.3, 0.9], at=inputs, x=Axis("joint [rad]"), y=Axis("reading [rad]"))


@JOINTS.check(
    "encoder-speed",
    "At constant speed the time between edges gives only the two speeds that whole periods allow, right in the mean.",
    reference="physics.md 7: v = 0.105, bin 0.01, 1 ms gives 0.104167 or 0.105263, mean 0.10500",
    relative=2e-4,
)
def _speed(quick: bool) -> Comparison:
    spec = sn.Encoder(min=-100.0, max=100.0, resolution=0.01)
    speed = _readings(spec, sn.paths.JointLine(0.0, 0.105), 2.0 if quick else 4.0, "velocity")
    settled = speed[len(speed) // 2 :]
    nearest = np.where(np.abs(settled - 0.104167) < np.abs(settled - 0.105263), 0.104167, 0.105263)
    at = np.arange(settled.size) * 1e-3
    return Comparison(settled, nearest, at=at, x=Axis("time [s]"), y=Axis("speed [rad/s]"))


@JOINTS.check(
    "odometer",
    "Distance is radius times angle over all turns, either way.",
    reference="physics.md 7: s = R u",
    absolute=1e-9,
)
def _odometer(quick: bool) -> Comparison:
    joint = sn.paths.JointLine(0.5, -20.0)
    distance = _readings(sn.Odometer(radius_m=0.35), joint, 0.5, "distance", step_s=0.01)
    t = 0.01 * np.arange(1, distance.size + 1)
    return Comparison(distance, 0.35 * (0.5 - 20.0 * t), at=t, x=Axis("time [s]"), y=Axis("distance [m]"))
