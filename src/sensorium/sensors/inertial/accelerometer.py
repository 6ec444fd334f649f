"""An accelerometer: specific force at a point of a body."""

from typing import ClassVar, Literal

from pydantic import Field

from sensorium.sensors.common.rig import Rig
from sensorium.sensors.common.sampled import SampledModel
from sensorium.sensors.common.spec import SensorSpec
from sensorium.sensors.common.timing import Timing
from sensorium.sensors.inertial.inertial import start_inertial
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.inertial.triaxial import LinearGroup


class Accelerometer(LinearGroup, SensorSpec[InertialReading]):
    """u = R_WS^T (a_WS - g), the specific force; at rest +9.80665 up, in free fall 0.

    a_WS = dv/dt + dw/dt x r + w x (w x r) with the arm r from the body's origin. The AGX paper adds g instead of taking
    it away (physics.md E-17).

    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    >>> sensor = env.attach(sn.Accelerometer(timing=sn.Timing(rate_hz=100.0)))
    >>> env.step()
    >>> sensor.read().acceleration.round(5).tolist()
    [0.0, 0.0, 9.80665]
    """

    targets: ClassVar[tuple[str, ...]] = ("linear",)

    kind: Literal["accelerometer"] = "accelerometer"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=100.0))
    """Clock; 100 Hz by default."""

    def start(self, rig: Rig) -> SampledModel[InertialReading]:
        """Put it to work."""
        return start_inertial(self, rig, ("acceleration",), linear=self)
