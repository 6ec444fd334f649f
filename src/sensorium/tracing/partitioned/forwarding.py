"""Forwarding of rays through the parts of a scene: choice of the next part, and merging of answers.

Rays travel in chunks, many at once. Rays of a chunk that enter the same part next are sent there together; when all
requested parts have answered, the rays that may still have a nearer hit go on.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import worker_pool
from sensorium.tracing.embree.crossings import C_COLUMN, C_FACE, C_T, RawCrossings, new_raw_crossings
from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light.remote_hits import LightHits
from sensorium.tracing.partitioned import routing
from sensorium.tracing.partitioned.messages import AT_ONCE, NOTHING, Met, Sent, Shared
from sensorium.tracing.partitioned.part_processes import PartProcesses
from sensorium.tracing.rays import RawHits, Rays

# Rays sent together, and how many such chunks are under way: some 100 MB of rays and as much of hits. Each question
# costs Ray about 10 ms of CPU time in four processes; larger ones than this no longer fit into caches.
_CHUNK = 1 << 18
_UNDER_WAY = 8


class Boxes(NamedTuple):
    """Corners of what each part holds, from where rays count [m]."""

    low: NDArray[np.float64]  # (parts, 3)
    high: NDArray[np.float64]


@dataclass
class _Chunk:
    """Rays that travel together: where each enters which part, inf once the part was asked."""

    first: int
    entry: NDArray[np.float32]
    open_asks: int = 0


class _Ask(NamedTuple):
    """A pending request."""

    chunk: _Chunk
    part: int
    rows: NDArray[np.int64]


class _Cast(NamedTuple):
    """All rays of a cast, and their results so far."""

    rays: Sent
    shared: Any  # where Ray keeps `Shared`
    boxes: Boxes
    found: RawHits | LightHits
    part: NDArray[np.int32]  # of each hit, -1 for none


class Forwarder:
    """Sends rays through the parts."""

    def __init__(self, ray: Any, parts: PartProcesses, first_facet: NDArray[np.int64]) -> None:
        """Keep the parts.

        Args:
            ray: The module.
            parts: Their processes.
            first_facet: Facet number of each object's first face, shape (objects,).
        """
        self._ray = ray
        self._parts = parts
        self._first_facet = first_facet

    def follow(
        self,
        rays: Rays,
        common: Shared,
        boxes: Boxes,
        found: RawHits | LightHits,
        clear_m: NDArray[np.float32] = AT_ONCE,
    ) -> NDArray[np.int32]:
        """Send all rays through the parts, and fill in the nearest hits; returns the part of each.

        Args:
            rays: One row per ray.
            common: Their common data.
            boxes: Of the parts.
            found: `RawHits` or `LightHits` to fill.
            clear_m: Distance at which each ray begins to search [m], shape (rays,) or (1,).
        """
        for column, nothing in zip(found, NOTHING, strict=True):
            column[:] = nothing
        sent = Sent.of(rays.origin, rays.direction, rays.time, rays.t_max, clear_m)
        part = np.full(len(rays.origin), -1, np.int32)
        cast = _Cast(sent, self._ray.put(common), boxes, found, part)
        starts = deque(range(0, len(rays.origin), _CHUNK))
        under_way: dict[Any, _Ask] = {}
        chunks = 0
        while starts or under_way:
            while starts and chunks < _UNDER_WAY:
                chunk = _entered(rays, starts.popleft(), boxes)
                chunks += self._go_on(cast, chunk, under_way)
            if not under_way:
                continue
            answered = self._parts.first_answered(under_way)
            ask = under_way.pop(answered)
            self._take(cast, ask.rows, ask.part, self._parts.answer(answered))
            ask.chunk.open_asks -= 1
            if ask.chunk.open_asks == 0 and not self._go_on(cast, ask.chunk, under_way):
                chunks -= 1
        if isinstance(found, RawHits):
            self._settle(cast, rays, found)
        return part

    def collect(
        self, rays: Rays, common: Shared, boxes: Boxes, parts: Sequence[int], *, volumes_alone: bool
    ) -> tuple[RawCrossings, NDArray[np.int32]]:
        """All faces that rays cross, to infinity, and the part of each.

        Args:
            rays: One row per ray.
            common: Their common data.
            boxes: Of the parts.
            parts: Parts to request.
            volumes_alone: Whether only faces of volumes count.
        """
        shared, asked = self._ray.put(common), []
        endless = rays._replace(t_max=np.full(len(rays.origin), np.inf, np.float32))
        for start in range(0, len(rays.origin), _CHUNK):
            entry = _entered(endless, start, boxes).entry
            for one in parts:
                rows = start + np.flatnonzero(np.isfinite(entry[:, one]))
                if len(rows):
                    sent = Sent.of(rays.origin[rows], rays.direction[rows], rays.time[rows], endless.t_max[rows])
                    asked.append((one, rows, self._parts.ask(one, "collect", sent, shared, volumes_alone)))

        # Ray by ray, as `sort_crossings` orders them
        answers = [(asked_part, rows, self._parts.answer(answered)) for asked_part, rows, answered in asked]
        ray = np.concatenate([np.zeros(0, np.int64), *(rows[crossed.rows] for _, rows, crossed in answers)])
        nothing = new_raw_crossings(0, 1)
        number = np.concatenate([nothing.number[:, 0], *(crossed.number for _, _, crossed in answers)])
        word = np.concatenate([nothing.word[:, 0], *(crossed.word for _, _, crossed in answers)])
        parts_asked = np.array([asked_part for asked_part, _, _ in answers], np.int32)
        part = np.repeat(parts_asked, [len(crossed.rows) for _, _, crossed in answers])
        order = np.lexsort((word[:, C_FACE], word[:, C_COLUMN], number[:, C_T], ray))
        count = np.bincount(ray, minlength=len(rays.origin))
        place = np.arange(len(ray)) - np.repeat(np.cumsum(count) - count, count)
        out = new_raw_crossings(len(rays.origin), int(count.max(initial=1)))
        out.found[:] = count
        out.number[ray[order], place], out.word[ray[order], place] = number[order], word[order]
        return out, part[order]

    def _go_on(self, cast: _Cast, chunk: _Chunk, under_way: dict[Any, _Ask]) -> bool:
        """Request, for each ray of a chunk, the next part it enters; returns whether anything was left to request."""
        chosen, blocks = np.empty(len(chunk.entry), np.int32), -(-len(chunk.entry) // BLOCK)
        counts = np.empty((len(self._parts), blocks), np.int64)
        known = cast.found.range_m[chunk.first : chunk.first + len(chosen)]
        worker_pool.run(routing.choose_next, blocks, BLOCK, chunk.entry, known, chosen, counts)

        # Where the rays of each part lie, and in them those of each block
        ends = np.cumsum(counts).reshape(counts.shape)
        total = int(ends[-1, -1])
        if total == 0:
            return False
        sorted_rays, rows = cast.rays.room_for(total), np.empty(total, np.int64)
        where = (chunk.first, chosen, ends - counts, cast.rays, cast.found.range_m, sorted_rays, rows)
        worker_pool.run(routing.sort_by_part, blocks, BLOCK, *where)
        for number in np.flatnonzero(counts.any(axis=1)).tolist():
            chosen_rows = slice(int(ends[number, 0] - counts[number, 0]), int(ends[number, -1]))
            asked = self._parts.ask(number, "cast", sorted_rays.part(chosen_rows), cast.shared)
            under_way[asked] = _Ask(chunk, number, rows[chosen_rows])
            chunk.open_asks += 1
        return True

    def _take(self, cast: _Cast, rows: NDArray[np.int64], number: int, met: Met) -> None:
        """Merge the answer of a part for some rays."""
        blocks = -(-len(met.rows) // BLOCK)
        hits = (self._first_facet, met.rows, met.hits, cast.found, cast.part)
        worker_pool.run(routing.take_nearer, blocks, BLOCK, rows, number, *hits)

    def _settle(self, cast: _Cast, rays: Rays, found: RawHits) -> None:
        """Request all parts that may hold faces of an edge on which a ray ends: a face that sorts first is the hit."""
        edge = np.empty(len(rays.origin), np.bool_)
        worker_pool.run(routing.end_on_edges, -(-len(edge) // BLOCK), BLOCK, found, edge)
        on_edges = np.flatnonzero(edge)  # usually few
        asked, asks = np.empty((len(on_edges), len(self._parts)), np.bool_), []
        blocks = -(-len(asked) // BLOCK)
        worker_pool.run(routing.share_edges, blocks, BLOCK, on_edges, rays, *cast.boxes, found, asked)
        for number in np.flatnonzero(asked.any(axis=0)).tolist():
            rows = on_edges[asked[:, number]]
            sent = Sent.of(rays.origin[rows], rays.direction[rows], rays.time[rows], rays.t_max[rows])
            asks.append((number, rows, self._parts.ask(number, "settle", sent, found.range_m[rows], cast.shared)))
        for number, rows, answered in asks:
            self._take(cast, rows, number, self._parts.answer(answered))


def _entered(rays: Rays, first: int, boxes: Boxes) -> _Chunk:
    """A chunk of rays that starts at the first, with the distances at which they enter the parts."""
    chosen = slice(first, first + _CHUNK)
    origin, direction, t_max = rays.origin[chosen], rays.direction[chosen], rays.t_max[chosen]
    entry = np.empty((len(origin), len(boxes.low)), np.float32)
    blocks = -(-len(origin) // BLOCK)
    worker_pool.run(routing.enter_parts, blocks, BLOCK, origin, direction, t_max, *boxes, entry)
    return _Chunk(first, entry)
