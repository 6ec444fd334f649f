"""A sonar that looks down: a ray sensor with a message type of its own."""

from typing import Literal

import numpy as np

import sensorium as sn
from sensorium.record.ros2.message import Message, header
from sensorium.sensors.registry import Sample, SensorKind


class Sonar(sn.RaySensor):
    """One ray along -z."""

    kind: Literal["acme_sonar"] = "acme_sonar"
    timing: sn.Timing = sn.Timing(rate_hz=20.0)
    max_range_m: float = 30.0

    @property
    def shape(self):
        return ()

    def rays(self):
        return sn.patterns.RayTable.at_once([[(0.0, 0.0, -1.0)]])

    def measure(self, hits):
        return np.minimum(hits.range_m[:, 0, 0], self.max_range_m)


def echoes(reading, source):
    """An acme_msgs/Echo for each row."""
    ranges = source.rows(reading.values)
    for row in np.flatnonzero(source.rows(reading.valid)).tolist():
        at = header(reading.time_ns, source.frames[row])
        fields = {"header": at, "range": float(ranges[row]), "beams": [{"index": 0, "range": float(ranges[row])}]}
        yield row, "echo", Message("acme_msgs/msg/Echo", reading.time_ns, fields)


SONAR = SensorKind(
    spec=Sonar,
    messages=echoes,
    message_types={
        "acme_msgs/msg/Beam": "int32 index\nfloat64 range\n",
        "acme_msgs/msg/Echo": "std_msgs/Header header\nfloat64 range\nacme_msgs/Beam[] beams\n",
    },
    samples={
        "acme_sonar": Sample(
            {"errors": [{"kind": "acme_slew_limit", "rate": 0.4, "std": 0.01}]},
            ("values",),
            {"body": "car", "position": (0.0, 0.0, 1.2), "hide": ("car",)},
        ),
    },
)
