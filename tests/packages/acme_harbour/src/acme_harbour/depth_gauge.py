"""A gauge of its own depth: a sampled sensor with its own reading, columns and message."""

from typing import ClassVar, Literal

import numpy as np

import sensorium as sn
from sensorium.corruption import Noise, Program
from sensorium.record.ros2.message import Message, header
from sensorium.sensors.common.error_group import channel_parts
from sensorium.sensors.common.sampled import Quantity, SampledModel, SampledReading
from sensorium.sensors.common.spec import SensorSpec
from sensorium.sensors.registry import SensorKind
from sensorium.worlds.point_motion import PointMotion


class DepthReading(SampledReading):
    """Depth below z = 0."""

    @property
    def depth_m(self):
        return self._channel(0)

    @property
    def quantities(self):
        return (Quantity("depth_m", "Depth", "m"),)


class DepthGauge(SensorSpec[DepthReading]):
    """Depth d = -z [m], with noise."""

    kind: Literal["acme_depth_gauge"] = "acme_depth_gauge"
    timing: sn.Timing = sn.Timing(rate_hz=20.0)
    noise: Noise = Noise()

    targets: ClassVar[tuple[str, ...]] = ("depth",)

    def start(self, rig):
        period_s = 1.0 / self.timing.rate_hz
        parts = channel_parts([self.noise], [], width=1, period_s=period_s, faults=self.faults, target="depth")
        program = Program(parts, columns=1, period_s=period_s)
        made = _Depth(PointMotion(rig.history, rig.body, rig.X_BS))
        return SampledModel(
            rig, self.timing, made, program, lambda sample: DepthReading(sample, rig), looks_back=False
        )


class _Depth:
    columns = 1

    def __init__(self, motion):
        self._motion = motion

    def begin(self, time_ns):
        pass

    def forget(self):
        pass

    def sample(self, time_ns, out):
        out[:, 0] = -self._motion.at(time_ns, acceleration=False).position[..., 2].reshape(-1)


def depths(reading, source):
    """An acme_msgs/Depth for each row."""
    values = source.rows(reading.depth_m)
    return [
        (row, "depth", Message("acme_msgs/msg/Depth", reading.time_ns, {
            "header": header(reading.time_ns, source.frames[row]), "depth": float(values[row]),
        }))
        for row in np.flatnonzero(source.rows(reading.valid)).tolist()
    ]  # fmt: skip


DEPTH_GAUGE = SensorKind(
    spec="acme_harbour.depth_gauge:DepthGauge",
    messages="acme_harbour.depth_gauge:depths",
    message_types={"acme_msgs/msg/Depth": "std_msgs/Header header\nfloat64 depth\n"},
)
