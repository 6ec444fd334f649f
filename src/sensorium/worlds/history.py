"""The recent past of a world: states by time, and interpolated poses.

Between two states, positions are linear and orientations use slerp, everywhere in the library. A reset is a jump: the
restarted worlds are treated as if they had always been at their new poses, and the history records the time from which
their poses are valid.
"""

from bisect import bisect_left, bisect_right
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import WorldError
from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.runtime import worker_pool
from sensorium.worlds.base import WorldState
from sensorium.worlds.interpolation import ADDRESS, AFTER, BEFORE, TIME_NS, interpolate_states, serial_worlds

# states this close to evenly spaced times count as evenly spaced [ns]
_EVEN_NS = 1000.0

# where they are not, segments for each time between two of them
_SEGMENTS_A_STATE = 4

# stand-in for a time that is not set: before everything
_ALWAYS = np.iinfo(np.int64).min


Bracket = tuple[WorldState, WorldState, float]
"""The states around an instant, and its fraction of the way from one to the other."""


class Span(NamedTuple):
    """The states that span an interval, as kernels read them."""

    start_ns: int
    end_ns: int
    states: list[WorldState]
    """Kept while their addresses are in use."""
    table: NDArray[np.int64]
    """Address of the numbers of each, and its time [ns], shape (2, states)."""


class History:
    """States of all worlds, oldest first."""

    def __init__(self, state: WorldState, *, worlds: int | None = None) -> None:
        """Begin with a state.

        Args:
            state: The first.
            worlds: Required number of worlds; None accepts any.
        """
        # Times and addresses in arrays of their own: sweeps read those of many states, each elsewhere in memory
        self._states: list[WorldState] = [state]
        self._times_ns: list[int] = [state.time_ns]
        self._addresses: list[int] = [state.address]
        count, self.bodies = state.X_WB.shape
        self.worlds = count if worlds is None else worlds
        self._check_worlds(state)
        self.valid_from_ns = np.full(self.worlds, _ALWAYS, np.int64)
        """When each world last restarted [ns], shape (worlds,)."""
        self.restarted_ns = _ALWAYS
        """When any of them last did [ns]."""
        self._span: Span | None = None
        self._unread = False

    def __getstate__(self) -> dict[str, Any]:
        """State for copying, without addresses of states."""
        return {**self.__dict__, "_addresses": [], "_span": None}

    def __setstate__(self, fields: dict[str, Any]) -> None:
        self.__dict__.update(fields)
        self._addresses, self._unread = [state.address for state in self._states], False

    @property
    def newest(self) -> WorldState:
        """The last state added."""
        return self._states[-1]

    @property
    def start_ns(self) -> int:
        """Time of the oldest state kept [ns]."""
        return self._times_ns[0]

    def add(self, state: WorldState, *, read: bool = True) -> None:
        """Add the state of a later time.

        Args:
            state: The state.
            read: Whether it will be read; if not, its numbers may be computed later.
        """
        time_ns = state.time_ns
        if time_ns <= self._times_ns[-1]:
            raise WorldError(f"the world is at {time_ns} ns after {self._times_ns[-1]} ns; its time must go forward")
        self._check_worlds(state)
        self._states.append(state)
        self._times_ns.append(time_ns)
        if read:
            self._addresses.append(state.address)
        else:
            self._addresses.append(0)
            self._unread = True

    def be_read(self) -> None:
        """Compute the numbers of states whose computation was deferred."""
        if self._unread:
            self._addresses, self._unread = [state.address for state in self._states], False

    def forget_before(self, time_ns: int) -> None:
        """Drop states that no time from time_ns on needs."""
        # One by one: usually a step makes one state superfluous
        times_ns = self._times_ns
        while len(times_ns) > 1 and times_ns[1] <= time_ns:
            del self._states[0], times_ns[0], self._addresses[0]

    def restart(self, mask: NDArray[np.bool_], state: WorldState) -> None:
        """Replace the newest state after a reset of some worlds.

        Args:
            mask: Worlds that restarted, shape (worlds,).
            state: The state now.
        """
        self._check_worlds(state)
        self._span = None
        self._states = [*(_standing(mask, state, old) for old in self._states[:-1]), state]
        self._times_ns = [kept.time_ns for kept in self._states]
        self._addresses, self._unread = [kept.address for kept in self._states], False
        self.valid_from_ns[mask] = state.time_ns
        self.restarted_ns = state.time_ns

    def bracket(self, time_ns: int) -> Bracket:
        """The states around an instant [ns], and its fraction of the way from one to the other.

        At a state's own time it is that state twice, and the fraction 0.
        """
        states, times_ns = self._states, self._times_ns
        if times_ns[-1] == time_ns:  # usually sensors read the last step
            newest = states[-1]
            return newest, newest, 0.0
        at = bisect_left(times_ns, time_ns)
        if at < len(times_ns):
            after_ns, after = times_ns[at], states[at]
            if after_ns == time_ns:
                return after, after, 0.0
            if at:
                before_ns = times_ns[at - 1]
                return states[at - 1], after, (time_ns - before_ns) / (after_ns - before_ns)
        raise WorldError(
            f"the state at {time_ns} ns is asked for; the history has {self.start_ns} to {self.newest.time_ns} ns"
        )

    def span(self, start_ns: int, end_ns: int) -> Span:
        """The states around an interval [ns], from the last not after its start to the first not before its end."""
        # Ray sensors request the same interval several times
        span = self._span
        if span is not None and span.start_ns == start_ns and span.end_ns == end_ns:
            return span
        first = bisect_right(self._times_ns, start_ns) - 1
        last = bisect_left(self._times_ns, end_ns)
        if first < 0 or last == len(self._times_ns):
            raise self._not_kept(start_ns, end_ns)
        self.be_read()
        needed = slice(first, last + 1)
        table = np.array([self._addresses[needed], self._times_ns[needed]], np.int64)
        self._span = span = Span(start_ns, end_ns, self._states[needed], table)
        return span

    def write_around(self, time_ns: int, table: NDArray[np.int64]) -> None:
        """Write the states around an instant [ns] for a kernel; at a state's own time only the one after it is read.

        Args:
            time_ns: The instant.
            table: Filled with their addresses and times, shape (2, 2). They hold until the history changes.
        """
        times_ns = self._times_ns
        at = len(times_ns) - 1 if times_ns[-1] == time_ns else bisect_left(times_ns, time_ns)  # usually the newest
        if at == len(times_ns) or (at == 0 and times_ns[0] != time_ns):
            raise self._not_kept(time_ns, time_ns)
        self.be_read()
        table[ADDRESS, AFTER], table[TIME_NS, AFTER] = self._addresses[at], times_ns[at]
        if times_ns[at] != time_ns:
            table[ADDRESS, BEFORE], table[TIME_NS, BEFORE] = self._addresses[at - 1], times_ns[at - 1]

    def motion(self, times_ns: NDArray[np.int64], body: int | None = None) -> tuple[Float, Float]:
        """Positions p_WB [m] and quaternions q_WB at the given times, as new arrays.

        Args:
            times_ns: Increasing times [ns] within the kept states, shape (times,).
            body: One body, or None for all.

        Returns:
            Shapes (times, worlds, bodies, 3) and (times, worlds, bodies, 4).
        """
        span = self.span(times_ns.item(0), times_ns.item(-1))
        shape = (len(times_ns), self.worlds, self.bodies if body is None else 1)
        position, quaternion = np.empty((*shape, 3)), np.empty((*shape, 4))
        worker_pool.run(
            interpolate_states,
            self.worlds,
            span.table,
            times_ns,
            self.bodies,
            0 if body is None else body,
            position,
            quaternion,
            serial_below=serial_worlds(shape[0] * shape[2]),
        )
        return position, quaternion

    def poses(self, times_ns: NDArray[np.int64], body: int | None = None) -> Pose:
        """Poses X_WB at the given times.

        Args:
            times_ns: Increasing times [ns] within the kept states, shape (times,).
            body: One body, or None for all.

        Returns:
            Batch shape (times, worlds), or (times, worlds, bodies) for all.
        """
        X_WB = Pose._trusted(*self.motion(times_ns, body))
        return X_WB if body is None else X_WB[:, :, 0]

    def last_piece(self, after_ns: int, time_ns: int) -> tuple[int, Bracket]:
        """Start of the last path segment up to an instant [ns], and the bracket of the instant.

        It is the last state before the instant, or `after_ns` if that is later.
        """
        times_ns = self._times_ns
        if times_ns[-1] == time_ns:  # usually
            newest, start_ns = self._states[-1], times_ns[-2] if len(times_ns) > 1 else after_ns
            return start_ns if start_ns > after_ns else after_ns, (newest, newest, 0.0)
        at = bisect_left(times_ns, time_ns)
        return max(times_ns[at - 1], after_ns) if at else after_ns, self.bracket(time_ns)

    def state_times_ns(self, after_ns: int, before_ns: int) -> list[int]:
        """Times of the states after one time and before another [ns], rising."""
        return [time_ns for time_ns in self._times_ns if after_ns < time_ns < before_ns]

    def times_within(self, start_ns: int, end_ns: int) -> NDArray[np.int64]:
        """Start, the times of the states inside the interval, and end [ns]; one time for an instant."""
        if end_ns == start_ns:
            return np.array([start_ns], np.int64)

        # Of the states around the interval only the first and the last may lie outside
        times_ns = self.span(start_ns, end_ns).table[TIME_NS].copy()
        times_ns[0], times_ns[-1] = start_ns, end_ns
        return times_ns

    def knots(self, start_ns: int, end_ns: int, *, most: int) -> NDArray[np.int64]:
        """Evenly spaced times over an interval that fall on the states inside it, where `most` segments allow that.

        Args:
            start_ns: Start of the interval [ns].
            end_ns: Its end; equal to the start for an instant, which gives one time.
            most: Largest number of segments.
        """
        times_ns = self.times_within(start_ns, end_ns)
        if len(times_ns) <= 2:
            return times_ns
        # Evenly spaced already? A state a nanosecond after the start, as rates such as 15 Hz give, would make a long
        # list
        segments, gap_ns = len(times_ns) - 1, times_ns.item(1) - start_ns
        divides = segments <= most and segments * gap_ns == end_ns - start_ns
        if divides and times_ns.tolist() == list(range(start_ns, end_ns + 1, gap_ns)):
            return times_ns
        inside_ns = times_ns - start_ns
        segments = _even_segments(inside_ns, most)
        steps = np.arange(segments + 1, dtype=np.int64)
        return start_ns + (steps * (end_ns - start_ns)) // segments

    def _check_worlds(self, state: WorldState) -> None:
        """Refuse a state with another number of worlds: kernels read this number from its address."""
        if state.worlds != self.worlds:
            raise WorldError(
                f"the world's state() is of {state.worlds} worlds at {state.time_ns} ns; "
                f"it must be of {self.worlds}, as many as start(worlds) was told"
            )

    def _not_kept(self, start_ns: int, end_ns: int) -> WorldError:
        """The error for a request of poses that are not kept."""
        kept = f"{self.start_ns} to {self.newest.time_ns} ns"
        return WorldError(f"poses from {start_ns} to {end_ns} ns are asked for; the history has {kept}")


def _standing(mask: NDArray[np.bool_], new: WorldState, old: WorldState) -> WorldState:
    """The old state with the new poses and joint positions in masked worlds."""
    bodies, joints = mask[:, None, None], mask[:, None]
    return replace(
        old,
        X_WB=Pose._trusted(
            np.where(bodies, new.X_WB.position, old.X_WB.position),
            np.where(bodies, new.X_WB.quaternion, old.X_WB.quaternion),
        ),
        v_WB=np.where(bodies, 0.0, old.v_WB),
        w_WB=np.where(bodies, 0.0, old.w_WB),
        joint_position=np.where(joints, new.joint_position, old.joint_position),
        joint_velocity=np.where(joints, 0.0, old.joint_velocity),
        a_WB=None if old.a_WB is None else np.where(bodies, 0.0, old.a_WB),
        alpha_WB=None if old.alpha_WB is None else np.where(bodies, 0.0, old.alpha_WB),
    )


def _even_segments(times_ns: NDArray[np.int64], most: int) -> int:
    """The fewest even segments from the first to the last time on which all others lie, to a microsecond.

    A microsecond makes rates such as 60 Hz even. For states at uneven times, a few segments for each of them.
    """
    duration_ns = float(times_ns[-1])
    for segments in range(len(times_ns) - 1, most + 1):
        off = times_ns * (segments / duration_ns)
        if np.abs(off - np.rint(off)).max() * duration_ns / segments <= _EVEN_NS:
            return segments
    return min(most, _SEGMENTS_A_STATE * (len(times_ns) - 1), int(times_ns[-1]))
