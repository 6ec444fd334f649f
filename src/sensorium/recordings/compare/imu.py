"""A simulated IMU at rest, as long as the real one was."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.devices import Device
from sensorium.environment import Environment
from sensorium.recordings.compare.comparison import Comparing
from sensorium.recordings.fit.imu import GROUPS, halves
from sensorium.recordings.measure.imu import ImuRest, measure_rest
from sensorium.scene.scene import Scene
from sensorium.sensors.inertial.imu import Imu
from sensorium.worlds import Static

_NAMES = {"accelerometer": "acceleration", "gyroscope": "angular_velocity"}


def simulate_rest(device: Device, rest: ImuRest, seed: int) -> tuple[ImuRest, Sequence[str]]:
    """As many samples of a device at rest, at the recorded rate."""
    spec = device.specification()
    for name, group in GROUPS.items():
        if spec.get(group) is None:
            raise SpecError(f"device {device.name!r} has no {name}; {rest.source!r} has one")
    imu = Imu.from_device(device.path, magnetic=None, timing={"rate_hz": rest.rate_hz})
    samples = len(rest.triads["accelerometer"])
    env = Environment(Scene(), Static(step_s=1.0), seed=seed)
    sensor = env.attach(imu)
    readings: list[Any] = []
    while len(readings) < samples:
        env.step()
        readings += sensor.readings()
    triads = {name: np.stack([getattr(each, field) for each in readings[:samples]]) for name, field in _NAMES.items()}
    return rest._replace(triads=triads), ("the simulated IMU rests as long, at the recorded rate",)


compare_imu = Comparing(
    kind="imu",
    measure=measure_rest,
    halves=halves,
    samples="half of the rest",
    simulate=simulate_rest,
    tolerances={f"{name}.white_noise": 0.15 for name in GROUPS},
)
"""White noise; biases and scales are those of one unit."""
