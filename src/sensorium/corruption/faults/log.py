"""Log of the times at which faults were active."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice, takewhile
from typing import overload

# Events over that a log remembers, some 20 MB; a thousand worlds that learn for a day see many more
KEPT = 100_000


@dataclass(frozen=True, slots=True)
class FaultEvent:
    """One interval in which a fault was active in a world, from `start_ns` until before `end_ns`.

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
    """Events in the order of their onsets: all that are active, and the latest that are over.

    In a long run it drops the oldest ended events, so that its size stays bounded; `total` counts all events.
    """

    def __init__(self, events: Sequence[FaultEvent] = (), *, keep: int = KEPT) -> None:
        # By number, which counts onsets from the first one on
        self._events = dict(enumerate(events))
        self._keep = keep
        self.total = len(events)

    @overload
    def __getitem__(self, at: int) -> FaultEvent: ...

    @overload
    def __getitem__(self, at: slice) -> list[FaultEvent]: ...

    def __getitem__(self, at: int | slice) -> FaultEvent | list[FaultEvent]:
        return list(self._events.values())[at]

    def __len__(self) -> int:
        return len(self._events)

    def __iter__(self) -> Iterator[FaultEvent]:
        return iter(self._events.values())

    def __eq__(self, other: object) -> bool:
        return list(self) == list(other) if isinstance(other, Sequence) else NotImplemented

    def __repr__(self) -> str:
        return f"FaultLog({list(self)!r})"

    def at(self, time_ns: int, world: int = 0) -> tuple[str, ...]:
        """Names of the faults that were active in a world at a time [ns], in the order of their onsets."""
        return tuple(event.fault for event in self if event.world == world and event.active(time_ns))

    def of(self, fault: str | None = None, world: int | None = None) -> list[FaultEvent]:
        """Events of one fault, of one world, or of both."""
        return [e for e in self if fault in (None, e.fault) and world in (None, e.world)]

    def copy(self) -> FaultLog:
        """An independent copy."""
        twin = FaultLog(keep=self._keep)
        twin._events, twin.total = dict(self._events), self.total
        return twin

    def open(self, fault: str, world: int, start_ns: int) -> int:
        """Record an onset; returns the number to close it with."""
        number = self.total
        self._events[number] = FaultEvent(fault, world, start_ns)
        self.total += 1
        if len(self._events) > self._keep + self._keep // 4:
            self._forget()
        return number

    def close(self, number: int, end_ns: int) -> None:
        """Record the end of an event."""
        event = self._events[number]
        self._events[number] = FaultEvent(event.fault, event.world, event.start_ns, end_ns)

    def _forget(self) -> None:
        """Drop the oldest ended events beyond the number to keep."""
        over = (number for number, event in self._events.items() if event.end_ns is not None)
        oldest = set(islice(over, len(self._events) - self._keep))
        self._events = {number: event for number, event in self._events.items() if number not in oldest}


class FaultWatch:
    """Follows a log: the faults that started or ended since the last call."""

    def __init__(self, from_ns: int) -> None:
        """Begin at a time [ns]: faults active then are reported as onsets, and those that ended before are not."""
        self._from_ns = from_ns
        self._seen = 0
        self._active: list[int] = []

    def changes(self, log: FaultLog) -> list[FaultEvent]:
        """Ends of events seen before, then onsets of new ones (`end_ns` is None), each with its end if it is over."""
        if self._seen == log.total and not self._active:
            return []
        events = log._events
        before = {number: events[number] for number in self._active if number in events}
        new = {number: events[number] for number in self._since(log) if self._tells(events[number])}
        changed = [event for event in before.values() if event.end_ns is not None]
        for event in new.values():
            changed.append(FaultEvent(event.fault, event.world, event.start_ns))
            changed += [event] if event.end_ns is not None else []
        self._active = [number for number, event in (before | new).items() if event.end_ns is None]
        self._seen = log.total
        return changed

    def _since(self, log: FaultLog) -> list[int]:
        """Numbers of the new events, in the order of their onsets; old ones are not examined."""
        newest_first = takewhile(lambda number: number >= self._seen, reversed(log._events))
        return list(newest_first)[::-1]

    def _tells(self, event: FaultEvent) -> bool:
        return event.end_ns is None or event.end_ns > self._from_ns
