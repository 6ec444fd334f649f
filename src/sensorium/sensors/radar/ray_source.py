"""Echoes of all surfaces hit by a bundle of rays over the field of view.

Targets that too few rays of the bundle hit get rays of their own.
"""

import weakref
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import rotate
from sensorium.patterns import RayTable
from sensorium.patterns.base import directions
from sensorium.scene.mesh import Mesh
from sensorium.sensors.common.occlusion import Occlusion
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.sweep_caster import SweepCaster
from sensorium.sensors.radar.echoes import Instant, Points
from sensorium.sensors.radar.hidden_rays import Bundle, Met, hidden_rays
from sensorium.sensors.radar.spec import Radar
from sensorium.sensors.radar.target_places import Places, TargetPlaces
from sensorium.sensors.radar.targets import Targets

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


# Shares of a cell that rays move on by from frame to frame: one over the plastic number and over its square, whose
# multiples fill the square evenly
_MOVES = np.array([0.7548776662466927, 0.5698402909980532])

# Targets that fewer rays of the bundle go through have rays aimed at them
_FEW = 16


class RaySource:
    """Casts the bundle; each ray represents the area that it covers on the surface it hits.

    Rays are in equal cells of azimuth and elevation, at another position in them each frame, by a low-discrepancy
    sequence: rays of fixed directions would hit walls along the way at the same few ranges.

    A target of stated cross-section sigma keeps it at any size and density of rays, scaled by the part that other
    objects leave visible: sigma A_visible / (A_visible + A_hidden). Areas are across the line of sight, R^2 times solid
    angle. A_visible is the sum over rays that hit the target first, A_hidden the sum over rays that would hit it but
    hit another object first. Each visible ray carries its share by area. If both are fewer than 16 rays together, rays
    are aimed at points spread evenly over the target's surface instead. Parts of it outside the field do not count.
    """

    def __init__(self, spec: Radar, rig: Rig) -> None:
        self._spec, self._rig = spec, rig
        self._caster = SweepCaster(rig, 0.0, spec.farthest_m, in_world=False)
        self._columns, self._rows = spec.ray_columns, spec.ray_rows
        self._width, self._height = np.radians(spec.horizontal_fov_deg), np.radians(spec.vertical_fov_deg)
        self._aimed = AimedRays(rig, (0.5 * self._width, 0.5 * self._height), spec.farthest_m)
        self._places: TargetPlaces | None = None

    def points(self, instant: Instant, tick: int, targets: Targets) -> Points:
        """Hits at an instant, with the cross-section that falls to each."""
        bundle = self._bundle(tick)
        table = RayTable(
            bundle.direction_S.reshape(self._rows, self._columns, 3),
            np.zeros((self._rows, self._columns), np.int64),
            None,
            1,
        )
        scan = self._caster.cast(table, instant.time_ns, instant.time_ns)
        heads = len(instant.world)
        object_id, range_m = scan.object_id.reshape(heads, -1), scan.range_m.reshape(heads, -1)
        rows = targets.rows_of(instant.world)
        head, ray = np.nonzero(object_id >= 0)
        hit = object_id[head, ray].astype(np.int64)
        is_target = targets.is_target[rows[head], hit]
        head, ray, hit = head[is_target], ray[is_target], hit[is_target]
        p_S = scan.points.reshape(heads, -1, 3)[head, ray].astype(np.float64)

        # Area across the ray
        area = range_m[head, ray].astype(np.float64) ** 2 * bundle.solid_angle[ray]
        if self._places is None or self._places.targets is not targets:
            self._places = TargetPlaces(self._spec, self._rig, targets)
        if not self._places:
            return _points(instant, targets, head, hit, p_S, area * targets.reflectance[rows[head], hit])

        # Shares of stated cross-sections
        places, group = self._places.at(instant), targets.group[rows]
        met = Met(object_id, range_m, group)
        hidden = hidden_rays(self._rig, instant, bundle, met, places, self._spec.farthest_m)
        objects = group.shape[1]
        own = head * objects + group[head, hit]
        behind = hidden.head * objects + hidden.group
        whole = np.bincount(own, area, heads * objects)
        whole += np.bincount(behind, hidden.range_m**2 * bundle.solid_angle[hidden.ray], heads * objects)
        rays = np.bincount(own, minlength=heads * objects) + np.bincount(behind, minlength=heads * objects)
        few = rays.reshape(heads, objects)[np.arange(heads)[:, None], places.group] < _FEW
        stated = targets.stated(instant.X_WS.position, instant.world, instant.X_WB)
        is_given = targets.is_given[rows[head], hit]
        sigma = np.where(
            is_given,
            stated[head, hit] * area / np.maximum(whole[own], np.finfo(np.float64).tiny),
            area * targets.reflectance[rows[head], hit],
        )
        points = _points(instant, targets, head, hit, p_S, sigma)
        if not (few & (places.mesh >= 0)).any():
            return points

        # Targets hit by few rays: echoes of aimed rays instead, if any of those are in the field
        aimed = self._aimed.at(instant, places, few, group)
        has_own = np.zeros(heads * objects, np.bool_)
        has_own[aimed.head * objects + aimed.group] = True
        return Points.joined([points.kept(~(is_given & has_own[own])), _aimed_points(instant, targets, aimed, stated)])

    def _bundle(self, tick: int) -> Bundle:
        """Rays of a frame."""
        across, up = np.modf(0.5 + tick * _MOVES)[0]
        azimuth = ((np.arange(self._columns) + across) / self._columns - 0.5) * self._width
        elevation = (0.5 - (np.arange(self._rows) + up) / self._rows) * self._height
        unit = directions(azimuth[None, :], elevation[:, None]).astype(np.float32)
        solid = (self._width / self._columns) * (self._height / self._rows) * np.cos(elevation)
        return Bundle(
            direction_S=unit.reshape(-1, 3),
            solid_angle=np.repeat(solid, self._columns),
            columns=self._columns,
            rows=self._rows,
            width=float(self._width),
            height=float(self._height),
            across=float(across),
            up=float(up),
        )


def _points(instant: Instant, targets: Targets, head: Whole, hit: Whole, p_S: Float, sigma: Float) -> Points:
    """Points of sensors' frames in the world, as they move."""
    p_W = instant.X_WS.position[head] + rotate(instant.X_WS.rotation[head], p_S)
    return Points(head, hit, p_W, instant.velocity_at(p_W, instant.world[head], targets.body[hit]), sigma)


def _aimed_points(instant: Instant, targets: Targets, aimed: Aimed, stated: Float) -> Points:
    """Echoes of aimed rays, each with its share of the stated cross-section, by weight."""
    objects = stated.shape[1]
    own = aimed.head * objects + aimed.group
    share = aimed.weight / np.bincount(own, aimed.weight, stated.size)[own]
    clear = np.flatnonzero(aimed.is_clear)
    head, hit = aimed.head[clear], aimed.object_id[clear]
    sigma = stated[head, aimed.group[clear]] * share[clear]
    return _points(instant, targets, head, hit, aimed.p_S[clear], sigma)
