"""Echoes of all that a bundle of rays over the field of view hits."""

import numpy as np
from numpy.typing import NDArray

from sensorium.patterns import RayTable
from sensorium.patterns.base import directions
from sensorium.sensors.radar.echoes import Instant, Points
from sensorium.sensors.radar.spec import Radar
from sensorium.sensors.radar.targets import Targets
from sensorium.sensors.rig import Rig
from sensorium.sensors.sweep_caster import SweepCaster

# Shares of a cell that rays move on by from frame to frame: one over the plastic number and over its square, whose
# multiples fill the square evenly
_MOVES = np.array([0.7548776662466927, 0.5698402909980532])


class RaySource:
    """Casts the bundle; each ray stands for the area that it covers of what it hits.

    Rays lie in equal cells of azimuth and elevation, each frame elsewhere in them, by a sequence that is not random but
    fills the cells: rays that always went the same way would hit walls along the way at the same few ranges.
    """

    def __init__(self, spec: Radar, rig: Rig) -> None:
        self._rig = rig
        self._caster = SweepCaster(rig, 0.0, spec.farthest_m, in_world=False)
        self._columns, self._rows = spec.ray_columns, spec.ray_rows
        self._width, self._height = np.radians(spec.horizontal_fov_deg), np.radians(spec.vertical_fov_deg)

    def points(self, instant: Instant, tick: int, targets: Targets) -> Points:
        """Hits at an instant, with the cross-section that falls to each."""
        table, solid_angle = self._bundle(tick)
        scan = self._caster.cast(table, instant.time_ns, instant.time_ns)
        heads = len(instant.world)
        object_id, range_m = scan.object_id.reshape(heads, -1), scan.range_m.reshape(heads, -1)
        rows = instant.world if len(targets.is_target) > 1 else np.zeros(heads, np.int64)
        head, ray = np.nonzero(object_id >= 0)
        hit = object_id[head, ray].astype(np.int64)
        is_target = targets.is_target[rows[head], hit]
        head, ray, hit = head[is_target], ray[is_target], hit[is_target]
        p_S = scan.points.reshape(heads, -1, 3)[head, ray].astype(np.float64)
        p_W = instant.X_WS[head].apply(p_S)
        body = targets.body[hit]
        v_W = instant.velocity_at(p_W, instant.world[head], body)

        # Area across the ray; where an object's cross-section is known, its share of that, by area
        area = range_m[head, ray].astype(np.float64) ** 2 * solid_angle[ray]
        row = rows[head]
        sigma = area * targets.reflectance[row, hit]
        known = targets.is_given[row, hit]
        if known.any():
            seen = targets.seen(instant.X_WS.position, instant.world, instant.X_WB, everything=False)
            objects = seen.area_m2.shape[1]
            covered = np.bincount(head * objects + hit, area, heads * objects).reshape(heads, objects)
            whole = np.maximum(seen.area_m2, covered)
            sigma[known] = (seen.cross_section_m2[head, hit] * area / np.maximum(whole[head, hit], 1e-12))[known]
        return Points(head, hit, p_W, v_W, sigma)

    def _bundle(self, tick: int) -> tuple[RayTable, NDArray[np.float64]]:
        """Rays of a frame, and the solid angle that each stands for [sr]."""
        across, up = np.modf(0.5 + tick * _MOVES)[0]
        azimuth = ((np.arange(self._columns) + across) / self._columns - 0.5) * self._width
        elevation = (0.5 - (np.arange(self._rows) + up) / self._rows) * self._height
        unit = directions(azimuth[None, :], elevation[:, None])
        table = RayTable(unit.astype(np.float32), np.zeros((self._rows, self._columns), np.int64), None, 1)
        solid = (self._width / self._columns) * (self._height / self._rows) * np.cos(elevation)
        return table, np.repeat(solid, self._columns)
