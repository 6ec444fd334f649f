"""Echoes of all that a bundle of rays over the field of view hits."""

import numpy as np

from sensorium.patterns import RayTable
from sensorium.patterns.base import directions
from sensorium.sensors.radar.echoes import Instant, Points
from sensorium.sensors.radar.spec import Radar
from sensorium.sensors.radar.targets import Targets
from sensorium.sensors.rig import Rig
from sensorium.sensors.sweep_caster import SweepCaster


class RaySource:
    """Casts the bundle; each ray stands for the area that it covers of what it hits."""

    def __init__(self, spec: Radar, rig: Rig, targets: Targets) -> None:
        self._rig, self._targets = rig, targets
        self._caster = SweepCaster(rig, 0.0, spec.farthest_m, in_world=False)

        # Rays in the middle of equal cells of azimuth and elevation
        columns, rows = spec.ray_columns, spec.ray_rows
        width, height = np.radians(spec.horizontal_fov_deg), np.radians(spec.vertical_fov_deg)
        azimuth = ((np.arange(columns) + 0.5) / columns - 0.5) * width
        elevation = (0.5 - (np.arange(rows) + 0.5) / rows) * height
        unit = directions(azimuth[None, :], elevation[:, None])
        self._table = RayTable(unit.astype(np.float32), np.zeros((rows, columns), np.int64), None, 1)
        solid = (width / columns) * (height / rows) * np.cos(elevation)
        self._solid_angle = np.repeat(solid, columns)

    def points(self, instant: Instant) -> Points:
        """Hits at an instant, with the cross-section that falls to each."""
        scan = self._caster.cast(self._table, instant.time_ns, instant.time_ns)
        heads = len(instant.world)
        object_id, range_m = scan.object_id.reshape(heads, -1), scan.range_m.reshape(heads, -1)
        rows = instant.world if len(self._targets.is_target) > 1 else np.zeros(heads, np.int64)
        head, ray = np.nonzero(object_id >= 0)
        hit = object_id[head, ray].astype(np.int64)
        is_target = self._targets.is_target[rows[head], hit]
        head, ray, hit = head[is_target], ray[is_target], hit[is_target]
        p_S = scan.points.reshape(heads, -1, 3)[head, ray].astype(np.float64)
        p_W = instant.X_WS[head].apply(p_S)
        body = self._targets.body[hit]
        v_W = instant.velocity_at(p_W, instant.world[head], body)

        # Area across the ray; where an object's cross-section is known, its share of that, by area
        area = range_m[head, ray].astype(np.float64) ** 2 * self._solid_angle[ray]
        row = rows[head]
        sigma = area * self._targets.reflectance[row, hit]
        known = self._targets.is_given[row, hit]
        if known.any():
            seen = self._targets.seen(instant.X_WS.position, instant.world, instant.X_WB, everything=False)
            objects = seen.area_m2.shape[1]
            covered = np.bincount(head * objects + hit, area, heads * objects).reshape(heads, objects)
            whole = np.maximum(seen.area_m2, covered)
            sigma[known] = (seen.cross_section_m2[head, hit] * area / np.maximum(whole[head, hit], 1e-12))[known]
        return Points(head, hit, p_W, v_W, sigma)
