"""`PartitionedCaster`: casts rays into a scene in parts, each in a process of its own, on any number of machines.

Each ray visits front to back the parts whose boxes it enters, until no further part can have a nearer hit. The nearest
hit is the least by (distance, number of the facet), so it depends neither on the parts nor on the order of answers.
`tracing/partitioned/forwarding.py` sends the rays. `tracing/partitioned/part_processes.py` keeps the processes alive:
it restarts a process that dies, elsewhere if its node is lost, and repeats the unanswered requests after the part is
built from its files.

The idea of distributing facets rather than rays is that of the Quick Caster of the VANE; there every processor sees
every ray, here only those that enter its box.
"""

from collections.abc import Iterator
from functools import partial
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import BackendError, SpecError
from sensorium.core.frames import Pose
from sensorium.runtime import cluster
from sensorium.scene.partition.part_files import PartIndex
from sensorium.scene.partition.split import made_material
from sensorium.scene.volumes import material_kinds
from sensorium.tracing.caster import AbstractCaster
from sensorium.tracing.embree.crossings import RawCrossings
from sensorium.tracing.kernels.light.remote_hits import LightHits, new_light_hits
from sensorium.tracing.partitioned.forwarding import Boxes, Forwarder
from sensorium.tracing.partitioned.messages import AT_ONCE, Bodies, Shared
from sensorium.tracing.partitioned.part import PartReport
from sensorium.tracing.partitioned.part_processes import PartProcesses
from sensorium.tracing.placement.body_places import BodyPlaces
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.rays import AllHits, Hits, LookUp, LookUpOfAll, RawHits, Rays, middle_of, new_hits

# Time limit for memory of the parts to become free [s]
_WAIT_S = 30.0


class PartitionedCaster(AbstractCaster):
    """Casts rays into a partitioned scene; the same interface as `RayCaster`, for one world.

    Create it inside `with sn.cluster.joined(address):`. The folder of the parts must have the same path on every
    machine.
    """

    worlds = 1

    def __init__(self, folder: str | PathLike[str], *, around_index: float = 1.0, wait_s: float = _WAIT_S) -> None:
        """Start a process for each part, and wait until all are built.

        Args:
            folder: Folder that `sn.split_scene` wrote.
            around_index: Refractive index of the atmosphere, by which air is distinguished from other volumes.
            wait_s: Time limit for the required memory to become free [s]; then it is an error.
        """
        if not 0.0 <= wait_s < np.inf:
            raise SpecError(f"wait_s is {wait_s}; it must be finite and not negative")
        self._ray = cluster.running()
        self._folder = Path(folder).resolve()
        self._index = PartIndex.load(self._folder)
        self._materials = [made_material(entry.material) for entry in self._index.objects]
        first_facet = np.cumsum([0, *(entry.faces for entry in self._index.objects)])[:-1].astype(np.int64)
        self.bodies = tuple(sorted({entry.body for entry in self._index.objects if entry.body is not None}))
        self.places = BodyPlaces(self.bodies, 1)

        self._parts: PartProcesses | None = PartProcesses(
            self._ray, self._folder, self._index.parts, around_index=around_index, wait_s=wait_s
        )
        filled = material_kinds(self._materials, around_index) > 0
        self._with_volumes = [
            number
            for number, part in enumerate(self._index.parts)
            if any(filled[piece.object_id] for piece in part.pieces)
        ]
        self._forwarder = Forwarder(self._ray, self._parts, first_facet)
        try:
            self.reports()
        except BaseException:
            self.close()
            raise

    @property
    def labels(self) -> dict[str, int]:
        """Number of each label name, from 1; 0 is unlabeled."""
        return dict(self._index.labels)

    def reports(self) -> tuple[PartReport, ...]:
        """Memory of each part, as its process reports it."""
        parts = self._processes()
        asked = [parts.ask(number, "report") for number in range(len(parts))]
        return tuple(parts.answer(each) for each in asked)

    def close(self) -> None:
        """End the processes of the parts."""
        if self._parts is not None:
            self._parts.close()
        self._parts = None

    def _processes(self) -> PartProcesses:
        """The processes of the parts, while there are any."""
        if self._parts is None:
            raise BackendError(f"the processes of the parts of {str(self._folder)!r} have ended; cast before close()")
        return self._parts

    def __enter__(self) -> "PartitionedCaster":
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def material_at(self, world: int, object_id: int) -> object | None:
        """Material of an object; None if it has none."""
        return self._materials[object_id]

    def pose_at(self, world: int, object_id: int, time: float) -> Pose:
        """X_WO of an object at a fraction of the interval of `move`."""
        entry = self._index.objects[object_id]
        return self.places.pose_at(entry.body, world, time) @ entry.pose

    def size_of(self, world: int, object_id: int) -> tuple[float, float]:
        """Radius of an object's mesh [m], and its volume [m3] where it is one."""
        entry = self._index.objects[object_id]
        return entry.radius_m, entry.volume_m3

    def _all(self, rays: Rays, hide: frozenset[str]) -> tuple[RawCrossings, LookUpOfAll]:
        self._check_hidden(hide)
        shared, everywhere = self._shared(rays, hide, coherent=False), range(len(self._index.parts))
        boxes = Boxes(*self._boxes(shared.bodies))
        found, part = self._forwarder.collect(rays, shared, boxes, everywhere, volumes_alone=False)
        return found, partial(self._property_at_some, part)

    def collect_volumes(
        self, rays: Rays, anchor: NDArray[np.float64], bodies: Bodies, *, hide: frozenset[str], curved: bool
    ) -> RawCrossings:
        """All faces of volumes that a sensor's rays cross; arguments as for `remote_hits`."""
        low, high = self._boxes(bodies)
        own = frozenset(self.bodies) & hide
        shared = Shared(anchor[None], bodies, own, coherent=False, from_anchor=True, curved=curved)
        boxes = Boxes(low - anchor, high - anchor)
        return self._forwarder.collect(rays, shared, boxes, self._with_volumes, volumes_alone=True)[0]

    def _nearest(
        self, rays: Rays, shape: tuple[int, ...], hide: frozenset[str], coherent: bool
    ) -> tuple[RawHits, LookUp]:
        self._check_hidden(hide)
        found = new_hits(len(rays.origin))
        part = self._follow(rays, self._shared(rays, hide, coherent), np.zeros(3), found)
        return found, partial(self._property_at, part.reshape(shape))

    def _check_hidden(self, hide: frozenset[str]) -> None:
        """Raise a SpecError for a body that the scene does not have."""
        for name in sorted(hide - set(self.bodies)):
            known = ", ".join(self.bodies) or "none"
            raise SpecError(f"hide names body {name!r}, which the scene does not have (it has: {known})")

    def _shared(self, rays: Rays, hide: frozenset[str], coherent: bool) -> Shared:
        """Common data of rays in world coordinates: one anchor for all parts, as one process would choose it."""
        near, motion = PlacedScenes.on_grid(middle_of(rays, np.zeros((1, 3)))), self.places.motion
        bodies = Bodies(self.bodies, motion.positions[:, 0], motion.quaternions[:, 0])
        return Shared(near, bodies, hide, coherent)

    def cast_from_anchor(
        self, rays: Rays, anchor: NDArray[np.float64], bodies: Bodies, *, hide: frozenset[str], air: bool
    ) -> RawHits:
        """Nearest hits of a sensor's rays, neighbors of which go almost the same way, as one process would find them.

        Args:
            rays: One row per ray; origins are relative to the anchor.
            anchor: A point of `PlacedScenes.on_grid` [m], shape (3,).
            bodies: Poses of all bodies of the scene while the rays fire.
            hide: Bodies that the rays pass through.
            air: Whether volumes of air are seen.
        """
        found, own = new_hits(len(rays.origin)), frozenset(self.bodies) & hide
        self._follow(rays, Shared(anchor[None], bodies, own, True, from_anchor=True, air=air), anchor, found)
        return found

    def remote_hits(
        self,
        rays: Rays,
        clear_m: NDArray[np.float32],
        anchor: NDArray[np.float64],
        bodies: Bodies,
        *,
        hide: frozenset[str],
        coherent: bool,
        curved: bool = False,
    ) -> LightHits:
        """Nearest surfaces for light that this process follows, as one process would find them.

        Args:
            rays: One row per ray; origins are relative to the anchor.
            clear_m: Distance at which each ray begins to search [m], shape (rays,).
            anchor: A point of `PlacedScenes.on_grid` [m], shape (3,).
            bodies: Poses of all bodies of the scene while the rays fire.
            hide: Bodies that the rays pass through.
            coherent: Whether neighbors go almost the same way.
            curved: Whether hits include the curvature of mirror faces.
        """
        found, own = new_light_hits(len(rays.origin), curved=curved), frozenset(self.bodies) & hide
        shared = Shared(anchor[None], bodies, own, coherent, from_anchor=True, light=True, curved=curved)
        self._follow(rays, shared, anchor, found, clear_m)
        return found

    def _follow(
        self,
        rays: Rays,
        common: Shared,
        start: NDArray[np.float64],
        found: RawHits | LightHits,
        clear_m: NDArray[np.float32] = AT_ONCE,
    ) -> NDArray[np.int32]:
        """Send rays whose origins count from a point [m], shape (3,), through the parts; else as `Forwarder.follow`."""
        low, high = self._boxes(common.bodies)
        return self._forwarder.follow(rays, common, Boxes(low - start, high - start), found, clear_m)

    def _boxes(self, bodies: Bodies) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Corners of what each part holds [m], shape (parts, 3); bodies anywhere on their way."""
        count = len(self._processes())
        low, high = np.full((count, 3), np.inf), np.full((count, 3), -np.inf)
        for number, entry in enumerate(self._index.parts):
            if entry.bounds_m is not None:
                low[number], high[number] = entry.bounds_m
            for name, reach_m in entry.reach_m.items():
                way = bodies.positions[:, bodies.names.index(name)]
                low[number] = np.minimum(low[number], way.min(axis=0) - reach_m)
                high[number] = np.maximum(high[number], way.max(axis=0) + reach_m)
        return low, high

    def _property_at_some(self, part: NDArray[np.int32], hits: AllHits, name: str) -> NDArray[Any]:
        """A property at some of all hits that were found, each in a part."""
        return self._property_at(part[hits.number], hits, name)

    def _property_at(self, part: NDArray[np.int32], hits: Hits | AllHits, name: str) -> NDArray[Any]:
        """A property at hits, requested from the parts that hold the faces."""
        values: NDArray[Any] | None = None
        for here, found in self._asked_property(part, hits, name):
            if values is None:
                values = np.zeros((*part.shape, *found.shape[1:]), found.dtype)
            values[here] = found
        return np.zeros(part.shape) if values is None else values

    def _asked_property(
        self, part: NDArray[np.int32], hits: Hits | AllHits, name: str
    ) -> Iterator[tuple[NDArray[np.bool_], NDArray[Any]]]:
        asks, parts = [], self._processes()
        for number in np.unique(part[hits.hit]).tolist():
            here = part == number
            columns = (hits.object_id[here], hits.face_id[here], hits.barycentric[here])
            asks.append((here, parts.ask(number, "property_at", name, *columns)))
        for here, answered in asks:
            yield here, parts.answer(answered)
