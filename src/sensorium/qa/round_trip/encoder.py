"""Round trip of an encoder: its counts over one turn of a shaft."""

import math

from sensorium.devices import Device, EncoderSheet
from sensorium.environment import Environment
from sensorium.qa.round_trip.row import Row, stated_row
from sensorium.scene.scene import Scene
from sensorium.sensors.joints.encoder import Encoder
from sensorium.worlds import Kinematic
from sensorium.worlds.paths import JointLine

_STEPS = 1000


def encoder_rows(device: Device) -> list[Row]:
    """Counts from a reading to that one turn later; either may be a count off."""
    sheet = device.sheet
    assert isinstance(sheet, EncoderSheet)
    shaft = JointLine(start=0.1, velocity=math.tau)
    env = Environment(Scene(), Kinematic({}, {"shaft": shaft}, step_s=1.0 / _STEPS))
    encoder = env.attach(Encoder.from_device(device.path, timing={"rate_hz": float(_STEPS)}), joint="shaft")
    env.step()
    first = int(encoder.read().count)
    for _ in range(_STEPS):
        env.step()
    turn = float(int(encoder.read().count) - first)
    return stated_row(device, "resolution", (turn, turn - 1.0, turn + 1.0))
