"""A plain reference ray caster: every ray against every triangle, in float64.

It is slow and simple on purpose: tests compare the fast caster with it.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.frames import Pose
from sensorium.scene.mesh import Mesh

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
            t = distances(o[rays], d[rays], v0, e1, e2, one_sided=mesh.one_sided)
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


def distances(
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
