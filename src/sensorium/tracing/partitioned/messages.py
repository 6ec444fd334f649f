"""Requests to a part of a scene, and its answers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import worker_pool
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light.remote_hits import LightHits
from sensorium.tracing.partitioned import routing
from sensorium.tracing.rays import RawHits, Rays

# Distance at which rays from arbitrary points begin to search [m]
AT_ONCE = np.zeros(1, np.float32)

# Values in the columns of `RawHits` and `LightHits` for a ray without a hit
NOTHING = (np.inf, 0.0, -1, -1, -1, 0.0)


class Bodies(NamedTuple):
    """Poses of bodies during a cast, at knots evenly spaced over the interval."""

    names: tuple[str, ...]
    positions: NDArray[np.float64]  # p_WB [m], (knots, bodies, 3)
    quaternions: NDArray[np.float64]  # (knots, bodies, 4)


class Sent(NamedTuple):
    """Rays sent to a part; a column that is the same for all has one row."""

    origin: NDArray[np.float64]
    direction: NDArray[np.float32]
    time: NDArray[np.float32]
    t_max: NDArray[np.float32]
    clear_m: NDArray[np.float32]  # how far on light begins to look; 0 for all other rays

    @classmethod
    def of(
        cls,
        origin: NDArray[np.float64],
        direction: NDArray[np.float32],
        time: NDArray[np.float32],
        t_max: NDArray[np.float32],
        clear_m: NDArray[np.float32] = AT_ONCE,
    ) -> "Sent":
        """Pack the columns of `Rays`, and the distances at which they begin to search [m]."""
        return cls(packed(origin), direction, packed(time), packed(t_max), packed(clear_m))

    def room_for(self, count: int) -> "Sent":
        """New columns for this many rays; columns that are the same for all are shared."""
        return Sent(
            self.origin if len(self.origin) == 1 else np.empty((count, 3)),
            np.empty((count, 3), np.float32),
            self.time if len(self.time) == 1 else np.empty(count, np.float32),
            np.empty(count, np.float32),
            self.clear_m if len(self.clear_m) == 1 else np.empty(count, np.float32),
        )

    def part(self, rows: slice) -> "Sent":
        """Some of these rays."""
        return Sent(
            self.origin if len(self.origin) == 1 else self.origin[rows],
            self.direction[rows],
            self.time if len(self.time) == 1 else self.time[rows],
            packed(self.t_max[rows]),
            self.clear_m if len(self.clear_m) == 1 else self.clear_m[rows],
        )

    def rays(self) -> Rays:
        """The rays, in arrays that can be written to."""
        # Arrays from another process are read-only, which is another type to compiled code
        count = len(self.direction)
        out = Rays(
            np.empty((count, 3)),
            np.empty((count, 3), np.float32),
            np.empty(count, np.float32),
            np.empty(count, np.float32),
            np.empty(count, np.int32),
        )
        worker_pool.run(routing.unpack, -(-count // BLOCK), BLOCK, self, out)
        return out


class Shared(NamedTuple):
    """Common data of all rays of a cast, in all parts."""

    near: NDArray[np.float64]  # point that float32 coordinates count from [m], (1, 3)
    bodies: Bodies  # all bodies of the whole scene
    hide: frozenset[str]  # bodies that the rays pass through
    coherent: bool  # as for `RayCaster.cast`
    from_anchor: bool = False  # as for `RayCaster.cast_rays`
    air: bool = True  # likewise
    light: bool = False  # whether light is followed: hits are `LightHits` of surfaces, from the anchor
    curved: bool = False  # whether hits and crossings tell the curvature of faces that mirror


class Met(NamedTuple):
    """A part's answer: hits of those rays that hit something in it."""

    rows: NDArray[np.int32]  # which of the rays that were sent
    hits: RawHits | LightHits  # of each of them, with the whole scene's objects and faces

    def of_all(self, count: int) -> RawHits | LightHits:
        """Hits of all the sent rays, given their number, with misses as casters report them."""
        columns: list[Any] = []
        for column, nothing in zip(self.hits, NOTHING, strict=True):
            whole = np.full((count, *column.shape[1:]), nothing, column.dtype)
            whole[self.rows] = column
            columns.append(whole)
        return type(self.hits)(*columns)


class Crossed(NamedTuple):
    """A part's answer to a request for all hits, one row per hit."""

    rows: NDArray[np.int32]  # which of the rays that were sent
    number: NDArray[np.float32]  # (hits, CROSSING_NUMBERS), see `tracing/embree/crossings.py`
    word: NDArray[np.int32]  # (hits, CROSSING_WORDS) with the whole scene's objects and faces, and labels


def packed(column: NDArray[Any]) -> NDArray[Any]:
    """One row, where all are the same."""
    same = bool((column[-1:] == column[:1]).all()) and bool((column[1:] == column[:-1]).all())
    return column[:1] if same else column
