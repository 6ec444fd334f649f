"""Rays in the layout of kernels with checks of user input, and what casters return: hits as plain arrays."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.scene.layout import Layout


class Rays(NamedTuple):
    """Rays in the layout of kernels."""

    origin: NDArray[np.float64]  # (rays, 3) [m], world
    direction: NDArray[np.float32]  # (rays, 3), unit, world
    time: NDArray[np.float32]  # (rays,) fraction of the interval
    t_max: NDArray[np.float32]  # (rays,) [m]
    world: NDArray[np.int32]  # (rays,)


def new_rays(count: int) -> Rays:
    """Arrays for a kernel to fill."""
    return Rays(
        origin=np.zeros((count, 3)),
        direction=np.zeros((count, 3), np.float32),
        time=np.zeros(count, np.float32),
        t_max=np.zeros(count, np.float32),
        world=np.zeros(count, np.int32),
    )


def checked_rays(
    origins: ArrayLike,
    directions: ArrayLike,
    time: ArrayLike,
    t_max_m: ArrayLike,
    worlds: ArrayLike,
    *,
    world_count: int,
) -> tuple[Rays, tuple[int, ...]]:
    """Rays as flat arrays, after checks that each can be traced, and their original shape.

    Args:
        origins: Start points in the world [m], shape (*batch, 3).
        directions: Any length but zero, shape (*batch, 3).
        time: Fraction of the interval, 0 to 1.
        t_max_m: Length of the rays [m].
        worlds: World of each ray.
        world_count: Number of worlds.
    """
    origin, direction = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
    for name, vectors in (("origins", origin), ("directions", direction)):
        if vectors.shape[-1:] != (3,):
            raise SpecError(f"{name} has shape {vectors.shape}; its last axis must have 3 entries")
        if not np.isfinite(vectors).all():
            raise SpecError(f"{name} has {np.size(vectors) - np.isfinite(vectors).sum()} entries that are not finite")
    length = np.linalg.norm(direction, axis=-1, keepdims=True)
    if not (length > 0).all():
        raise SpecError(f"{int((length == 0).sum())} directions have length zero; a direction needs a length")
    time, t_max, world = np.asarray(time, np.float32), np.asarray(t_max_m, np.float32), np.asarray(worlds)
    if not ((time >= 0) & (time <= 1)).all():
        raise SpecError(f"time runs from {time.min()} to {time.max()}; it is a fraction of the interval, 0 to 1")
    if not (t_max >= 0).all():
        raise SpecError(f"t_max_m has the value {t_max.min()}; it must be zero or more")
    if not np.issubdtype(world.dtype, np.integer):
        raise SpecError(f"worlds has type {world.dtype}; it must be whole numbers")
    if not ((world >= 0) & (world < world_count)).all():
        raise SpecError(f"worlds runs from {world.min()} to {world.max()}; it must be within 0 to {world_count - 1}")

    # One row per ray; arrays of one kind, since kernels are compiled again for read-only ones and other memory layouts
    shapes = {
        "origins": origin.shape[:-1],
        "directions": direction.shape[:-1],
        "time": time.shape,
        "t_max_m": t_max.shape,
        "worlds": world.shape,
    }
    try:
        shape = np.broadcast_shapes(*shapes.values())
    except ValueError:
        told = ", ".join(f"{name} {given}" for name, given in shapes.items() if given)
        raise SpecError(f"rays have the shapes {told}; they must be the same, or broadcast to one") from None
    if origin.shape[:-1] != shape:
        origin = np.broadcast_to(origin, (*shape, 3))
    return Rays(
        origin=np.require(origin.reshape(-1, 3), requirements=["C", "W"]),
        direction=np.broadcast_to(direction / length, (*shape, 3)).reshape(-1, 3).astype(np.float32, order="C"),
        time=np.broadcast_to(time, shape).reshape(-1).astype(np.float32),
        t_max=np.broadcast_to(t_max, shape).reshape(-1).astype(np.float32),
        world=np.broadcast_to(world, shape).reshape(-1).astype(np.int32),
    ), shape


def checked_bodies(hide: Iterable[str]) -> frozenset[str]:
    """Names of bodies to hide; a single string is a mistake."""
    if isinstance(hide, str):
        raise SpecError(f"hide is the string {hide!r}; it must be a sequence of body names")
    return frozenset(hide)


def middle_of(rays: Rays, otherwise: NDArray[np.float64]) -> NDArray[np.float64]:
    """Mean origin of the rays of each world [m], shape (worlds, 3).

    Args:
        rays: One row per ray.
        otherwise: The point of worlds without rays, shape (worlds, 3); non-finite points become the origin.
    """
    near = np.array(otherwise)
    count = np.bincount(rays.world, minlength=len(near))
    for axis in range(3):
        total = np.bincount(rays.world, weights=rays.origin[:, axis], minlength=len(near))
        near[count > 0, axis] = total[count > 0] / count[count > 0]
    near[~np.isfinite(near).all(axis=1)] = 0.0
    return near


class RawHits(NamedTuple):
    """Output of the kernel, one row per ray."""

    range_m: NDArray[np.float32]
    normal: NDArray[np.float32]
    object_id: NDArray[np.int32]
    face_id: NDArray[np.int32]
    label: NDArray[np.int32]
    barycentric: NDArray[np.float32]


@dataclass(frozen=True)
class Hits:
    """Nearest hit of each ray; arrays have the rays' shape.

    A ray without a hit has range_m = inf, ids and label -1, and zero normal and barycentric coordinates.
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
    """Label of the face, or of the object; 0 is unlabeled."""
    barycentric: NDArray[np.float32]
    """Weights u, v of the triangle's second and third vertex; (..., 2)."""
    world: NDArray[np.int32]
    """World of each ray."""
    _look_up: Callable[["Hits", str], NDArray[Any]] = field(repr=False)

    @cached_property
    def hit(self) -> NDArray[np.bool_]:
        """Whether the ray hit anything."""
        return self.object_id >= 0

    def property(self, name: str) -> NDArray[Any]:
        """A named property of the meshes at the hits, interpolated between vertices where it is given on vertices.

        Raises SceneError if a hit object has no such property; rays without a hit give zero.
        """
        return self._look_up(self, name)


@dataclass(frozen=True)
class AllHits:
    """Every face that rays cross, ray by ray and nearest first; one row per hit."""

    ray: NDArray[np.int64]
    """Number of the ray, in the order of the rays' shape."""
    range_m: NDArray[np.float32]
    """Distance from the ray's origin [m]."""
    normal: NDArray[np.float32]
    """Unit normal of the face in world axes, on the side its vertices turn counter-clockwise; (hits, 3)."""
    object_id: NDArray[np.int32]
    """Index of the object in the scene."""
    face_id: NDArray[np.int32]
    """Index of the triangle in the object's mesh."""
    label: NDArray[np.int32]
    """Label of the face, or of the object; 0 is unlabeled."""
    barycentric: NDArray[np.float32]
    """Weights u, v of the triangle's second and third vertex; (hits, 2)."""
    world: NDArray[np.int32]
    """World of each."""
    number: NDArray[np.int64]
    """Row of each hit before any was filtered out."""
    _look_up: Callable[["AllHits", str], NDArray[Any]] = field(repr=False)

    @cached_property
    def hit(self) -> NDArray[np.bool_]:
        """True for each: misses are not listed."""
        return np.ones(len(self.ray), np.bool_)

    def only(self, row: int) -> "AllHits":
        """One of the hits."""
        columns = (each.name for each in fields(self) if each.name != "_look_up")
        return replace(self, **{name: getattr(self, name)[row : row + 1] for name in columns})

    def property(self, name: str) -> NDArray[Any]:
        """A named property of the meshes at the hits, as for `Hits`."""
        return self._look_up(self, name)


LookUp = Callable[[Hits, str], NDArray[Any]]
"""Finds a named property at hits."""

LookUpOfAll = Callable[[AllHits, str], NDArray[Any]]
"""The same for all hits."""


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


def shaped_hits(found: RawHits, world: NDArray[np.int32], shape: tuple[int, ...], look_up: LookUp) -> Hits:
    """Hits in the shape of the given rays.

    Args:
        found: One row per ray.
        world: World of each.
        shape: Of the rays.
        look_up: Finds a property at hits.
    """
    arrays = {**found._asdict(), "world": world}
    return Hits(**{name: rows.reshape((*shape, *rows.shape[1:])) for name, rows in arrays.items()}, _look_up=look_up)


def property_at(layout: Layout, hits: Hits | AllHits, name: str) -> NDArray[Any]:
    """A property at hits, from the meshes of a layout."""
    index = layout.mesh_index[np.where(len(layout.mesh_index) > 1, hits.world, 0), hits.object_id]
    values: NDArray[Any] | None = None
    for mesh_number in np.unique(index[hits.hit]):
        here = hits.hit & (index == mesh_number)
        found = layout.meshes[mesh_number].property_at(name, hits.face_id[here], hits.barycentric[here])
        if values is None:
            values = np.zeros((*hits.object_id.shape, *found.shape[1:]), found.dtype)
        values[here] = found
    return np.zeros(hits.object_id.shape) if values is None else values
