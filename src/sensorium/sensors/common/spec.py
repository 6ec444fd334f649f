"""The base of every sensor: a specification, and a model that produces readings."""

import abc
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar, Generic, Protocol, Self, TypeVar, cast

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from sensorium.core.spec import Spec
from sensorium.corruption.faults.fault import FaultSchedule
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.common.timing import Timing

R = TypeVar("R")


@dataclass(slots=True)
class Capture(Generic[R]):
    """One reading as it leaves the sensor."""

    time_ns: int
    """When it was complete [ns]."""
    reading: R
    truth: Callable[[], R]
    """Computes the reading without corruption, when it is requested."""
    tick: int
    """Number of the reading among all that the sensor's clock allows."""

    def without(self, mask: NDArray[np.bool_]) -> "Capture[R]":
        """The same while it is pending, void in the worlds that restarted, shape (worlds,)."""
        reading, truth = cast(Any, self.reading), cast(Callable[[], Any], self.truth)
        return Capture(self.time_ns, reading.without(mask), lambda: truth().without(mask), self.tick)


class SensorModel(Protocol[R]):
    """The running model of a sensor: owns all state."""

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterable[Capture[R]]:
        """Readings completed after one time and up to another.

        Args:
            after_ns: The time observed before [ns].
            upto_ns: The time now [ns].
            since_ns: Time at which the sensor was last switched on [ns]; nothing is measured before.
        """

    def due_ns(self, now_ns: int) -> int:
        """When the next reading may be complete at the earliest [ns], once those up to now are; until then it rests."""

    def needs_from_ns(self, now_ns: int) -> int:
        """The oldest time that later readings may read from the history [ns]."""

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the state of the masked worlds, shape (worlds,)."""


class SensorSpec(Spec, abc.ABC, Generic[R]):
    """Specification of a sensor whose readings are of type R."""

    timing: Timing = Field(default_factory=Timing)
    """When it measures, and when readings arrive."""
    faults: FaultSchedule = Field(default_factory=FaultSchedule)
    """Faults."""

    targets: ClassVar[tuple[str, ...]] = ()
    """Names that faults call its groups of channels by."""

    @model_validator(mode="after")
    def _faults_find_their_targets(self) -> Self:
        for fault in self.faults.faults:
            if fault.corruption is not None and not self.targets:
                what = str(getattr(self, "kind", type(self).__name__)).replace("_", " ")
                raise ValueError(f"a fault has a corruption; a {what} has no channels for it, its faults are of timing")
            if fault.target is not None and fault.target not in self.targets:
                known = ", ".join(self.targets) or "none"
                raise ValueError(f"a fault's target is {fault.target!r}; it must be one of: {known}")
        return self

    @classmethod
    def from_device(
        cls, name: str | PathLike[str], *, folder: str | PathLike[str] | None = None, **overrides: Any
    ) -> Self:
        """The sensor of a data sheet, such as `sn.Lidar.from_device("ouster-os1-128")`.

        Args:
            name: One of `sn.devices.names()`, or the path of a TOML file.
            folder: A folder of further sheets, beside that of the environment variable SENSORIUM_DEVICES.
            overrides: Fields of the specification; a dictionary changes only the fields that it names,
                `pattern={"columns": 2048}`.
        """
        # Here, not above: few sensors are made by name, and the schema of sheets takes a while to build
        from sensorium import devices

        kind = str(cls.model_fields["kind"].default)
        return cls.model_validate(devices.specification(name, overrides, kind=kind, folder=folder))

    @abc.abstractmethod
    def start(self, rig: Rig) -> SensorModel[R]:
        """Put the sensor to work where the rig says."""
