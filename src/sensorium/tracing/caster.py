"""`RayCaster`: casts rays into a scene and returns the nearest hits as plain arrays."""

import threading
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from functools import cached_property, partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.runtime import worker_pool
from sensorium.scene.batch import SceneBatch
from sensorium.scene.layout import layout
from sensorium.scene.scene import Scene
from sensorium.scene.volumes import Extents
from sensorium.tracing.embree import cast
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.embree.packet import BLOCK, COHERENT_ADDRESS, SCATTERED_ADDRESS
from sensorium.tracing.kernels.light.curvature import curvature_tables
from sensorium.tracing.kernels.light.mesh_reflectance import reflectance_tables
from sensorium.tracing.kernels.light.remote_hits import (
    FaceTables,
    LightHits,
    bend_crossings,
    new_light_hits,
    remote_hits,
)
from sensorium.tracing.labels import label_tables
from sensorium.tracing.placement.body_places import BodyMotion, BodyPlaces
from sensorium.tracing.placement.scenes import PlacedScenes
from sensorium.tracing.rays import (
    AllHits,
    Hits,
    LookUp,
    LookUpOfAll,
    RawHits,
    Rays,
    checked_bodies,
    checked_rays,
    middle_of,
    new_hits,
    property_at,
    shaped_hits,
)

# Initial capacity for the faces that a ray crosses
_CROSSINGS = 16

# Empty tables where curvature is not requested
_FLAT_FIRST, _FLAT = np.full((1, 1), -1, np.int64), np.zeros((0, 6), np.float32)


class AbstractCaster(ABC):
    """Common base of casters: placement of bodies, and checks of rays before a cast."""

    worlds: int
    """Number of worlds."""
    places: BodyPlaces
    """Poses of the bodies."""

    def place(self, poses: Mapping[str, Pose]) -> None:
        """Put bodies at poses X_WB (batch shape () or (worlds,)); they are at rest during a cast."""
        _check_poses("poses", poses)
        for name, pose in poses.items():
            if pose.shape not in ((), (1,), (self.worlds,)):
                raise SpecError(
                    f"the pose of body {name!r} has batch shape {pose.shape}; it must be () or ({self.worlds},), "
                    "one for each world"
                )
        self.move({name: Pose.stack([pose]) for name, pose in poses.items()})

    def move(self, knots: Mapping[str, Pose]) -> None:
        """Let bodies move during a cast.

        Args:
            knots: For each body its poses X_WB at evenly spaced times from the start of the interval (time 0) to its
                end (time 1), batch shape (knots,) or (knots, worlds); straight lines and slerp between them. Every
                moving body needs the same number; a body with one knot, or not named, stands still.
        """
        _check_poses("knots", knots)
        for name, pose in knots.items():
            if not pose.shape or not len(pose) or pose.shape[1:] not in ((), (1,), (self.worlds,)):
                raise SpecError(
                    f"the knots of body {name!r} have batch shape {pose.shape}; it must be (knots,) or "
                    f"(knots, {self.worlds}), with one knot at least"
                )
        self.places.move(knots)

    def cast(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        time: ArrayLike = 0.0,
        t_max_m: ArrayLike = np.inf,
        worlds: ArrayLike = 0,
        hide: Iterable[str] = (),
        coherent: bool = False,
    ) -> Hits:
        """Find the nearest hit of each ray, on any object with faces, including fog banks and other volumes.

        Args:
            origins: Start points in the world [m], shape (*batch, 3).
            directions: Directions in the world, any length but zero, shape (*batch, 3).
            time: Firing time of each ray, as a fraction of the interval of `move`, 0 to 1.
            t_max_m: Length of the rays [m].
            worlds: World of each ray. Order rays by world: neighbors in different worlds cannot share a packet.
            hide: Bodies the rays pass through.
            coherent: Set this for rays in a pattern whose neighbors go almost the same way; faster for those.

        Returns:
            Hits with the rays' broadcast shape.
        """
        rays, shape = checked_rays(origins, directions, time, t_max_m, worlds, world_count=self.worlds)
        found, look_up = self._nearest(rays, shape, checked_bodies(hide), coherent)
        return shaped_hits(found, rays.world, shape, look_up)

    def cast_all(
        self,
        origins: ArrayLike,
        directions: ArrayLike,
        *,
        time: ArrayLike = 0.0,
        t_max_m: ArrayLike = np.inf,
        worlds: ArrayLike = 0,
        hide: Iterable[str] = (),
    ) -> AllHits:
        """Find every face that each ray crosses; arguments as for `cast`.

        >>> scene = sn.Scene()
        >>> crate = scene.add(sn.shapes.box(1, 1, 1))
        >>> sn.RayCaster(scene).cast_all([-3, 0.1, 0.2], [1, 0, 0]).range_m.tolist()
        [2.5, 3.5]
        """
        rays, _ = checked_rays(origins, directions, time, t_max_m, worlds, world_count=self.worlds)
        found, look_up = self._all(rays, checked_bodies(hide))
        crossed = np.arange(found.number.shape[1]) < found.found[:, None]
        there = crossed & (found.number[:, :, cr.C_T] <= rays.t_max[:, None])
        number, word = found.number[there], found.word[there]
        normal = number[:, cr.C_NX : cr.C_NZ + 1]
        return AllHits(
            ray=np.nonzero(there)[0],
            range_m=number[:, cr.C_T],
            normal=normal / np.sqrt((normal * normal).sum(axis=1, keepdims=True)),
            object_id=word[:, cr.C_COLUMN],
            face_id=word[:, cr.C_FACE],
            label=word[:, cr.C_LABEL],
            barycentric=number[:, cr.C_U : cr.C_V + 1],
            world=rays.world[np.nonzero(there)[0]],
            number=np.flatnonzero(there[crossed]),
            _look_up=look_up,
        )

    @abstractmethod
    def _all(self, rays: Rays, hide: frozenset[str]) -> tuple[cr.RawCrossings, LookUpOfAll]:
        """All hits of checked rays, one row per ray, and the function that looks up properties at them."""

    @abstractmethod
    def size_of(self, world: int, object_id: int) -> tuple[float, float]:
        """Radius of an object's mesh [m], and its volume [m3] where it is one."""

    @abstractmethod
    def _nearest(
        self, rays: Rays, shape: tuple[int, ...], hide: frozenset[str], coherent: bool
    ) -> tuple[RawHits, LookUp]:
        """Nearest hits of checked rays, one row per ray, and the function that looks up properties at them."""


class RayCaster(AbstractCaster):
    """Casts rays into a scene, or into many worlds of one.

    Bodies are where `place` (an instant) or `move` (an interval) last put them, at the world's origin before that.

    >>> scene = sn.Scene()
    >>> crate = scene.add(sn.shapes.box(1, 1, 1), body="crate", label="crate")
    >>> caster = sn.RayCaster(scene)
    >>> caster.place({"crate": sn.Pose((4.0, 0.0, 0.0))})
    >>> hits = caster.cast([0, 0, 0], [[1, 0, 0], [0, 1, 0]])
    >>> hits.range_m.round(3).tolist(), hits.object_id.tolist()
    ([3.5, inf], [0, -1])
    """

    def __init__(self, scene: Scene | SceneBatch, *, worlds: int | None = None, around_index: float = 1.0) -> None:
        """Commit the scene.

        Args:
            scene: The scene; later additions to it are ignored.
            worlds: Number of worlds; by default one for a Scene, and its own number for a SceneBatch.
            around_index: Refractive index of the atmosphere, by which air is distinguished from other volumes.
        """
        own = scene.worlds if isinstance(scene, SceneBatch) else 1
        self.worlds = own if worlds is None else worlds
        self.layout = layout(scene, self.worlds, around_index=around_index)
        self.bodies = tuple(sorted({name for name in self.layout.body if name is not None}))
        self.labels = label_tables(self.layout)
        self._lock = threading.RLock()  # held during a cast: other casts may hide other bodies
        self._hidden: frozenset[frozenset[str]] = frozenset()
        self._placed = PlacedScenes(self.layout, self.worlds, self.bodies)
        self.places = BodyPlaces(self.bodies, self.worlds)
        self._placed_for: BodyMotion | None = None

    def _nearest(
        self, rays: Rays, shape: tuple[int, ...], hide: frozenset[str], coherent: bool
    ) -> tuple[RawHits, LookUp]:
        return self.cast_rays(rays, hide=hide, coherent=coherent), partial(property_at, self.layout)

    def _all(self, rays: Rays, hide: frozenset[str]) -> tuple[cr.RawCrossings, LookUpOfAll]:
        return self.collect_rays(rays, hide=hide), partial(property_at, self.layout)

    def size_of(self, world: int, object_id: int) -> tuple[float, float]:
        """Radius of an object's mesh [m], and its volume [m3] where it is one."""
        row = world if len(self.layout.mesh_index) > 1 else 0
        return float(self._extents.radius_m[row, object_id]), float(self._extents.volume_m3[row, object_id])

    @cached_property
    def _extents(self) -> Extents:
        return self.layout.extents()

    def collect_rays(
        self,
        rays: Rays,
        *,
        hide: frozenset[str],
        near: NDArray[np.float64] | None = None,
        from_anchor: bool = False,
        volumes_alone: bool = False,
        curved: bool = False,
    ) -> cr.RawCrossings:
        """Every face that rays cross, one row per ray.

        Args:
            rays: One row per ray; their greatest distance is ignored.
            hide, near, from_anchor: As for `cast_rays`.
            volumes_alone: Whether only faces of volumes count.
            curved: Whether to fill in the curvature of mirror faces; for one world only.
        """
        room = _CROSSINGS
        with self._lock:
            self._commit(hide, middle_of(rays, self._placed.anchor) if near is None else near)
            anchor = np.zeros_like(self._placed.anchor) if from_anchor else self._placed.anchor
            mask = self._placed.mask_without(hide)
            if volumes_alone:
                mask = int(self._placed.masks_of_light(hide, banks=True)[1])
            masks, blocks = np.full(2, mask, np.uint32), -(-len(rays.origin) // BLOCK)
            while True:
                out = cr.new_raw_crossings(len(rays.origin), room)
                worker_pool.run(cr.collect_rays, blocks, self._placed.tables, self.labels, anchor, rays, masks, out)
                most = int(out.found.max(initial=0))
                if most <= room:
                    break
                room = most
            if curved:
                worker_pool.run(bend_crossings, blocks, self._placed.tables, self._curved_faces, rays, out)
        return out

    def cast_rays(
        self,
        rays: Rays,
        *,
        hide: frozenset[str] = frozenset(),
        coherent: bool = False,
        near: NDArray[np.float64] | None = None,
        from_anchor: bool = False,
        air: bool = True,
    ) -> RawHits:
        """The same for checked rays, as flat arrays.

        Args:
            rays: One row per ray.
            hide: As for `cast`.
            coherent: Likewise.
            near: Point of each world that float32 coordinates count from, roughly [m], shape (worlds, 3); by default
                the middle of the rays' origins. Rays that are cast in several calls give the bytes of one call if each
                call names the same point.
            from_anchor: Whether the rays' origins are relative to that point, which is then an anchor of
                `PlacedScenes.on_grid`, as for sensors: float32 coordinates there stay exact.
            air: Whether volumes of air, such as fog banks, are visible.
        """
        with self._lock:
            self._commit(hide, middle_of(rays, self._placed.anchor) if near is None else near)
            out, tables, blocks = new_hits(len(rays.origin)), self._placed.tables, -(-len(rays.origin) // BLOCK)
            anchor = np.zeros_like(self._placed.anchor) if from_anchor else self._placed.anchor
            mask = np.uint32(self._placed.mask_without(hide, air=air))
            arguments = COHERENT_ADDRESS if coherent else SCATTERED_ADDRESS
            worker_pool.run(cast.cast_rays, blocks, tables, self.labels, anchor, rays, mask, arguments, out)
        return out

    def settle_rays(
        self,
        rays: Rays,
        distance_m: NDArray[np.float32],
        *,
        hide: frozenset[str],
        near: NDArray[np.float64],
        from_anchor: bool,
        air: bool,
    ) -> RawHits:
        """Hits at the ends of rays that end on an edge, which other parts of a scene may share.

        Args:
            rays: One row per ray.
            distance_m: Distance at which each ends [m], shape (rays,).
            hide, near, from_anchor, air: As for `cast_rays`.
        """
        with self._lock:
            self._commit(hide, near)
            out, tables, blocks = new_hits(len(rays.origin)), self._placed.tables, -(-len(rays.origin) // BLOCK)
            anchor = np.zeros_like(self._placed.anchor) if from_anchor else self._placed.anchor
            mask = np.uint32(self._placed.mask_without(hide, air=air))
            worker_pool.run(cast.settle_rays, blocks, tables, self.labels, anchor, rays, mask, distance_m, out)
        return out

    def remote_hits(
        self,
        rays: Rays,
        clear_m: NDArray[np.float32],
        *,
        hide: frozenset[str],
        coherent: bool,
        anchor: NDArray[np.float64],
        curved: bool = False,
    ) -> LightHits:
        """Nearest surfaces for light that another process follows, byte for byte as a lidar's own kernel finds them.

        Args:
            rays: One row per ray; origins are relative to the anchor.
            clear_m: Distance at which each ray begins to search [m], shape (rays,).
            hide: As for `cast`.
            coherent: Likewise.
            anchor: Of the one world, of `PlacedScenes.on_grid` [m], shape (1, 3).
            curved: Whether hits include the curvature of mirror faces.
        """
        with self._lock:
            self._commit(hide, anchor)
            out = new_light_hits(len(rays.origin), curved=curved)
            worker_pool.run(
                remote_hits,
                -(-len(rays.origin) // BLOCK),
                self._placed.tables,
                self.labels,
                self._curved_faces if curved else self._faces,
                rays,
                clear_m,
                self._placed.masks_of_light(hide)[0],
                COHERENT_ADDRESS if coherent else SCATTERED_ADDRESS,
                out,
            )
        return out

    @cached_property
    def _faces(self) -> FaceTables:
        """Reflectance stored on meshes."""
        return FaceTables(*reflectance_tables(self.layout), _FLAT_FIRST, _FLAT)

    @cached_property
    def _curved_faces(self) -> FaceTables:
        """The same with the curvature of mirror faces, which takes seconds for a million."""
        first, curvature = curvature_tables(self.layout)
        return self._faces._replace(curvature_first=first, face_curvature=curvature)

    def pose_at(self, world: int, object_id: int, time: float) -> Pose:
        """X_WO of an object at a fraction of the interval of `move`."""
        row = world if len(self.layout.mesh_index) > 1 else 0
        return self.places.pose_at(self.layout.body[object_id], world, time) @ self.layout.X_BO[row, object_id]

    def material_at(self, world: int, object_id: int) -> object | None:
        """Material of an object; None if it has none."""
        row = world if len(self.layout.material_index) > 1 else 0
        return self.layout.materials[self.layout.material_index[row, object_id]]

    def _commit(self, hide: frozenset[str], near: NDArray[np.float64]) -> None:
        """Place the bodies for rays from there, unless they are placed already."""
        if not self._placed.can_hide(hide):
            self._placed = PlacedScenes(self.layout, self.worlds, self.bodies, self._hidden | {hide})
            self._hidden |= {hide}
            self._placed_for = None
        motion = self.places.motion
        if self._placed_for is not motion or not (self._placed.on_grid(near) == self._placed.anchor).all():
            self._placed_for = None  # should a signal raise meanwhile
            self._placed.place(motion.positions, motion.quaternions, near)
            self._placed_for = motion


def _check_poses(argument: str, poses: object) -> None:
    """Refuse arguments that do not map names of bodies to poses."""
    if not isinstance(poses, Mapping):
        rule = "it must be a dictionary from names of bodies to poses"
        raise SpecError(f"{argument} is a {type(poses).__name__}; {rule}")
    for name, pose in poses.items():
        if not isinstance(pose, Pose):
            raise SpecError(f"{argument}[{name!r}] is a {type(pose).__name__}, {pose!r}; it must be a sn.Pose")
