"""A plain reference ray caster: every ray against every triangle, in float64.

It is slow and simple on purpose: tests compare the fast caster with it.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.frames import Pose
from sensorium.scene.layout import layout
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene
from sensorium.tracing.cast_results import AllHits, property_at

# rays times triangles held in memory at once
_CHUNK = 2_000_000


class ReferenceHits(NamedTuple):
    """Nearest hits; a miss has range inf and ids -1."""

    range_m: NDArray[np.float64]
    object_id: NDArray[np.int64]
    face_id: NDArray[np.int64]
    normal: NDArray[np.float64]


def cast(objects: Sequence[tuple[Mesh, Pose]], origins: ArrayLike, directions: ArrayLike) -> ReferenceHits:
    """Nearest hit of each ray by the method of Moeller and Trumbore (1997).

    With edges e1, e2 from vertex v0, a point o + t d of the ray is v0 + u e1 + v e2 of the triangle's plane when
    [-d, e1, e2] (t, u, v) = o - v0, solved by Cramer's rule; inside where u, v >= 0 and u + v <= 1.

    Args:
        objects: Meshes with their poses in the world.
        origins: Start points [m], shape (rays, 3).
        directions: Unit directions, shape (rays, 3).
    """
    o, d = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
    best = ReferenceHits(np.full(len(o), np.inf), np.full(len(o), -1), np.full(len(o), -1), np.zeros((len(o), 3)))
    for number, (mesh, pose) in enumerate(objects):
        v0, v1, v2 = (pose.apply(mesh.vertices[mesh.faces[:, i]]) for i in range(3))
        e1, e2 = v1 - v0, v2 - v0
        step = max(1, _CHUNK // len(v0))
        for start in range(0, len(o), step):
            rays = slice(start, start + step)
            t = _distances(o[rays], d[rays], v0, e1, e2, one_sided=mesh.one_sided)
            face = t.argmin(axis=1)
            nearest = t[np.arange(len(t)), face]
            closer = nearest < best.range_m[rays]
            normal = np.cross(e1, e2)[face]
            normal /= np.linalg.norm(normal, axis=1, keepdims=True)
            best.range_m[rays][closer] = nearest[closer]
            best.object_id[rays][closer] = number
            best.face_id[rays][closer] = face[closer]
            best.normal[rays][closer] = normal[closer]
    return best


class ReferenceCaster:
    """Every face that rays cross in a scene at rest, in float64: the reference caster for `ray_tree`."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._layout = layout(scene, 1)
        self._extents = self._layout.extents()
        self._corners, self._one_sided = [], []
        for thing in scene.objects:
            v = thing.pose.apply(thing.mesh.vertices)[thing.mesh.faces]
            self._corners.append((v[:, 0], v[:, 1] - v[:, 0], v[:, 2] - v[:, 0]))
            self._one_sided.append(thing.mesh.one_sided)

    def cast_all(self, origins: ArrayLike, directions: ArrayLike, **ignored: Any) -> AllHits:
        """Faces on the line of one ray, nearest first."""
        o, d = np.asarray(origins, np.float64), np.asarray(directions, np.float64)
        found: list[tuple[float, int, int]] = []
        for number, ((v0, e1, e2), one_sided) in enumerate(zip(self._corners, self._one_sided, strict=True)):
            t = _distances(o[None], d[None], v0, e1, e2, from_m=0.0, one_sided=one_sided)[0]
            found += [(float(t[face]), number, int(face)) for face in np.flatnonzero(np.isfinite(t))]
        found.sort()
        normal = [np.cross(*self._corners[number][1:])[face] for _, number, face in found]
        unit = np.array(normal).reshape(-1, 3)
        unit = unit / np.linalg.norm(unit, axis=1, keepdims=True)
        return AllHits(
            ray=np.zeros(len(found), np.int64),
            range_m=np.array([t for t, _, _ in found]),
            normal=unit,
            object_id=np.array([number for _, number, _ in found], np.int32),
            face_id=np.array([face for _, _, face in found], np.int32),
            label=np.zeros(len(found), np.int32),
            barycentric=np.zeros((len(found), 2), np.float32),
            world=np.zeros(len(found), np.int32),
            number=np.arange(len(found)),
            _look_up=lambda hits, name: property_at(self._layout, hits, name),
        )

    def material_at(self, world: int, object_id: int) -> object | None:
        """Material of an object; None if it has none."""
        return self._scene.objects[object_id].material

    def pose_at(self, world: int, object_id: int, time: float) -> Pose:
        """X_WO of an object."""
        return self._scene.objects[object_id].pose

    def size_of(self, world: int, object_id: int) -> tuple[float, float]:
        """Radius of an object's mesh [m], and its volume [m3] where it is one."""
        return float(self._extents.radius_m[0, object_id]), float(self._extents.volume_m3[0, object_id])


def _distances(
    o: NDArray[np.float64],
    d: NDArray[np.float64],
    v0: NDArray[np.float64],
    e1: NDArray[np.float64],
    e2: NDArray[np.float64],
    from_m: float = np.nextafter(0.0, 1.0),
    one_sided: NDArray[np.bool_] | None = None,
) -> NDArray[np.float64]:
    """Distance along each ray to each triangle, inf for a miss; shape (rays, triangles).

    The determinant of [-d, e1, e2] is -d (e1 x e2): one-sided triangles are hit where it is positive.
    """
    p = np.cross(d[:, None], e2[None])
    determinant = (e1[None] * p).sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = 1.0 / determinant
        s = o[:, None] - v0[None]
        u = (s * p).sum(axis=-1) * inverse
        q = np.cross(s, e1[None])
        v = (d[:, None] * q).sum(axis=-1) * inverse
        t = (e2[None] * q).sum(axis=-1) * inverse
        inside = (u >= 0.0) & (v >= 0.0) & (u + v <= 1.0) & (t >= from_m) & np.isfinite(t)
    if one_sided is not None:
        inside &= ~one_sided | (determinant > 0.0)
    return np.where(inside, t, np.inf)
