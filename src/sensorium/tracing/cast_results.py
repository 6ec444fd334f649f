"""Results of casters: the nearest hit of each ray or all its hits, as plain arrays, and mesh properties at hits."""

from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.layout import Layout


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
