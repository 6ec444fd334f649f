"""Sensors of three axes by themselves: accelerometer, gyroscope, magnetometer."""

from typing import ClassVar, Literal

from pydantic import Field

from sensorium.sensors.common.sampled import SampledModel
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.sensors.inertial.inertial import start_inertial
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.inertial.triaxial import AngularGroup, LinearGroup, Triaxial


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
