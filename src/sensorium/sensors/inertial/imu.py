"""An inertial measurement unit: accelerometer, gyroscope and magnetometer in one housing."""

from os import PathLike
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, model_validator

from sensorium.analysis import AllanFit
from sensorium.core.errors import SpecError
from sensorium.corruption import Noise
from sensorium.sensors.common.sampled import SampledModel
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.sensors.inertial.inertial import start_inertial
from sensorium.sensors.inertial.reading import INTEGRALS, RATES, InertialReading
from sensorium.sensors.inertial.triaxial import AngularGroup, LinearGroup, Triaxial

Output = Literal["acceleration", "angular_velocity", "magnetic_field", "delta_velocity", "delta_angle"]


class Imu(SensorSpec[InertialReading]):
    """Groups of three axes, each at its own place in the housing, sampled together.

    `imu.linear.noise.std = (0.02, 0.02, 0.03)` and the like set the errors of each group. `outputs` selects the
    quantities that are read out and their order; increments of velocity and angle run from sample to sample, over every
    step of the world between them. A group that reads out increments reads its rate as their mean, and errors act on
    both.

    >>> world = sn.worlds.Kinematic({"car": sn.paths.Circle(center=(0, 0, 0), radius=10.0, rate=0.5)}, step_s=0.01)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> imu = env.attach(sn.Imu(timing=sn.Timing(rate_hz=100.0), linear={"noise": {"std": 0.02}}), body="car")
    >>> env.step()
    >>> imu.truth().acceleration.round(3).tolist()  # to the middle, v^2 / r; and up, for gravity
    [0.0, 2.5, 9.807]
    >>> imu.read().angular_velocity.round(3).tolist()  # without noise, which only `linear` has
    [0.0, 0.0, 0.5]
    """

    targets: ClassVar[tuple[str, ...]] = ("linear", "angular", "magnetic")

    kind: Literal["imu"] = "imu"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=100.0))
    """Clock; 100 Hz by default."""
    linear: LinearGroup | None = Field(default_factory=LinearGroup)
    """The accelerometer; None for none."""
    angular: AngularGroup | None = Field(default_factory=AngularGroup)
    """The gyroscope; None for none."""
    magnetic: Triaxial | None = None
    """The magnetometer; None, the default, for none."""
    outputs: tuple[Output, ...] | None = None
    """Quantities that are read out, in order; None is the rates of all groups."""

    @model_validator(mode="after")
    def _rules(self) -> "Imu":
        has = self._rates()
        for fault in self.faults.faults:
            if fault.target is not None and getattr(self, fault.target, None) is None:
                raise ValueError(f"a fault's target is {fault.target!r}; this IMU has no such group")
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

    @classmethod
    def from_allan(cls, *fits: AllanFit | str | PathLike[str], **fields: Any) -> Self:
        """An IMU whose noise is that of a recording: white noise N, bias instability B and rate random walk K.

        Args:
            fits: Results of `sn.analysis.fit_allan`, or files of `sensorium allan`. The unit selects the group: three
                channels in m/s^2 are the accelerometer, in rad/s the gyroscope, in T the magnetometer; in that order x,
                y, z.
            fields: Of the IMU, such as `timing`; the rate is that of the recording unless given.
        """
        loaded = [fit if isinstance(fit, AllanFit) else AllanFit.load(fit) for fit in fits]
        if not loaded:
            raise SpecError("no fit is given; there must be one at least")
        groups: dict[str, dict[str, Noise]] = {}
        for fit in loaded:
            for unit in dict.fromkeys(fit.units):
                at = [i for i, other in enumerate(fit.units) if other == unit]
                if unit not in _GROUP_OF_UNIT or len(at) != 3:
                    rule = f"each group needs three channels in one of {', '.join(_GROUP_OF_UNIT)}"
                    raise SpecError(f"the fit has {len(at)} channels in {unit!r}; {rule}")
                if _GROUP_OF_UNIT[unit] in groups:
                    raise SpecError(f"two fits have channels in {unit!r}; one group can have one")
                groups[_GROUP_OF_UNIT[unit]] = {"noise": _noise_of(fit, at)}
        fields.setdefault("timing", Timing(rate_hz=loaded[0].allan.rate_hz))
        return cls(**{"linear": None, "angular": None, **groups, **fields})

    def start(self, rig: Rig) -> SampledModel[InertialReading]:
        """Put it to work."""
        outputs = self.outputs or self._rates()
        return start_inertial(self, rig, outputs, linear=self.linear, angular=self.angular, magnetic=self.magnetic)

    def _rates(self) -> tuple[str, ...]:
        groups = (self.linear, self.angular, self.magnetic)
        return tuple(name for name, group in zip(RATES, groups, strict=True) if group is not None)


_GROUP_OF_UNIT = {"m/s^2": "linear", "rad/s": "angular", "T": "magnetic"}


def _noise_of(fit: AllanFit, channels: list[int]) -> Noise:
    """Noise with the coefficients of three channels of a fit; flicker over the averaging times that were fitted."""

    def of(values: Any) -> tuple[float, ...]:
        return tuple(np.ravel(values)[channels].tolist())

    shortest_s, longest_s = fit.fit_range_s
    return Noise(
        density=of(fit.N),
        sided="two",
        instability=of(fit.B),
        instability_tau_min_s=shortest_s,
        instability_tau_max_s=max(longest_s, 10.0 * shortest_s),
        walk=of(fit.K),
    )
