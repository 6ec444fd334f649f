"""The base of readings of sensors that sample at instants."""

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.rig import Rig
from sensorium.sensors.common.sampled import Sample

XYZ = ("x", "y", "z")


@dataclass(frozen=True)
class Quantity:
    """One quantity of a reading.

    Attributes:
        name: The reading's attribute.
        title: Heading.
        unit: Its unit, as text; "1" for none.
        components: Names of its components; one without a name for a single number.
        kind: float, int or bool.
        has_truth: Whether the truth has another.
        is_plotted: Whether it is plotted over time; derived quantities are not.
        is_inertial: Whether its errors are described by an Allan deviation.
        column: Name of its columns in a table; None is the attribute's name.
    """

    name: str
    title: str
    unit: str = "1"
    components: tuple[str, ...] = ("",)
    kind: type = float
    has_truth: bool = True
    is_plotted: bool = True
    is_inertial: bool = False
    column: str | None = None

    @property
    def columns(self) -> tuple[str, ...]:
        """A name for each component in a table, with its unit: acceleration_x_m_s2.

        A unit that the name has already is not said twice; one that depends on the joint, "rad or m", is not said.
        """
        unit = "" if self.unit == "1" or " or " in self.unit else self.unit.replace("/", "_").replace("²", "2")
        name = self.column or self.name
        stem = name.removesuffix(f"_{unit}") if unit else name
        places = (component.replace(" ", "_") for component in self.components)
        return tuple("_".join(part for part in (stem, place, unit) if part) for place in places)


R = TypeVar("R", bound="SampledReading")


class SampledReading:
    """One sample of all worlds and sensors.

    Arrays have leading axes of worlds and sensors where the environment has them.
    """

    __slots__ = ("_rig", "_sample")

    def __init__(self, sample: Sample, rig: Rig) -> None:
        self._sample, self._rig = sample, rig

    @property
    def time_ns(self) -> int:
        """When it was taken, by the sensor's clock [ns]."""
        return self._sample.time_ns

    @property
    def valid(self) -> NDArray[np.bool_]:
        """False if a reset broke its interval or voided it before arrival; shape () or the leading axes."""
        return self._shaped(self._sample.valid)

    @property
    def quantities(self) -> tuple[Quantity, ...]:
        """Its quantities by name, for tables and plots; the same for all readings of one sensor."""
        return ()

    @staticmethod
    def gathered(readings: Sequence[R], rows: int) -> R:
        """Readings of one sensor as one: arrays have axes of readings and of rows, and its time is the last's.

        Args:
            readings: One at least.
            rows: How many rows of each, which are worlds and then sensors.
        """
        samples, several = [reading._sample for reading in readings], copy.copy(readings[-1])
        several._sample = Sample(
            samples[-1].time_ns,
            np.repeat([sample.interval_s for sample in samples], rows)[:, None],
            np.concatenate([sample.x[:rows] for sample in samples]),
            np.concatenate([sample.ideal[:rows] for sample in samples]),
            np.concatenate([sample.valid[:rows] for sample in samples]),
            several._beside(samples, rows),
            len(samples),
        )
        return several

    def without(self, mask: NDArray[np.bool_]) -> Self:
        """The same, void in the masked worlds."""
        other = copy.copy(self)
        valid = self._sample.valid & ~np.repeat(mask, self._rig.sensors)
        other._sample = replace(self._sample, valid=valid)
        return other

    def _beside(self, samples: Sequence[Sample], rows: int) -> Any:
        """Auxiliary data of several samples, for readings that use them."""
        return None

    def _channels(self, first: int, last: int) -> NDArray[np.float64]:
        """Some channels of the sample, with the requested axes, then the channels."""
        return self._shaped(self._sample.x[:, first:last])

    def _channel(self, column: int) -> NDArray[np.float64]:
        """One channel, with the requested axes."""
        return self._shaped(self._sample.x[:, column])

    def _shaped(self, rows: NDArray[Any]) -> NDArray[Any]:
        gathered = self._sample.gathered
        axes = self._rig.axes if gathered is None else (gathered, len(rows) // gathered)
        return rows.reshape((*axes, *rows.shape[1:]))
