"""Faults: temporary errors, by the clock or at random, and the schedule of a sensor's faults."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field, field_validator, model_validator

from sensorium.core.clock import seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec, path_of, positional_init
from sensorium.corruption.engine.base import AnyCorruption, Corruption, Float, Grid, Layout, layouts_in_row
from sensorium.corruption.engine.chain import Chain
from sensorium.corruption.engine.op import Op
from sensorium.corruption.engine.parameters import Channels, some_channels
from sensorium.corruption.errors.timing_errors import TimingErrors
from sensorium.corruption.faults.clock import FaultClock

if TYPE_CHECKING:
    from sensorium.corruption.engine.program import Part


class Fault(Corruption):
    """An error that is active at times: from `start_s` to `end_s`, or at random, in each world by itself.

    A random one starts `onsets_per_s` times a second of healthy time: the time to the next onset is exponential, as in
    a Poisson process that stands still while the fault is active. It lasts `duration_s` on average, exponential or
    always the same, and without a duration until the world is reset. In the long run it is active for a share
    r d / (1 + r d) of the time. All worlds begin healthy. A fault that ends and sets in again between two samples goes
    on, as far as the signal can tell.

    It is part of a `Chain` like any corruption, or in the `FaultSchedule` of a sensor. Instead of the signal it may
    upset the sensor's time; such faults belong to a schedule, and are the same in all worlds, which share one clock.

    >>> stuck = sn.corruption.Fault(sn.corruption.Stuck(mode="present"), start_s=1.0, end_s=2.0)
    >>> clock = sn.corruption.FaultSchedule(faults=(stuck,)).begin(worlds=1, seed=0, name="imu")
    >>> [int(clock.at(time_ns)[0, 0]) for time_ns in (0, 1_500_000_000, 2_000_000_000)]
    [0, 1, 0]
    >>> clock.log
    FaultLog([FaultEvent(fault='stuck', world=0, start_ns=1000000000, end_ns=2000000000)])
    """

    kind: Literal["fault"] = "fault"
    corruption: AnyCorruption | None = None
    """Corruption of the signal while it is active."""
    timing: TimingErrors | None = None
    """Error of the sensor's timing, instead."""
    name: str | None = Field(default=None, min_length=1)
    """Name in the log; None takes the kind of the corruption. Its random times depend on it."""
    start_s: float | None = None
    """Time of onset [s]; None is from the beginning."""
    end_s: float | None = None
    """Time of the end [s]; None is never."""
    onsets_per_s: float | None = Field(default=None, gt=0.0)
    """Rate of random onsets [1/s], instead."""
    duration_s: float | None = Field(default=None, gt=0.0)
    """Mean duration of random faults [s]; None is until the world is reset."""
    fixed_duration: bool = False
    """Whether the duration is always the mean."""
    target: str | None = None
    """Group of a sensor's channels that it acts on, such as "linear" of an IMU; None for every one."""
    channels: Channels | None = None
    """Channels that it acts on; None for all."""

    @positional_init
    def __init__(self, corruption: Any = None, **fields: Any) -> None:
        Spec.__init__(self, corruption=corruption, **fields)

    @field_validator("corruption")
    @classmethod
    def _no_fault_in_a_fault(cls, corruption: Corruption | None) -> Corruption | None:
        if corruption is not None and _holds_a_fault(corruption):
            raise ValueError("corruption has a fault in it; a fault must not switch another")
        return corruption

    @model_validator(mode="after")
    def _rules(self) -> Fault:
        if (self.corruption is None) == (self.timing is None):
            raise ValueError("corruption and timing are both given or both not; exactly one of them must be given")
        if self.timing is not None and self.channels is not None:
            raise ValueError("channels is given with timing; time has none")
        if self.timing is not None and self.target is not None:
            raise ValueError(f"target is {self.target!r} with timing; a sensor has one time")
        if self.onsets_per_s is not None and (self.start_s is not None or self.end_s is not None):
            raise ValueError("onsets_per_s is given with start_s or end_s; give random times or known ones")
        if self.onsets_per_s is None and self.duration_s is not None:
            raise ValueError("duration_s is given without onsets_per_s; it belongs to random times, give end_s")
        if self.fixed_duration and self.duration_s is None:
            raise ValueError("fixed_duration is given without duration_s; it says what that means")
        if self.start_s is not None and self.end_s is not None and not self.start_s < self.end_s:
            raise ValueError(f"start_s is {self.start_s:g} and end_s is {self.end_s:g}; it must end after it starts")
        for time_s in (self.start_s, self.end_s):
            if time_s is not None:
                seconds_to_ns(time_s)
        return self

    def limits(self, width: int) -> tuple[Float, Float] | None:
        """None: a temporary limit is not the chain's."""
        return None

    def has_limits_off(self) -> bool:
        """False, likewise."""
        return False

    def codes_behind(self, layout: Layout) -> Grid | None:
        """Codes of the incoming signal, if its corruption only quantizes and saturates."""
        if not self.on or self.corruption is None:
            return layout.codes_before
        return layout.codes_before if self.corruption.codes_behind(self._inside(layout)) is not None else None

    def codes_ahead(self, layout: Layout) -> Grid | None:
        """Codes that come after it, likewise."""
        if not self.on or self.corruption is None:
            return layout.codes_after
        return layout.codes_after if self.corruption.codes_ahead(self._inside(layout)) is not None else None

    def operations(self, layout: Layout) -> list[Op]:
        """Operations of its corruption, switched by itself, on its own channels."""
        if self.corruption is None:
            raise SpecError("a fault of timing stands in a chain; it must stand in the schedule of a sensor")
        return [replace(op, switch=self) for op in self.inner(layout)]

    def inner(self, layout: Layout) -> list[Op]:
        """Operations of its corruption on its own channels, not switched; none for one of timing.

        If it is off they are marked so, as for every corruption: others of their kind keep their random numbers.
        """
        if self.corruption is None:
            return []
        if not self.on:
            return [replace(op, on=False) for op in self.corruption.operations(layout.assumed())]

        ops = self.corruption.switched(self._inside(layout))
        if self.channels is None:
            return ops
        own = some_channels("channels", self.channels, layout.width)
        return [replace(op, channels=_both(own, op.channels)) for op in ops]

    def _inside(self, layout: Layout) -> Layout:
        """The layout of its corruption, whose parts use each other's limits before those outside."""
        return layout if self.corruption is None else self.corruption.with_own_limits(layout)


class FaultSchedule(Spec):
    """The faults of one sensor. Different faults, and worlds, have independent random times."""

    faults: tuple[Fault, ...] = ()
    """In the order in which they act."""

    @model_validator(mode="after")
    def _rules(self) -> FaultSchedule:
        given = [fault.name for fault in self.faults if fault.name is not None]
        twice = next((name for name in given if given.count(name) > 1), None)
        if twice is not None:
            raise ValueError(
                f"two faults are named {twice!r}; names must differ, since the log and random times use them"
            )
        return self

    @property
    def corrupt(self) -> bool:
        """Whether any acts on the signal; others only affect the sensor's timing."""
        return any(fault.corruption is not None and fault.on for fault in self.faults)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the faults, as in the log; those without get their kind, and a number if that is taken."""
        names: list[str] = []
        taken = {fault.name for fault in self.faults}
        for fault in self.faults:
            kind = "timing" if fault.corruption is None else fault.corruption.kind
            name, number = fault.name or kind, 1
            while fault.name is None and name in taken:
                number += 1
                name = f"{kind}_{number}"
            taken.add(name)
            names.append(name)
        return tuple(names)

    def begin(
        self, worlds: int = 1, sensors: int = 1, *, seed: int, name: str = "signal", first_world: int = 0
    ) -> FaultClock:
        """The clock of the active faults, for a sensor in these worlds.

        Args:
            worlds: Number of worlds.
            sensors: Sensors in each, which a world's faults strike together.
            seed: Of the random times.
            name: Of the sensor or signal.
            first_world: Number of the first world among all worlds of an experiment.
        """
        return FaultClock(self.faults, self.names, worlds, sensors, seed=seed, name=name, first_world=first_world)

    def parts(
        self,
        layout: Layout,
        *,
        column: int = 0,
        group: int = 0,
        target: str | None = None,
        named: bool = False,
    ) -> list[Part]:
        """Operations of the faults for a `Program`, switched by the masks of `FaultClock.at`.

        Args:
            layout: The channels they act on, with what the sensor's own chain knows.
            column: First of them in the program's signal.
            group: Number that keeps their randomness apart from that of other parts.
            target: Name of the group of channels; faults that strike another are left out.
            named: Whether those that name no group are left out too, since they strike these channels among others.
        """
        from sensorium.corruption.engine.program import Part

        parts = []
        meant = (target,) if named else (None, target)
        here = {number: fault for number, fault in enumerate(self.faults) if fault.target in meant}
        layouts = iter(layouts_in_row(list(here.values()), layout))
        for number, fault in here.items():
            with blamed(number):
                ops = fault.inner(next(layouts))
                for op in ops:
                    some_channels("channels", (0,) if op.channels is None else op.channels, layout.width)
            if ops:
                parts.append(Part(ops, column, layout.width, group, number))
        return parts


@contextmanager
def blamed(number: int) -> Iterator[None]:
    """Make errors raised inside name the fault, by its place in the specification of its sensor."""
    try:
        yield
    except SpecError as error:
        place = ("faults", "faults", number)
        sentence = f"{path_of('', place)}: {error}"
        raise SpecError(sentence, ((place, sentence),)) from None


def _holds_a_fault(corruption: Corruption) -> bool:
    if isinstance(corruption, Chain):
        return any(_holds_a_fault(part) for part in corruption.parts)
    return isinstance(corruption, Fault)


def _both(own: tuple[int, ...], channels: tuple[int, ...] | None) -> tuple[int, ...]:
    """Channels that are in both; None is all."""
    both = own if channels is None else tuple(channel for channel in own if channel in channels)
    if not both:
        raise SpecError(
            f"channels of a fault are {own} and those of its corruption {channels}; they must have one in common"
        )
    return both
