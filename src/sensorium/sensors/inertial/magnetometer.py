"""A magnetometer: the magnetic field at a point of a body."""

from typing import ClassVar, Literal

from pydantic import Field

from sensorium.sensors.common.rig import Rig
from sensorium.sensors.common.sampled import SampledModel
from sensorium.sensors.common.spec import SensorSpec
from sensorium.sensors.common.timing import Timing
from sensorium.sensors.inertial.inertial import start_inertial
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.inertial.triaxial import Triaxial


class Magnetometer(Triaxial, SensorSpec[InertialReading]):
    """u = R_WS^T B(p_WS) [T]. Hard iron is a bias, soft iron a scale matrix.

    >>> north = sn.fields.UniformMagnetic((2e-5, 0.0, -4e-5))
    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01), magnetic=north)
    >>> turned = sn.Pose.from_euler_deg((0, 0, 0), yaw=90.0)
    >>> sensor = env.attach(sn.Magnetometer(timing=sn.Timing(rate_hz=100.0)), pose=turned)
    >>> env.step()
    >>> (1e6 * sensor.read().magnetic_field).round(3).tolist()  # uT, in the sensor's frame
    [0.0, -20.0, -40.0]
    """

    targets: ClassVar[tuple[str, ...]] = ("magnetic",)

    kind: Literal["magnetometer"] = "magnetometer"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=100.0))
    """Clock; 100 Hz by default."""

    def start(self, rig: Rig) -> SampledModel[InertialReading]:
        """Put it to work."""
        return start_inertial(self, rig, ("magnetic_field",), magnetic=self)
