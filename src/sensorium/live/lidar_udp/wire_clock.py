"""When simulated times are due by the wall clock."""

import numpy as np
from numpy.typing import NDArray


class WireClock:
    """Maps simulated times to the monotonic clock: wall = anchor + simulated / speed.

    A paced run ends no step before its time, so the anchor is the least that any step has shown. A run that falls
    behind does not move it, and its packets are late, until it is behind by more than a bound (a pause, another speed,
    a slow machine): then counting begins again. Without a speed everything is due at once.
    """

    def __init__(self, most_behind_ns: int) -> None:
        """Make one; `most_behind_ns` is the bound [ns] of the wall clock."""
        self._most_behind_ns = most_behind_ns
        self._speed: float | None = None
        self._anchor_ns: int | None = None
        self._now_ns = 0

    def observe(self, simulated_ns: int, wall_ns: int, speed: float | None) -> None:
        """A step has ended.

        Args:
            simulated_ns: Its end in simulated time [ns].
            wall_ns: Time of the monotonic clock [ns].
            speed: Simulated over real time; None for no pace.
        """
        self._now_ns = wall_ns
        if speed is None:
            self._speed, self._anchor_ns = None, None
            return
        anchor_ns = wall_ns - round(simulated_ns / speed)
        if self._anchor_ns is None or speed != self._speed or anchor_ns - self._anchor_ns > self._most_behind_ns:
            self._anchor_ns = anchor_ns
        self._speed, self._anchor_ns = speed, min(self._anchor_ns, anchor_ns)

    def spread_ns(self, simulated_ns: NDArray[np.int64], *, now_ns: int, last_ns: int) -> NDArray[np.int64]:
        """When packets shall leave that may be late already [ns], of the same shape.

        Late packets follow each other in half their own time and not in a burst, which would overflow the buffer of a
        receiver; so a run that was behind catches up.

        Args:
            simulated_ns: Simulated times at which they are due, rising.
            now_ns: The present time of the monotonic clock [ns].
            last_ns: When the packet before them leaves, by the monotonic clock [ns].
        """
        due_ns = self.due_ns(simulated_ns)
        if self._speed is None or not len(due_ns):
            return due_ns
        return np.maximum(due_ns, max(now_ns, last_ns) + (due_ns - due_ns[0]) // 2)

    def due_ns(self, simulated_ns: NDArray[np.int64]) -> NDArray[np.int64]:
        """When simulated times are due by the monotonic clock [ns], of the same shape."""
        if self._anchor_ns is None or self._speed is None:
            return np.full(simulated_ns.shape, self._now_ns, np.int64)
        return self._anchor_ns + np.rint(simulated_ns / self._speed).astype(np.int64)
