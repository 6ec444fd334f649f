"""Jitter of a lidar's firing times, column by column."""

import numpy as np

from sensorium.patterns import RayTable
from sensorium.random import Stream
from sensorium.sensors.common.spec import Timing

_STAGE = 0


class ColumnJitter:
    """Moves the firing times of the columns of each sweep; directions stay, as in a head that fires by its encoder.

    All channels of a column move together, by a normal number times `timing.jitter_s`, cut at 0.45 of the time between
    columns and at the ends of the sweep. Worlds and sensors share one clock, and so the draw.
    """

    def __init__(self, timing: Timing, seed: int, name: str) -> None:
        self._timing, self._stream = timing, Stream(seed, f"{name}/column_jitter")
        self._last: tuple[RayTable, int, RayTable] | None = None

    def moved(self, table: RayTable, sweep: int) -> RayTable:
        """The rays of a sweep at their jittered times; the same object as long as the same sweep is requested."""
        if self._last is not None and self._last[0] is table and self._last[1] == sweep:
            return self._last[2]
        columns = table.shape[1]
        normal = self._stream.normal(_STAGE, 0, sweep, elements=columns)[0]
        shift_ns = self._timing.shifts_ns(normal, table.duration_ns / columns)
        first_ns, last_ns = table.offset_ns.min(axis=0), table.offset_ns.max(axis=0)
        shift_ns = np.clip(shift_ns, -first_ns, table.duration_ns - 1 - last_ns)
        moved = RayTable(table.direction_S, table.offset_ns + shift_ns, table.origin_S, table.duration_ns)
        self._last = table, sweep, moved
        return moved
