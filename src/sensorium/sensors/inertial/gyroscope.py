"""A gyroscope: angular velocity of a body."""

from typing import ClassVar, Literal

from pydantic import Field

from sensorium.sensors.common.rig import Rig
from sensorium.sensors.common.sampled import SampledModel
from sensorium.sensors.common.spec import SensorSpec
from sensorium.sensors.common.timing import Timing
from sensorium.sensors.inertial.inertial import start_inertial
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.inertial.triaxial import AngularGroup


class Gyroscope(AngularGroup, SensorSpec[InertialReading]):
    """u = R_WS^T w, independent of position; with `g_sensitivity` A it adds A times the specific force at its position.

    >>> world = sn.worlds.Kinematic({"rotor": sn.paths.Spin(position=(0, 0, 0), axis=(0, 0, 1), rate=3.0)}, step_s=0.01)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> sensor = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0), noise={"bias": 0.01}), body="rotor")
    >>> env.step()
    >>> sensor.read().angular_velocity.round(6).tolist()
    [0.01, 0.01, 3.01]
    """

    targets: ClassVar[tuple[str, ...]] = ("angular",)

    kind: Literal["gyroscope"] = "gyroscope"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=100.0))
    """Clock; 100 Hz by default."""

    def start(self, rig: Rig) -> SampledModel[InertialReading]:
        """Put it to work."""
        return start_inertial(self, rig, ("angular_velocity",), angular=self)
