"""Echoes of the nearest point of each object in the cone of the field of view."""

import numpy as np

from sensorium.sensors.common.rig import Rig
from sensorium.sensors.cone.caster import ConeCaster, ConeOptions
from sensorium.sensors.radar.echoes import Instant, Points
from sensorium.sensors.radar.spec import Radar
from sensorium.sensors.radar.targets import Targets


class ConeSource:
    """Finds the points without rays: small and far objects are never missed, and each is one point.

    The field is an elliptic cone that ends in a sphere. Objects whose nearest point is behind another have no echo.
    """

    def __init__(self, spec: Radar, rig: Rig) -> None:
        options = ConeOptions(
            horizontal_fov_deg=spec.horizontal_fov_deg,
            vertical_fov_deg=spec.vertical_fov_deg,
            range_m=spec.farthest_m,
            front="spherical",
            occlusion=True,
            per_object=True,
        )
        self._caster = ConeCaster(rig, options)

    def points(self, instant: Instant, tick: int, targets: Targets) -> Points:
        """Nearest points at an instant, each with the cross-section of its whole object."""
        found = self._caster.at(instant.time_ns)
        rows = targets.rows_of(instant.world)
        in_sight = found.in_sight & targets.is_target[rows]
        head, column = np.nonzero(in_sight)
        hit = found.object_id[head, column].astype(np.int64)
        p_W = found.point_W[head, column]
        v_W = instant.velocity_at(p_W, instant.world[head], targets.body[hit])
        sigma = targets.whole(instant.X_WS.position, instant.world, instant.X_WB, in_sight)
        return Points(head, hit, p_W, v_W, sigma[head, hit])
