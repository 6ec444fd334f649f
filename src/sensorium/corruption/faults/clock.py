"""Clock of a fault schedule: the faults that are active at a time."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import NS_PER_S, seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.corruption.errors.timing_errors import TimingErrors
from sensorium.corruption.faults.log import FaultLog
from sensorium.random import Stream, draw_words, exponential_f64
from sensorium.runtime import jit

if TYPE_CHECKING:
    from sensorium.corruption.faults.fault import Fault

_EVERYWHERE, _SWITCH_ON, _SWITCH_OFF = -1, -2, -3
_NEVER = np.iinfo(np.int64).max
_BEFORE = np.iinfo(np.int64).min
_ONSET, _DURATION = range(2)


class FaultClock:
    """State of a schedule in some worlds; its time only goes forward.

    Random times are functions of (seed, name of the sensor, name of the fault, world, number of the onset), so that
    neither other faults, nor the split of a batch, nor the number of requests can change them. They count from the
    first requested time, since recordings begin at any time.

    Attributes:
        log: What was active when, as far as the clock was asked.
    """

    def __init__(
        self,
        faults: Sequence[Fault],
        names: Sequence[str],
        worlds: int,
        sensors: int,
        *,
        seed: int,
        name: str,
        first_world: int = 0,
    ) -> None:
        """See `FaultSchedule.begin`."""
        if worlds < 1 or sensors < 1:
            raise SpecError(f"worlds is {worlds} and sensors is {sensors}; both must be 1 or more")
        self.log = FaultLog()
        self._faults, self._names = tuple(faults), tuple(names)
        self._worlds, self._sensors, self._first_world = worlds, sensors, first_world
        self._streams = [Stream(seed, f"{name}\0fault\0{fault}") for fault in names]
        self._time_ns = _BEFORE
        self._began = False

        # Changes to come, the next one first: (time, fault, world)
        self._changes: list[tuple[int, int, int]] = []
        self._next_ns = _BEFORE

        # How often an onset was drawn in each world, and last for all worlds together; numbers in the log of the events
        # that are active, or -1; and the same as a mask with a row for each sensor
        self._drawn = [[0] * (worlds + 1) for _ in faults]
        self._events = [[-1] * worlds for _ in faults]
        self._mask = np.zeros((worlds * sensors, len(faults)), np.uint8)
        self.onsets_ns = np.zeros((worlds * sensors, len(faults)), np.int64)
        """Last onset of each fault that is active at the last requested time [ns]; shape
        (worlds * sensors, faults)."""
        self._timing: dict[tuple[int, ...], TimingErrors] = {}

    def at(self, time_ns: int) -> NDArray[np.uint8]:
        """Mask of faults that are active at a time [ns], not before the last requested one.

        Returns:
            1 for active, else 0, shape (worlds * sensors, faults); valid until the next call.
        """
        if not self._time_ns <= time_ns < self._next_ns:
            self._advance(time_ns)
        self._time_ns = time_ns
        return self._mask

    def series(self, times_ns: NDArray[np.int64]) -> NDArray[np.uint8]:
        """The same for increasing times, shape (times, worlds * sensors, faults), or (1, ...) if nothing changes."""
        masks, _, counts = self._pieces(times_ns)
        return _repeated(masks, counts)

    def series_with_onsets(self, times_ns: NDArray[np.int64]) -> tuple[NDArray[np.uint8], NDArray[np.int64]]:
        """The same, and the onsets of the active ones [ns], of the same shape."""
        masks, onsets_ns, counts = self._pieces(times_ns)
        return _repeated(masks, counts), _repeated(onsets_ns, counts)

    def _pieces(
        self, times_ns: NDArray[np.int64]
    ) -> tuple[list[NDArray[np.uint8]], list[NDArray[np.int64]], list[int]]:
        """Intervals of increasing times without a change: masks, onsets [ns], and the number of times in each."""
        masks, onsets_ns, counts = [], [], []
        begin = 0
        while begin < len(times_ns):
            masks.append(self.at(int(times_ns[begin])).copy())
            onsets_ns.append(self.onsets_ns.copy())
            end = int(np.searchsorted(times_ns, self._next_ns))
            counts.append(end - begin)
            begin = end
        self._time_ns = int(times_ns[-1])
        return masks, onsets_ns, counts

    def timing(self, time_ns: int) -> TimingErrors:
        """All timing errors that are active at a time [ns], combined."""
        mask = self.at(time_ns)
        active = tuple(f for f, fault in enumerate(self._faults) if fault.timing is not None and mask[0, f])
        if active not in self._timing:
            given = [self._faults[f].timing for f in active]
            self._timing[active] = sum((errors for errors in given if errors is not None), TimingErrors())
        return self._timing[active]

    def reset(self, mask: NDArray[np.bool_], time_ns: int) -> None:
        """Restart some worlds: random faults that are active there end, and later onsets are drawn from now on.

        Known times stay, for they are the clock's, and so does timing, which all worlds share.

        Args:
            mask: Which worlds, shape (worlds,).
            time_ns: Now [ns], not before the last requested time.
        """
        if np.shape(mask) != (self._worlds,):
            raise SpecError(f"mask has shape {np.shape(mask)}; it must be ({self._worlds},), one for each world")
        self.at(time_ns)
        worlds = set(np.flatnonzero(mask).tolist())
        random = [f for f in range(len(self._faults)) if self._strikes(f)]
        self._changes = [change for change in self._changes if change[1] not in random or change[2] not in worlds]
        heapq.heapify(self._changes)
        for f in random:
            for world in sorted(worlds):
                if self._events[f][world] >= 0:
                    self._end(f, world, time_ns)
                self._draw_onset(f, world, time_ns)
        self._settle()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the faults, as in the log."""
        return self._names

    def active(self, name: str) -> bool:
        """Whether a fault is active in some world, as far as the clock was asked."""
        return any(event >= 0 for event in self._events[self._number(name)])

    def switch(self, name: str, on: bool, time_ns: int) -> None:
        """Start or end a fault by hand in all worlds; it then stays so.

        Its own times are void from then on; a reset draws those of a random fault again.

        Args:
            name: Name of the fault, as in the log.
            on: Whether it is active from then on.
            time_ns: When [ns].
        """
        f = self._number(name)
        if on and not self._faults[f].on:
            raise SpecError(f"fault {name!r} is off in its specification; only faults that are on can be started")
        heapq.heappush(self._changes, (time_ns, f, _SWITCH_ON if on else _SWITCH_OFF))
        self._settle()

    def _number(self, name: str) -> int:
        if name not in self._names:
            raise SpecError(f"fault is {name!r}; the sensor has {', '.join(self._names) or 'none'}")
        return self._names.index(name)

    def copy(self) -> FaultClock:
        """An independent copy in the same state."""
        twin = FaultClock.__new__(FaultClock)
        twin.__dict__.update(self.__dict__)
        twin.log, twin._changes = self.log.copy(), list(self._changes)
        twin._drawn = [list(drawn) for drawn in self._drawn]
        twin._events, twin._mask = [list(events) for events in self._events], self._mask.copy()
        twin.onsets_ns = self.onsets_ns.copy()
        return twin

    def _advance(self, time_ns: int) -> None:
        """Advance to a time [ns]."""
        if time_ns < self._time_ns:
            raise SpecError(f"time_ns is {time_ns} after {self._time_ns}; the time of faults only goes forward")
        if not self._began:
            self._begin(time_ns)
        while self._changes and self._changes[0][0] <= time_ns:
            change_ns, f, world = heapq.heappop(self._changes)
            self._change(f, world, change_ns)
        self._settle()

    def _begin(self, time_ns: int) -> None:
        """Prepare the first request: known onsets, and random ones from there on."""
        self._began = True
        for f, fault in enumerate(self._faults):
            if not fault.on:
                continue
            if fault.onsets_per_s is not None:
                for world in range(self._worlds) if self._strikes(f) else (_EVERYWHERE,):
                    self._draw_onset(f, world, time_ns)
            elif fault.end_s is None or seconds_to_ns(fault.end_s) > time_ns:
                start_ns = time_ns if fault.start_s is None else seconds_to_ns(fault.start_s)
                heapq.heappush(self._changes, (start_ns, f, _EVERYWHERE))

    def _strikes(self, f: int) -> bool:
        """Whether a fault starts at random, in each world independently."""
        fault = self._faults[f]
        return fault.on and fault.onsets_per_s is not None and fault.timing is None

    def _change(self, f: int, world: int, time_ns: int) -> None:
        """Start or end a fault, and determine its next change."""
        fault = self._faults[f]
        if world in (_SWITCH_ON, _SWITCH_OFF):
            self._switch(f, world == _SWITCH_ON, time_ns)
            return
        if self._events[f][max(world, 0)] >= 0:
            self._end(f, world, time_ns)
            if fault.onsets_per_s is not None:
                self._draw_onset(f, world, time_ns)
            return

        self._start(f, world, time_ns)
        if fault.end_s is not None:
            heapq.heappush(self._changes, (seconds_to_ns(fault.end_s), f, world))
        if fault.duration_s is not None:
            factor = 1.0 if fault.fixed_duration else self._exponential(f, world, _DURATION)
            heapq.heappush(self._changes, (time_ns + _at_least_1_ns(fault.duration_s * factor), f, world))

    def _switch(self, f: int, on: bool, time_ns: int) -> None:
        """Start or end a fault by hand where it is not so already; changes that were planned are void."""
        self._changes = [change for change in self._changes if change[1] != f or change[2] < _EVERYWHERE]
        heapq.heapify(self._changes)
        for world in range(self._worlds):
            if (self._events[f][world] >= 0) != on:
                (self._start if on else self._end)(f, world, time_ns)

    def _start(self, f: int, world: int, time_ns: int) -> None:
        """Start a fault in one world, or in all."""
        for w in self._each(world):
            self._events[f][w] = self.log.open(self._names[f], self._first_world + w, time_ns)
        self._mask[self._rows(world), f] = 1
        self.onsets_ns[self._rows(world), f] = time_ns

    def _end(self, f: int, world: int, time_ns: int) -> None:
        """End a fault in one world, or in all."""
        for w in self._each(world):
            self.log.close(self._events[f][w], time_ns)
            self._events[f][w] = -1
        self._mask[self._rows(world), f] = 0

    def _each(self, world: int) -> range:
        """The given world, or all."""
        return range(self._worlds) if world == _EVERYWHERE else range(world, world + 1)

    def _rows(self, world: int) -> slice:
        """Rows of the mask for one world, or for all."""
        return slice(None) if world == _EVERYWHERE else slice(world * self._sensors, (world + 1) * self._sensors)

    def _draw_onset(self, f: int, world: int, time_ns: int) -> None:
        """Draw the next onset of a fault in a world, or in all."""
        onsets_per_s = self._faults[f].onsets_per_s
        assert onsets_per_s is not None
        self._drawn[f][world] += 1
        wait_s = self._exponential(f, world, _ONSET) / onsets_per_s
        heapq.heappush(self._changes, (time_ns + _at_least_1_ns(wait_s), f, world))

    def _exponential(self, f: int, world: int, draw: int) -> float:
        """An exponential number of mean 1 for the last drawn onset; a fault of all worlds is drawn as world 0."""
        number = 0 if world == _EVERYWHERE else self._first_world + world
        return exponential(*self._streams[f].key, draw, self._drawn[f][world], number)

    def _settle(self) -> None:
        self._next_ns = self._changes[0][0] if self._changes else _NEVER


def _repeated(pieces: list[NDArray[Any]], counts: list[int]) -> NDArray[Any]:
    """Each piece repeated by its count, along a new first axis; a single one once."""
    return pieces[0][None] if len(pieces) == 1 else np.repeat(np.stack(pieces), counts, axis=0)


def _at_least_1_ns(duration_s: float) -> int:
    return max(1, round(duration_s * NS_PER_S))


@jit.kernel
def exponential(k0: np.uint32, k1: np.uint32, draw: int, tick: int, world: int) -> float:
    """An exponential number of mean 1."""
    w0, w1, _, _ = draw_words(k0, k1, 0, 0, draw, tick, world)
    return exponential_f64(w0, w1)
