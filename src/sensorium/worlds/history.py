"""The recent past of a world: states by time, and poses between them.

Between two states poses go along straight lines and slerp, everywhere in the library. A reset is a jump: the restarted
worlds are taken to have stood at their new poses all along, and from when on they can be trusted is remembered.
"""

import math
from collections import deque

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import WorldError
from sensorium.frames import Pose
from sensorium.worlds.base import WorldState

# what a time that is not set compares as: before everything
_ALWAYS = np.iinfo(np.int64).min


class History:
    """States of all worlds, oldest first."""

    def __init__(self, state: WorldState) -> None:
        self._states: deque[WorldState] = deque([state])
        self.worlds, self.bodies = state.X_WB.shape
        self.valid_from_ns = np.full(self.worlds, _ALWAYS, np.int64)
        """When each world last restarted [ns], shape (worlds,)."""

    @property
    def newest(self) -> WorldState:
        """The last state added."""
        return self._states[-1]

    @property
    def start_ns(self) -> int:
        """Time of the oldest state kept [ns]."""
        return self._states[0].time_ns

    def add(self, state: WorldState) -> None:
        """Add the state of a later time."""
        if state.time_ns <= self.newest.time_ns:
            raise WorldError(
                f"the world is at {state.time_ns} ns after {self.newest.time_ns} ns; its time must go forward"
            )
        self._states.append(state)

    def forget_before(self, time_ns: int) -> None:
        """Drop states that no time from time_ns on needs."""
        while len(self._states) > 1 and self._states[1].time_ns <= time_ns:
            self._states.popleft()

    def restart(self, mask: NDArray[np.bool_], state: WorldState) -> None:
        """Take the state after a reset of some worlds, at the newest time.

        Args:
            mask: Worlds that restarted, shape (worlds,).
            state: The state now.
        """
        at = mask[:, None, None]
        for i, old in enumerate(self._states):
            X_WB = Pose(
                np.where(at, state.X_WB.position, old.X_WB.position),
                np.where(at, state.X_WB.quaternion, old.X_WB.quaternion),
            )
            self._states[i] = WorldState(
                old.time_ns, X_WB, old.v_WB, old.w_WB, old.joint_position, old.joint_velocity, old.a_WB, old.alpha_WB,
                old.gravity_W,
            )
        self._states[-1] = state
        self.valid_from_ns[mask] = state.time_ns

    def poses(self, times_ns: NDArray[np.int64], body: int | None = None) -> Pose:
        """Poses X_WB at the given times.

        Args:
            times_ns: Increasing times [ns] within what is kept, shape (times,).
            body: One body, or None for all.

        Returns:
            Batch shape (times, worlds), or (times, worlds, bodies) for all.
        """
        kept = np.array([state.time_ns for state in self._states], np.int64)
        if times_ns[0] < kept[0] or times_ns[-1] > kept[-1]:
            raise WorldError(
                f"poses from {times_ns[0]} to {times_ns[-1]} ns are asked for; the history has {kept[0]} to {kept[-1]} ns"
            )
        pick = slice(None) if body is None else body
        after = np.searchsorted(kept, times_ns, side="left")

        # A time that is a state's own needs no interpolation, and gets exactly that state
        needed = np.unique(np.concatenate([after, np.maximum(after - 1, 0)]))
        row = {int(n): i for i, n in enumerate(needed)}
        poses = Pose.stack([self._states[n].X_WB[:, pick] for n in needed])
        right = np.array([row[int(n)] for n in after])
        if (kept[after] == times_ns).all():
            return poses[right]
        left = np.array([row[max(int(n) - 1, 0)] for n in after])
        span = np.maximum(kept[after] - kept[np.maximum(after - 1, 0)], 1)
        s = 1.0 - (kept[after] - times_ns) / span
        return poses[left].interpolate(poses[right], s.reshape(-1, *(1,) * (len(poses.shape) - 1)))

    def times_within(self, start_ns: int, end_ns: int) -> NDArray[np.int64]:
        """Start, the times of the states inside the interval, and end [ns]; one time for an instant."""
        inside = [state.time_ns for state in self._states if start_ns < state.time_ns < end_ns]
        return np.array([start_ns, *inside, *([end_ns] if end_ns > start_ns else [])], np.int64)

    def knots(self, start_ns: int, end_ns: int, *, most: int) -> NDArray[np.int64]:
        """Evenly spaced times over an interval that fall on the states inside it, where `most` segments allow that.

        Args:
            start_ns: Start of the interval [ns].
            end_ns: Its end; equal to the start for an instant, which gives one time.
            most: Largest number of segments.
        """
        if end_ns == start_ns:
            return np.array([start_ns], np.int64)
        spacing = math.gcd(*(self.times_within(start_ns, end_ns) - start_ns).tolist())
        segments = min((end_ns - start_ns) // spacing, most)
        steps = np.arange(segments + 1, dtype=np.int64)
        return start_ns + (steps * (end_ns - start_ns)) // segments
