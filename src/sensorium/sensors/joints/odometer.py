"""A wheel's odometer: the distance its rim rolls, from the position of the joint it turns on."""

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, field_validator, model_validator

from sensorium.core.errors import SpecError
from sensorium.sensors.common.sampled import Quantity, SampledModel, SampledReading
from sensorium.sensors.common.spec import Rig, Timing
from sensorium.sensors.common.unused_options import refuse_set
from sensorium.sensors.joints.counting import CountingSensor
from sensorium.sensors.joints.edge_counter import POSITION, VELOCITY, Span
from sensorium.sensors.joints.joint_signal import DistanceSignal
from sensorium.sensors.joints.wheel_radius import wheel_radius_m

Float = NDArray[np.float64]


class OdometerReading(SampledReading):
    """One reading of an odometer; arrays have the axes of worlds and sensors that the environment has, or none."""

    __slots__ = ()

    @property
    def valid(self) -> NDArray[np.bool_]:
        """False if a fault left no distance, or a reset voided the reading before arrival."""
        return self._shaped(self._sample.valid & np.isfinite(self._sample.x[:, POSITION]))

    @property
    def distance(self) -> Float:
        """Distance [m]: the lower edge of its bin, where there are bins."""
        return self._channel(POSITION)

    @property
    def velocity(self) -> Float:
        """Its rate estimated from edges [m/s]; of `truth()` the rim's own."""
        return self._channel(VELOCITY)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots."""
        return Quantity("distance", "Distance", "m"), Quantity("velocity", "Speed", "m/s")

    def __repr__(self) -> str:
        return f"OdometerReading(time_ns={self.time_ns}, distance={self.distance}, velocity={self.velocity})"


class Odometer(CountingSensor[OdometerReading]):
    """s = R u, u the joint's position over all its turns, -> noise [m] -> faults -> bins.

    Bins are of distance: R `resolution`, R 2 pi / `counts_per_turn` or `resolution_m`; the AGX paper leaves open if
    its resolution is an angle or a distance (physics.md U-06). Slip is not seen: it is the wheel that is measured.

    >>> world = sn.worlds.Kinematic({}, {"wheel": sn.paths.JointLine(0.0, 10.0)}, step_s=0.01)
    >>> env = sn.Environment(sn.Scene(), world)
    >>> odometer = env.attach(sn.Odometer(timing=sn.Timing(rate_hz=100.0), radius_m=0.3), joint="wheel")
    >>> for _ in env.run(duration_s=1.0):
    ...     pass
    >>> odometer.read().distance.round(6).item()
    3.0
    """

    targets: ClassVar[tuple[str, ...]] = ("distance",)

    kind: Literal["odometer"] = "odometer"
    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=100.0))
    """Clock; 100 Hz by default."""
    radius_m: float | None = Field(default=None, gt=0.0)
    """Radius of the wheel [m]; None takes it from the objects of the body it is attached to, the largest distance of
    their corners from the axle."""
    axis: tuple[float, float, float] = (0.0, 1.0, 0.0)
    """Direction of the axle in the sensor's frame, which is the body's unless a pose is given; for such a radius."""
    resolution_m: float | None = Field(default=None, gt=0.0)
    """Width of a bin as a distance [m], instead of an angle."""
    accumulate: bool = False
    """Whether turning back adds to the distance: sum |R du| over samples, from 0 when switched on or reset."""

    @field_validator("axis")
    @classmethod
    def _some_direction(cls, axis: tuple[float, float, float]) -> tuple[float, float, float]:
        if not any(axis):
            raise ValueError(f"axis is {axis}; it must have a direction")
        return axis

    @model_validator(mode="after")
    def _one_width(self) -> "Odometer":
        if self.radius_m is not None:
            refuse_set(self, "axis", f"with radius_m {self.radius_m:g}; it is for a radius that is taken from objects")
        if self.resolution_m is not None and self.bin_width is not None:
            other = "resolution" if self.counts_per_turn is None else "counts_per_turn"
            value = f"resolution_m is {self.resolution_m:g} and {other} is {getattr(self, other):g}"
            raise ValueError(f"{value}; only one of them can be given")
        return self

    @property
    def has_bins(self) -> bool:
        """Whether distances are read in bins."""
        return self.resolution_m is not None or self.bin_width is not None

    def start(self, rig: Rig) -> SampledModel[OdometerReading]:
        """Put it to work on the joint it is attached to."""
        if rig.joint_slides:
            raise SpecError(f"odometer {rig.name!r} measures a joint that slides; it must be one that turns, a wheel's")
        radius_m = np.full(rig.worlds * rig.sensors, self.radius_m or 0.0)
        if self.radius_m is None:
            radius_m = wheel_radius_m(rig, self.axis).ravel()
        width: float | Float | None = self.resolution_m
        if self.bin_width is not None:
            width = radius_m * self.bin_width
        return self.counting(
            rig,
            DistanceSignal(rig, radius_m, accumulate=self.accumulate),
            lambda sample: OdometerReading(sample, rig),
            width=width,
            span=Span("free"),
            limits=None,
            target="distance",
        )
