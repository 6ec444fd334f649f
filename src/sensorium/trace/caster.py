"""`RayCaster`: cast rays into a scene and get everything about the nearest hits, as plain arrays."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium import threads
from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.scene.batch import SceneBatch
from sensorium.scene.layout import Layout, layout
from sensorium.scene.scene import Scene
from sensorium.trace import cast
from sensorium.trace.labels import label_tables
from sensorium.trace.motion import MAX_SEGMENTS
from sensorium.trace.packet import BLOCK, COHERENT_ADDRESS, SCATTERED_ADDRESS
from sensorium.trace.placement import PlacedScenes


class Rays(NamedTuple):
    """Rays as the kernel takes them."""

    origin: NDArray[np.float64]  # (rays, 3) [m], world
    direction: NDArray[np.float32]  # (rays, 3), unit, world
    time: NDArray[np.float32]  # (rays,) fraction of the interval
    t_max: NDArray[np.float32]  # (rays,) [m]
    world: NDArray[np.int32]  # (rays,)


class RawHits(NamedTuple):
    """What the kernel writes, one row a ray."""

    range_m: NDArray[np.float32]
    normal: NDArray[np.float32]
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]
    barycentric: NDArray[np.float32]


@dataclass(frozen=True)
class Hits:
    """Nearest hit of each ray; arrays have the rays' shape.

    A ray that meets nothing has range_m = inf, ids and label -1, and zero normal and barycentric coordinates.
    """

    range_m: NDArray[np.float32]
    """Distance from the ray's origin [m]."""
    normal: NDArray[np.float32]
    """Unit normal of the face in world axes, on the side its vertices turn counter-clockwise; (..., 3)."""
    object_id: NDArray[np.int32]
    """Index of the object in the scene."""
    face_id: NDArray[np.int32]
    """Index of the triangle in the object's mesh."""
    label: NDArray[np.int32]
    """Label of the face, or of the object; 0 is unlabelled."""
    barycentric: NDArray[np.float32]
    """Weights u, v of the triangle's second and third vertex; (..., 2)."""
    world: NDArray[np.int32]
    """World of each ray."""
    _layout: Layout

    @cached_property
    def hit(self) -> NDArray[np.bool_]:
        """Whether the ray met anything."""
        return self.object_id >= 0

    def property(self, name: str) -> NDArray[Any]:
        """A named property of the meshes at the hits, interpolated between vertices where it is given on vertices.

        Raises SceneError where an object that was hit has no such property; rays that hit nothing give zero.
        """
        index = self._layout.mesh_index[np.where(len(self._layout.mesh_index) > 1, self.world, 0), self.object_id]
        values: NDArray[Any] | None = None
        for mesh_number in np.unique(index[self.hit]):
            here = self.hit & (index == mesh_number)
            found = self._layout.meshes[mesh_number].property_at(name, self.face_id[here], self.barycentric[here])
            if values is None:
                values = np.zeros((*self.object_id.shape, *found.shape[1:]), found.dtype)
            values[here] = found
        return np.zeros(self.object_id.shape) if values is None else values


class RayCaster:
    """Casts rays into a scene, or into many worlds of one.

    Bodies stand where `place` (an instant) or `move` (an interval) last put them, at the world's origin before that.
    """

    def __init__(self, scene: Scene | SceneBatch, *, worlds: int | None = None) -> None:
        """Commit the scene.

        Args:
            scene: What to cast into; later additions to it are not seen.
            worlds: How many worlds; by default one for a Scene, and its own number for a SceneBatch.
        """
        own = scene.worlds if isinstance(scene, SceneBatch) else 1
        self.worlds = own if worlds is None else worlds
        self.layout = layout(scene, self.worlds)
        self.bodies = tuple(sorted({name for name in self.layout.body if name is not None}))
        self.labels = label_tables(self.layout)
        self._hidden: frozenset[frozenset[str]] = frozenset()
        self._placed = PlacedScenes(self.layout, self.worlds, self.bodies)
        shape = (1, self.worlds, len(self.bodies))
        self._positions = np.zeros((*shape, 3))
        self._quaternions = np.zeros((*shape, 4))
        self._quaternions[..., 0] = 1.0
        self._stale = True

    def place(self, poses: Mapping[str, Pose]) -> None:
        """Put bodies at poses X_WB (batch shape () or (worlds,)); they stand still during a cast."""
        self.move({name: Pose.stack([pose]) for name, pose in poses.items()})

    def move(self, knots: Mapping[str, Pose]) -> None:
        """Let bodies move during a cast.

        Args:
            knots: For each body its poses X_WB at evenly spaced times from the start of the interval (time 0) to its
                end (time 1), batch shape (knots,) or (knots, worlds); straight lines and slerp between them. Every
                moving body needs the same number; a body with one knot, or not named, stands still.
        """
        for name in knots:
            if name not in self.bodies:
                raise SpecError(f"no object of the scene is on body {name!r}; the bodies are {', '.join(self.bodies)}")
        counts = {len(pose) for pose in knots.values()} - {1}
        if len(counts) > 1:
            raise SpecError(f"bodies have different numbers of knots {sorted(counts)}; they must be equal")
        count = counts.pop() if counts else 1
        if count > MAX_SEGMENTS + 1:
            raise SpecError(f"a body has {count} knots; at most {MAX_SEGMENTS + 1} fit into one interval")
        positions = np.repeat(self._positions[-1:], count, axis=0)
        quaternions = np.repeat(self._quaternions[-1:], count, axis=0)
        for name, pose in knots.items():
            body = self.bodies.index(name)
            column = pose if len(pose.shape) == 2 else pose.reshape((*pose.shape, 1))
            positions[:, :, body] = column.position
            quaternions[:, :, body] = column.quaternion
        self._positions, self._quaternions = positions, quaternions
        self._stale = True

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
        """Find the nearest hit of each ray.

        Args:
            origins: Start points in the world [m], shape (*batch, 3).
            directions: Directions in the world, any length but zero, shape (*batch, 3).
            time: When each ray is fired, as a fraction of the interval of `move`, 0 to 1.
            t_max_m: How far to look [m].
            worlds: World of each ray. Order rays by world: neighbours in different worlds cannot share a packet.
            hide: Bodies the rays pass through.
            coherent: Set this for rays in a pattern whose neighbours go almost the same way; faster for those.

        Returns:
            Hits with the rays' broadcast shape.
        """
        rays, shape = self._checked(origins, directions, time, t_max_m, worlds)
        if isinstance(hide, str):
            raise SpecError(f"hide is the string {hide!r}; it must be a sequence of body names")
        hide = frozenset(hide)
        with self._placed.lock:
            self._commit(hide, rays)
            out = new_hits(len(rays.origin))
            threads.run(
                cast.cast_rays,
                -(-len(rays.origin) // BLOCK),
                self._placed.tables,
                self.labels,
                self._placed.anchor,
                rays,
                np.uint32(self._placed.mask_without(hide)),
                COHERENT_ADDRESS if coherent else SCATTERED_ADDRESS,
                out,
            )
        return Hits(
            range_m=out.range_m.reshape(shape),
            normal=out.normal.reshape((*shape, 3)),
            object_id=out.object_id.reshape(shape),
            face_id=out.face_id.reshape(shape),
            label=out.label.reshape(shape),
            barycentric=out.barycentric.reshape((*shape, 2)),
            world=rays.world.reshape(shape),
            _layout=self.layout,
        )

    def _commit(self, hide: frozenset[str], rays: Rays) -> None:
        """Place the bodies for these rays, unless they are."""
        if not self._placed.can_hide(hide):
            self._placed = PlacedScenes(self.layout, self.worlds, self.bodies, self._hidden | {hide})
            self._hidden |= {hide}
            self._stale = True
        near = np.array(self._placed.anchor)
        count = np.bincount(rays.world, minlength=self.worlds)
        for axis in range(3):
            total = np.bincount(rays.world, weights=rays.origin[:, axis], minlength=self.worlds)
            near[count > 0, axis] = total[count > 0] / count[count > 0]
        near[~np.isfinite(near).all(axis=1)] = 0.0
        if self._stale or not (self._placed.on_grid(near) == self._placed.anchor).all():
            self._placed.place(self._positions, self._quaternions, near)
            self._stale = False

    def _checked(
        self, origins: ArrayLike, directions: ArrayLike, time: ArrayLike, t_max_m: ArrayLike, worlds: ArrayLike
    ) -> tuple[Rays, tuple[int, ...]]:
        """Rays as flat arrays, after making sure each can be traced."""
        origin, direction = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
        for name, vectors in (("origins", origin), ("directions", direction)):
            if vectors.shape[-1:] != (3,):
                raise SpecError(f"{name} has shape {vectors.shape}; its last axis must have 3 entries")
            if not np.isfinite(vectors).all():
                raise SpecError(
                    f"{name} has {np.size(vectors) - np.isfinite(vectors).sum()} entries that are not finite"
                )
        length = np.linalg.norm(direction, axis=-1, keepdims=True)
        if not (length > 0).all():
            raise SpecError(f"{int((length == 0).sum())} directions have length zero; a direction needs a length")
        time, t_max, world = np.asarray(time, np.float32), np.asarray(t_max_m, np.float32), np.asarray(worlds)
        if not ((time >= 0) & (time <= 1)).all():
            raise SpecError(f"time runs from {time.min()} to {time.max()}; it is a fraction of the interval, 0 to 1")
        if not (t_max >= 0).all():
            raise SpecError(f"t_max_m has the value {t_max.min()}; it must be zero or more")
        if not np.issubdtype(world.dtype, np.integer) or not ((world >= 0) & (world < self.worlds)).all():
            raise SpecError(f"worlds has values outside 0 to {self.worlds - 1}")

        # One row a ray
        shape = np.broadcast_shapes(origin.shape[:-1], direction.shape[:-1], time.shape, t_max.shape, world.shape)
        return Rays(
            origin=np.ascontiguousarray(np.broadcast_to(origin, (*shape, 3)).reshape(-1, 3)),
            direction=np.broadcast_to(direction / length, (*shape, 3)).reshape(-1, 3).astype(np.float32),
            time=np.broadcast_to(time, shape).reshape(-1).astype(np.float32),
            t_max=np.broadcast_to(t_max, shape).reshape(-1).astype(np.float32),
            world=np.broadcast_to(world, shape).reshape(-1).astype(np.int32),
        ), shape


def new_hits(count: int) -> RawHits:
    """Arrays for the kernel to fill."""
    return RawHits(
        range_m=np.zeros(count, np.float32),
        normal=np.zeros((count, 3), np.float32),
        object_id=np.zeros(count, np.int32),
        face_id=np.zeros(count, np.int32),
        label=np.zeros(count, np.int32),
        barycentric=np.zeros((count, 2), np.float32),
    )
