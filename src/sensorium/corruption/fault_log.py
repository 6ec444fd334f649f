"""What was wrong when."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import overload


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """One stretch of time in which a fault was active in a world, from `start_ns` until before `end_ns`.

    Attributes:
        fault: Name of the fault.
        world: Number of the world.
        start_ns: When it set in [ns].
        end_ns: When it was over [ns]; None while it is active.
    """

    fault: str
    world: int
    start_ns: int
    end_ns: int | None = None

    def active(self, time_ns: int) -> bool:
        """Whether it was active at a time [ns]."""
        return self.start_ns <= time_ns and (self.end_ns is None or time_ns < self.end_ns)


class FaultLog(Sequence[FaultEvent]):
    """All events so far, in the order of their onsets."""

    def __init__(self, events: Sequence[FaultEvent] = ()) -> None:
        self._events = list(events)

    @overload
    def __getitem__(self, at: int) -> FaultEvent: ...

    @overload
    def __getitem__(self, at: slice) -> list[FaultEvent]: ...

    def __getitem__(self, at: int | slice) -> FaultEvent | list[FaultEvent]:
        return self._events[at]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[FaultEvent]:
        return iter(self._events)

    def __eq__(self, other: object) -> bool:
        return self._events == list(other) if isinstance(other, Sequence) else NotImplemented

    def __repr__(self) -> str:
        return f"FaultLog({self._events!r})"

    def at(self, time_ns: int, world: int = 0) -> tuple[str, ...]:
        """Names of the faults that were active in a world at a time [ns], in the order of their onsets."""
        return tuple(event.fault for event in self._events if event.world == world and event.active(time_ns))

    def of(self, fault: str | None = None, world: int | None = None) -> list[FaultEvent]:
        """Events of one fault, of one world, or of both."""
        return [e for e in self._events if fault in (None, e.fault) and world in (None, e.world)]

    def copy(self) -> FaultLog:
        """One that goes on by itself."""
        return FaultLog(self._events)

    def open(self, fault: str, world: int, start_ns: int) -> int:
        """Write down an onset; the number to close it with."""
        self._events.append(FaultEvent(fault, world, start_ns))
        return len(self._events) - 1

    def close(self, number: int, end_ns: int) -> None:
        """Write down the end of an event."""
        event = self._events[number]
        self._events[number] = FaultEvent(event.fault, event.world, event.start_ns, end_ns)
