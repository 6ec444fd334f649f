"""Rays aimed at targets that too few rays of a bundle hit."""

import weakref
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.mesh import Mesh
from sensorium.sensors.common.occlusion import Occlusion
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.radar.echoes import Instant
from sensorium.sensors.radar.target_places import Places

Float = NDArray[np.float64]
Whole = NDArray[np.int64]

# Points of a mesh's surface that rays are aimed at
_POINTS = 32

# Coordinates on a triangle: multiples of one over the plastic number and over its square
_STEPS = np.array([0.7548776662466927, 0.5698402909980532])

# A surface in front of a point hides it if it is nearer by more than this: rays are float32
_CLEAR_M, _CLEAR_PART = 1e-3, 1e-4

# Share of its area that counts of a surface seen edge-on, and area of a mesh that has none [m^2]: weights are above 0
_EDGE_ON, _NO_AREA = 1e-9, 1e-300


class Aimed(NamedTuple):
    """Aimed rays within the field; one row a ray."""

    head: Whole
    object_id: Whole
    """Part of the target that the ray hits, or was aimed at."""
    group: Whole
    """First object of the target."""
    p_S: Float
    """Point that it hits, or was aimed at, in the sensor's frame [m], shape (n, 3)."""
    weight: Float
    """Area across the line of sight that it represents [m^2]."""
    is_clear: NDArray[np.bool_]
    """Whether the line of sight is free."""


class AimedRays:
    """Aims rays from the sensors of a rig at points spread evenly over the surfaces of targets."""

    def __init__(self, rig: Rig, half_field_rad: tuple[float, float], farthest_m: float) -> None:
        """Aim within the field.

        Args:
            rig: Mount of the sensors.
            half_field_rad: Half the angles of the field, across and up [rad].
            farthest_m: Greatest range of echoes [m].
        """
        self._rig, self._half, self._farthest_m = rig, half_field_rad, farthest_m
        self._sight = Occlusion(rig)

    def at(self, instant: Instant, places: Places, wanted: NDArray[np.bool_], group: Whole) -> Aimed:
        """Aim at some targets.

        Args:
            instant: Where everything is.
            places: Targets of stated cross-section.
            wanted: Which of the places, shape (heads, k).
            group: First object of the target that each object is a part of, by head, shape (heads, objects).
        """
        head, k = np.nonzero(wanted & (places.mesh >= 0))
        meshes = self._rig.tracer.layout.meshes
        used, which = np.unique(places.mesh[head, k], return_inverse=True)
        surface = np.stack([_spread(meshes[number]) for number in used]) if len(used) else np.zeros((0, _POINTS, 7))
        R_SO, p_SO = places.R_SO[head, k], places.p_SO[head, k]
        p_S = np.einsum("nij,nmj->nmi", R_SO, surface[which, :, :3]) + p_SO[:, None]
        area_S = np.einsum("nij,nmj->nmi", R_SO, surface[which, :, 3:6])
        range_m = np.maximum(np.linalg.norm(p_S, axis=-1), 1e-9)
        direction_S = p_S / range_m[..., None]
        facing = (area_S * direction_S).sum(axis=-1)  # below 0 where the front is seen
        across = np.abs(facing) + _EDGE_ON * np.linalg.norm(area_S, axis=-1) + _NO_AREA
        inside = (np.abs(np.arctan2(p_S[..., 1], p_S[..., 0])) <= self._half[0]) & (range_m <= self._farthest_m)
        inside &= np.abs(np.arcsin(np.clip(direction_S[..., 2], -1.0, 1.0))) <= self._half[1]
        inside &= (surface[which, :, 6] == 0.0) | (facing < 0.0)
        at, point = np.nonzero(inside)
        head, column, own = head[at], places.column[k[at]], places.group[head[at], k[at]]
        direction_S, range_m, weight = direction_S[at, point], range_m[at, point], across[at, point]

        # A ray sees its target if it hits any part of it first, or nothing before the point that it was aimed at
        R_WS = instant.X_WS.rotation
        hits = self._sight.hits(
            instant.time_ns, instant.X_WS.position, head, np.einsum("nij,nj->ni", R_WS[head], direction_S)
        )
        met = hits.object_id.astype(np.int64)
        meets_own = (met >= 0) & (group[head, np.maximum(met, 0)] == own)
        free_m = range_m - (_CLEAR_M + _CLEAR_PART * range_m)
        is_clear = meets_own | (met < 0) | (hits.range_m > free_m)
        range_m = np.where(meets_own, hits.range_m, range_m)
        return Aimed(head, np.where(meets_own, met, column), own, range_m[:, None] * direction_S, weight, is_clear)


_known: "weakref.WeakKeyDictionary[Mesh, Float]" = weakref.WeakKeyDictionary()


def _spread(mesh: Mesh) -> Float:
    """Points of a mesh [m], the vector of an equal share of its area [m^2], 1 if one-sided or 0; shape (points, 7)."""
    if mesh not in _known:
        a, b, c = mesh.vertices[mesh.faces].swapaxes(0, 1)
        vector = 0.5 * np.cross(b - a, c - a)
        area = np.linalg.norm(vector, axis=1)
        sums = np.cumsum(area)
        number = np.arange(_POINTS)
        face = np.minimum(np.searchsorted(sums, (number + 0.5) / _POINTS * sums[-1]), len(area) - 1)
        u, v = np.modf(0.5 + number[:, None] * _STEPS)[0].T
        u, v = np.where(u + v > 1.0, 1.0 - u, u)[:, None], np.where(u + v > 1.0, 1.0 - v, v)[:, None]
        point = a[face] + u * (b - a)[face] + v * (c - a)[face]
        normal = vector[face] / np.maximum(area[face], np.finfo(np.float64).tiny)[:, None]
        one_sided = np.zeros(_POINTS) if mesh.one_sided is None else mesh.one_sided[face]
        _known[mesh] = np.concatenate([point, normal * (sums[-1] / _POINTS), one_sided[:, None]], axis=1)
    return _known[mesh]
