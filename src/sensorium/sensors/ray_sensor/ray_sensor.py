"""The base of user-defined ray sensors: rays, and values computed from their nearest hits."""

import abc
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float
from sensorium.corruption import Program
from sensorium.corruption.engine.base import AnyCorruption
from sensorium.patterns import RayTable
from sensorium.sensors.common.error_group import channel_parts
from sensorium.sensors.common.sampled import (
    Quantity,
    Sample,
    SampledModel,
    SampledReading,
    StatelessSignal,
    required_rate_hz,
)
from sensorium.sensors.common.spec import Rig, SensorSpec, Timing
from sensorium.sensors.ray_sensor.ray_hits import RayHits, hits_from
from sensorium.worlds.point_motion import PointMotion

# Lines that a plot can still show
_MOST_LINES = 16


class RayReading(SampledReading):
    """Values of a custom ray sensor."""

    __slots__ = ("shape", "unit")

    def __init__(self, sample: Sample, rig: Rig, shape: tuple[int, ...], unit: str) -> None:
        super().__init__(sample, rig)
        self.shape = shape
        """Shape of one sensor's values."""
        self.unit = unit
        """Their unit."""

    @property
    def values(self) -> Float:
        """The result of `measure` with the sensor's errors; the leading axes, then those of `RaySensor.shape`."""
        return self._shaped(self._sample.x.reshape(-1, *self.shape))

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its values, named by index; a table of many is not plotted."""
        places = tuple(" ".join(map(str, index)) for index in np.ndindex(self.shape))
        return (Quantity("values", "Values", self.unit, places, is_plotted=len(places) <= _MOST_LINES, column="value"),)

    def __repr__(self) -> str:
        return f"RayReading(time_ns={self.time_ns}, values={self.values})"


class RaySensor(SensorSpec[RayReading], abc.ABC):
    """A sensor that fires a table of rays at each tick of its clock and computes values from their hits.

    A subclass says which rays (`rays`), how many numbers (`shape`) and how they follow from the hits (`measure`); the
    clock, motion, many worlds, truth, errors, faults, latency and recording are those of every sampled sensor. Rays
    are fired at once, and see the first surface. Errors come in the order of `errors`, then faults, whose target is
    "values". A subclass also has a field `kind: Literal["..."] = "..."`, which is its name in scenarios, where an entry
    point of the group `sensorium.sensors` announces it.
    """

    targets: ClassVar[tuple[str, ...]] = ("values",)
    unit: ClassVar[str] = "m"
    """Unit of the values, for tables and reports."""

    timing: Timing = Field(default_factory=lambda: Timing(rate_hz=30.0))
    """Clock; 30 Hz by default."""
    max_range_m: float = Field(default=100.0, gt=0.0)
    """Greatest range of rays [m]."""
    errors: tuple[AnyCorruption, ...] = ()
    """Errors of the values."""

    @abc.abstractmethod
    def rays(self) -> RayTable:
        """The rays in the sensor frame (x forward, y left, z up); called once, when the sensor is attached."""

    @property
    @abc.abstractmethod
    def shape(self) -> tuple[int, ...]:
        """Shape of one sensor's values: () for a single one, (8, 8) for a table."""

    @abc.abstractmethod
    def measure(self, hits: RayHits) -> NDArray[Any]:
        """Ideal values from the hits, shape (heads, *shape), never NaN; a function of the hits and the fields alone.

        Args:
            hits: Arrays of shape (heads, rows, columns); heads are worlds and then sensors.
        """

    def start(self, rig: Rig) -> SampledModel[RayReading]:
        """Put it to work."""
        shape = tuple(self.shape)
        width = int(np.prod(shape))
        if not width:
            raise SpecError(f"the shape of sensor {rig.name!r} is {shape}; it must have at least one value")
        period_s = 1.0 / required_rate_hz(self.timing)
        parts = channel_parts(self.errors, width=width, period_s=period_s, faults=self.faults, target="values")
        return SampledModel(
            rig,
            self.timing,
            _HitSignal(self, rig, shape),
            Program(parts, columns=width, period_s=period_s),
            lambda sample: RayReading(sample, rig, shape, self.unit),
            looks_back=False,
        )


class _HitSignal(StatelessSignal):
    """The signal computed from the fired rays."""

    def __init__(self, spec: RaySensor, rig: Rig, shape: tuple[int, ...]) -> None:
        self._spec, self._rig, self._shape = spec, rig, (rig.worlds * rig.sensors, *shape)
        self.columns = int(np.prod(shape))
        self._table = spec.rays()
        if not isinstance(self._table, RayTable):
            raise SpecError(
                f"the rays of sensor {rig.name!r} are a {type(self._table).__name__}; they must be a RayTable"
            )
        self._motion = PointMotion(rig.history, rig.body, rig.X_BS)

    def sample(self, time_ns: int, out: Float) -> None:
        """The ideal sample at a time, shape (rows, columns)."""
        hits = hits_from(self._rig, self._motion.at(time_ns, acceleration=False), self._table, self._spec.max_range_m)
        values = np.asarray(self._spec.measure(hits))
        if values.shape != self._shape:
            raise SpecError(
                f"measure of sensor {self._rig.name!r} gave shape {values.shape}; it must be {self._shape}, heads first"
            )
        if np.isnan(values).any():
            raise SpecError(f"measure of sensor {self._rig.name!r} gave NaN; every value must be a number, or inf")
        out[...] = values.reshape(out.shape)
