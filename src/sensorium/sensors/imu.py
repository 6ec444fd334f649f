"""An inertial measurement unit: accelerometer, gyroscope and magnetometer in one housing."""

from typing import Literal

from pydantic import Field, model_validator

from sensorium.sensors.inertial import start_inertial
from sensorium.sensors.inertial_reading import INTEGRALS, RATES, InertialReading
from sensorium.sensors.rig import Rig
from sensorium.sensors.sampled import SampledModel
from sensorium.sensors.spec import SensorSpec
from sensorium.sensors.timing import Timing
from sensorium.sensors.triaxial import AngularGroup, LinearGroup, Triaxial

Output = Literal["acceleration", "angular_velocity", "magnetic_field", "delta_velocity", "delta_angle"]


class Imu(SensorSpec[InertialReading]):
    """Groups of three axes, each at its own place in the housing, sampled together.

    `imu.linear.noise.std = (0.02, 0.02, 0.03)` and the like say what each gets wrong. `outputs` says what is read out
    and in which order; increments of velocity and angle run from sample to sample, over every step of the world between
    them, and carry the errors of their rates.
    """

    kind: Literal["imu"] = "imu"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=100.0))
    """Clock; 100 Hz unless told otherwise."""
    linear: LinearGroup | None = Field(default_factory=LinearGroup)
    """The accelerometer; None for none."""
    angular: AngularGroup | None = Field(default_factory=AngularGroup)
    """The gyroscope; None for none."""
    magnetic: Triaxial | None = None
    """The magnetometer; None, the default, for none."""
    outputs: tuple[Output, ...] | None = None
    """What is read out, in order; None is the rates of all groups there are."""

    @model_validator(mode="after")
    def _rules(self) -> "Imu":
        has = self._rates()
        if not has:
            raise ValueError("linear, angular and magnetic are all None; an IMU must have one of them")
        for name in self.outputs or ():
            if INTEGRALS.get(name, name) not in has:
                raise ValueError(
                    f"outputs has {name!r}; that needs {INTEGRALS.get(name, name)}, and there are only {has}"
                )
        if self.outputs is not None and (not self.outputs or len(set(self.outputs)) != len(self.outputs)):
            raise ValueError(f"outputs is {self.outputs}; it must name each output once, and one at least")
        return self

    def start(self, rig: Rig) -> SampledModel[InertialReading]:
        """Put it to work."""
        outputs = self.outputs or self._rates()
        return start_inertial(self, rig, outputs, linear=self.linear, angular=self.angular, magnetic=self.magnetic)

    def _rates(self) -> tuple[str, ...]:
        groups = (self.linear, self.angular, self.magnetic)
        return tuple(name for name, group in zip(RATES, groups, strict=True) if group is not None)
