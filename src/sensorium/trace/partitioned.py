"""`PartitionedCaster`: rays into a scene that lies in parts, each in a process of its own, on any number of machines.

Each ray goes front to back through the parts whose boxes it enters, until no part further on can have a nearer hit. The
nearest hit is the least by (distance, number of the facet), so it depends neither on the parts nor on who answers
first. Rays travel in chunks, many under way at once. Ray keeps the processes alive: one that dies is started again,
builds its part from its files, and gets what it had not answered once more.

The idea of spreading facets rather than rays is that of the Quick Caster of the VANE; there every processor sees every
ray, here only those that enter its box.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium import cluster, threads
from sensorium.errors import BackendError, SpecError
from sensorium.scene.part_files import PartIndex
from sensorium.scene.split import made_material
from sensorium.trace import routing
from sensorium.trace.body_places import BodyPlaces
from sensorium.trace.caster import AbstractCaster, Hits, LookUp, RawHits, new_hits
from sensorium.trace.light.meet import LightHits, new_light_hits
from sensorium.trace.packet import BLOCK
from sensorium.trace.part import AT_ONCE, Bodies, Part, PartReport, Sent, Shared, packed
from sensorium.trace.placement import PlacedScenes
from sensorium.trace.rays import Rays, middle_of

# Rays sent together, and how many such chunks are under way: some 100 MB of rays and as much of hits
_CHUNK = 1 << 16
_UNDER_WAY = 32

# How often a part's process may die before it is given up, and a question may be asked again
_RESTARTS = 16


@dataclass
class _Chunk:
    """Rays that travel together: where each enters which part, inf once the part was asked."""

    first: int
    entry: NDArray[np.float32]
    open_asks: int = 0


@dataclass(frozen=True)
class _Ask:
    """A question that is under way."""

    chunk: _Chunk
    part: int
    rows: NDArray[np.intp]


class PartitionedCaster(AbstractCaster):
    """Casts rays into a scene of parts; the same face as `RayCaster`, for one world.

    Make it inside `with sn.cluster.joined(address):`. Every machine must find the folder of the parts under the same
    path.
    """

    worlds = 1

    def __init__(self, folder: str | PathLike[str]) -> None:
        """Start a process for each part, and wait until all are built.

        Args:
            folder: What `sn.split_scene` wrote.
        """
        self._ray = cluster.running()
        self._folder = Path(folder).resolve()
        self._index = PartIndex.load(self._folder)
        self._materials = [made_material(entry.material) for entry in self._index.objects]
        self._first_facet = np.cumsum([0, *(entry.faces for entry in self._index.objects)])[:-1].astype(np.int64)
        self.bodies = tuple(sorted({entry.body for entry in self._index.objects if entry.body is not None}))
        self.places = BodyPlaces(self.bodies, 1)

        # Cores are shared out evenly, and not reserved: parts wait for rays most of the time
        count = len(self._index.parts)
        cores = sum(node["Resources"].get("CPU", 0.0) for node in self._ray.nodes() if node["Alive"])
        actor = self._ray.remote(Part).options(
            num_cpus=0,
            max_restarts=_RESTARTS,
            max_task_retries=_RESTARTS,
            scheduling_strategy="SPREAD",
        )
        self._parts = [actor.remote(str(self._folder), number, max(1, int(cores / count))) for number in range(count)]
        self.reports()

    @property
    def labels(self) -> dict[str, int]:
        """Number of each label name, from 1; 0 is unlabelled."""
        return dict(self._index.labels)

    def reports(self) -> tuple[PartReport, ...]:
        """What each part takes, by its process."""
        return tuple(self._answer(part.report.remote(), number) for number, part in enumerate(self._parts))

    def close(self) -> None:
        """End the processes of the parts."""
        for part in self._parts:
            self._ray.kill(part)
        self._parts = []

    def __enter__(self) -> "PartitionedCaster":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def material_at(self, world: int, object_id: int) -> object | None:
        """Material of an object; None where it was given none."""
        return self._materials[object_id]

    def _nearest(
        self, rays: Rays, shape: tuple[int, ...], hide: frozenset[str], coherent: bool
    ) -> tuple[RawHits, LookUp]:
        for name in sorted(hide - set(self.bodies)):
            known = ", ".join(self.bodies) or "none"
            raise SpecError(f"hide names body {name!r}, which the scene does not have (it has: {known})")
        # One anchor for all parts, as one process would choose it
        near = PlacedScenes.on_grid(middle_of(rays, np.zeros((1, 3))))
        motion = self.places.motion
        bodies = Bodies(self.bodies, motion.positions[:, 0], motion.quaternions[:, 0])
        found = new_hits(len(rays.origin))
        part = self._follow(rays, Shared(near, bodies, hide, coherent), np.zeros(3), found)
        return found, partial(self._property_at, part.reshape(shape))

    def cast_from_anchor(
        self, rays: Rays, anchor: NDArray[np.float64], bodies: Bodies, *, hide: frozenset[str], air: bool
    ) -> RawHits:
        """Nearest hits of a sensor's rays, neighbours of which go almost the same way, as one process would find them.

        Args:
            rays: One row a ray; origins count from the anchor.
            anchor: A point of `PlacedScenes.on_grid` [m], shape (3,).
            bodies: Where all bodies of the scene are while the rays fire.
            hide: Bodies that the rays pass through.
            air: Whether volumes of air are seen.
        """
        found, own = new_hits(len(rays.origin)), frozenset(self.bodies) & hide
        self._follow(rays, Shared(anchor[None], bodies, own, True, from_anchor=True, air=air), anchor, found)
        return found

    def cast_near(self, rays: Rays, anchor: NDArray[np.float64], bodies: Bodies) -> RawHits:
        """Nearest hits of rays in the world in all that there is, in the coordinates of an anchor.

        Args:
            rays: One row a ray.
            anchor: A point of `PlacedScenes.on_grid` [m], shape (3,).
            bodies: Where all bodies of the scene are while the rays fire.
        """
        found = new_hits(len(rays.origin))
        self._follow(rays, Shared(anchor[None], bodies, frozenset(), False), np.zeros(3), found)
        return found

    def meet(
        self,
        rays: Rays,
        clear_m: NDArray[np.float32],
        anchor: NDArray[np.float64],
        bodies: Bodies,
        *,
        hide: frozenset[str],
        coherent: bool,
    ) -> LightHits:
        """Nearest hits for light that is followed here, as one process would find them.

        Args:
            rays: One row a ray; origins count from the anchor.
            clear_m: How far on each begins to look [m], shape (rays,).
            anchor: A point of `PlacedScenes.on_grid` [m], shape (3,).
            bodies: Where all bodies of the scene are while the rays fire.
            hide: Bodies that the rays pass through.
            coherent: Whether neighbours go almost the same way.
        """
        found, own = new_light_hits(len(rays.origin)), frozenset(self.bodies) & hide
        shared = Shared(anchor[None], bodies, own, coherent, from_anchor=True, light=True)
        self._follow(rays, shared, anchor, found, clear_m)
        return found

    # --- rays on their way ------------------------------------------------------------------------------------------

    def _follow(
        self,
        rays: Rays,
        common: Shared,
        start: NDArray[np.float64],
        found: RawHits | LightHits,
        clear_m: NDArray[np.float32] = AT_ONCE,
    ) -> NDArray[np.int32]:
        """Send all rays through the parts, and fill in the nearest hits; returns the part of each.

        Args:
            rays: One row a ray.
            common: What they have in common.
            start: Where their origins count from [m], shape (3,).
            found: Of the kind that is asked for.
            clear_m: How far on each begins to look [m], shape (rays,) or (1,).
        """
        if not self._parts:
            raise BackendError(f"the processes of the parts of {str(self._folder)!r} have ended; cast before close()")
        part, clear_m = np.full(len(rays.origin), -1, np.int32), packed(clear_m)
        for column, nothing in zip(found, (np.inf, 0.0, -1, -1, -1, 0.0), strict=True):
            column[:] = nothing
        shared = self._ray.put(common)
        low, high = (corner - start for corner in self._boxes(common.bodies))
        sent = rays._replace(origin=packed(rays.origin), time=packed(rays.time))
        starts = deque(range(0, len(rays.origin), _CHUNK))
        under_way: dict[Any, _Ask] = {}
        chunks = 0
        while starts or under_way:
            while starts and chunks < _UNDER_WAY:
                chunk = _entered(rays, starts.popleft(), low, high)
                chunks += self._go_on(chunk, sent, clear_m, shared, found, under_way)
            if not under_way:
                continue
            (answered,), _ = self._ray.wait(list(under_way), num_returns=1)
            ask = under_way.pop(answered)
            hits = self._answer(answered, ask.part)
            blocks = -(-len(ask.rows) // BLOCK)
            threads.run(routing.take_nearer, blocks, BLOCK, ask.rows, ask.part, self._first_facet, hits, found, part)
            ask.chunk.open_asks -= 1
            if ask.chunk.open_asks == 0 and not self._go_on(ask.chunk, sent, clear_m, shared, found, under_way):
                chunks -= 1
        if isinstance(found, RawHits):
            self._settle(rays, shared, low, high, found, part)
        return part

    def _settle(
        self,
        rays: Rays,
        shared: Any,
        low: NDArray[np.float64],
        high: NDArray[np.float64],
        found: RawHits,
        part: NDArray[np.int32],
    ) -> None:
        """Ask all parts that may hold faces of an edge on which a ray ends: one that comes before is the hit."""
        edge = np.empty(len(rays.origin), np.bool_)
        threads.run(routing.end_on_edges, -(-len(edge) // BLOCK), BLOCK, found, edge)
        on_edges = np.flatnonzero(edge)  # few, as a rule
        asked, asks = np.empty((len(on_edges), len(self._parts)), np.bool_), []
        threads.run(routing.share_edges, -(-len(asked) // BLOCK), BLOCK, on_edges, rays, low, high, found, asked)
        for number in np.flatnonzero(asked.any(axis=0)).tolist():
            rows = on_edges[asked[:, number]]
            sent = Sent.of(rays.origin[rows], rays.direction[rows], rays.time[rows], rays.t_max[rows])
            asks.append((number, rows, self._parts[number].settle.remote(sent, found.range_m[rows], shared)))
        for number, rows, answered in asks:
            hits = self._answer(answered, number)
            blocks = -(-len(rows) // BLOCK)
            threads.run(routing.take_nearer, blocks, BLOCK, rows, number, self._first_facet, hits, found, part)

    def _go_on(
        self,
        chunk: _Chunk,
        rays: Rays,
        clear_m: NDArray[np.float32],
        shared: Any,
        found: RawHits | LightHits,
        under_way: dict[Any, _Ask],
    ) -> bool:
        """Ask, for each ray of a chunk, the next part it enters; returns whether anything was left to ask.

        Columns of the rays that are the same for all have one row.
        """
        chosen = slice(chunk.first, chunk.first + len(chunk.entry))
        following = np.empty(len(chunk.entry), np.int32)
        blocks = -(-len(following) // BLOCK)
        threads.run(routing.choose_next, blocks, BLOCK, chunk.entry, found.range_m[chosen], following)
        counts = np.bincount(following + 1, minlength=len(self._parts) + 1)[1:]
        for number in np.flatnonzero(counts).tolist():
            rows = np.flatnonzero(following == number) + chunk.first
            where: Any = chosen if len(rows) == len(following) else rows

            # Nothing farther than what is known is of use; what is just as far is, since facets decide then
            limit = np.minimum(rays.t_max[where], np.nextafter(found.range_m[where], np.float32(np.inf)))
            origin, time, clear = (_rows(column, where) for column in (rays.origin, rays.time, clear_m))
            sent = Sent.of(origin, rays.direction[where], time, limit, clear)
            under_way[self._parts[number].cast.remote(sent, shared)] = _Ask(chunk, number, rows)
            chunk.open_asks += 1
        return chunk.open_asks > 0

    def _boxes(self, bodies: Bodies) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Corners of what each part holds [m], shape (parts, 3); bodies anywhere on their way."""
        low, high = np.full((len(self._parts), 3), np.inf), np.full((len(self._parts), 3), -np.inf)
        for number, entry in enumerate(self._index.parts):
            if entry.bounds_m is not None:
                low[number], high[number] = entry.bounds_m
            for name, reach_m in entry.reach_m.items():
                way = bodies.positions[:, bodies.names.index(name)]
                low[number] = np.minimum(low[number], way.min(axis=0) - reach_m)
                high[number] = np.maximum(high[number], way.max(axis=0) + reach_m)
        return low, high

    # --- answers ----------------------------------------------------------------------------------------------------

    def _answer(self, answered: Any, number: int) -> Any:
        """What a part answered, or its error as our own."""
        try:
            return self._ray.get(answered)
        except self._ray.exceptions.RayTaskError as error:
            raise error.cause from None
        except self._ray.exceptions.RayError as error:
            reason = (str(error).strip().splitlines() or [type(error).__name__])[-1]
            raise BackendError(f"part {number} of {str(self._folder)!r} cannot be kept alive: {reason}") from None

    def _property_at(self, part: NDArray[np.int32], hits: Hits, name: str) -> NDArray[Any]:
        """A property at hits, asked from the parts that hold the faces."""
        values: NDArray[Any] | None = None
        for here, found in self._asked_property(part, hits, name):
            if values is None:
                values = np.zeros((*part.shape, *found.shape[1:]), found.dtype)
            values[here] = found
        return np.zeros(part.shape) if values is None else values

    def _asked_property(
        self, part: NDArray[np.int32], hits: Hits, name: str
    ) -> Iterator[tuple[NDArray[np.bool_], NDArray[Any]]]:
        asks = []
        for number in np.unique(part[hits.hit]).tolist():
            here = part == number
            columns = (hits.object_id[here], hits.face_id[here], hits.barycentric[here])
            asks.append((number, here, self._parts[number].property_at.remote(name, *columns)))
        for number, here, answered in asks:
            yield here, self._answer(answered, number)


def _rows(column: NDArray[Any], where: Any) -> NDArray[Any]:
    """Some rows of a column, or the one row of a column that is the same for all."""
    return column if len(column) == 1 else column[where]


def _entered(rays: Rays, first: int, low: NDArray[np.float64], high: NDArray[np.float64]) -> _Chunk:
    """A chunk of rays that starts at the first, with the distances at which they enter the parts."""
    chosen = slice(first, first + _CHUNK)
    origin, direction, t_max = rays.origin[chosen], rays.direction[chosen], rays.t_max[chosen]
    entry = np.empty((len(origin), len(low)), np.float32)
    blocks = -(-len(origin) // BLOCK)
    threads.run(routing.enter_parts, blocks, BLOCK, origin, direction, t_max, low, high, entry)
    return _Chunk(first, entry)
