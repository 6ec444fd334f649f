"""Nearest hits of a sensor's rays, as passed to a user-defined sensor."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import rotation_from_quaternion
from sensorium.patterns import RayTable
from sensorium.sensors.common.firing import cast_at
from sensorium.sensors.common.spec import Rig
from sensorium.tracing.rays import Hits, Rays, property_at, shaped_hits
from sensorium.worlds.point_motion import PointState


@dataclass(frozen=True)
class RayHits(Hits):
    """Nearest hits of a pattern's rays; arrays have shape (heads, rows, columns), heads world by world.

    A ray without a hit within the sensor's range has range_m = inf, ids and label -1, and a zero normal.
    """

    direction_W: NDArray[np.float32]
    """Unit directions of the rays in world axes, (heads, rows, columns, 3)."""
    table: RayTable
    """The rays in the sensor's own frame, (rows, columns)."""

    @cached_property
    def depth_m(self) -> NDArray[np.float32]:
        """Distance along the sensor's x axis [m]; inf without a hit."""
        with np.errstate(invalid="ignore"):
            return np.where(self.hit, self.range_m * self.table.direction_S[..., 0], np.float32(np.inf))

    @cached_property
    def cos_incidence(self) -> NDArray[np.float32]:
        """Cosine of the angle between ray and normal, 1 at normal incidence on either side; 0 without a hit."""
        return np.abs((self.normal * self.direction_W).sum(axis=-1))


def hits_from(rig: Rig, state: PointState, table: RayTable, max_range_m: float) -> RayHits:
    """Fire a table of rays from all sensors of a rig at an instant.

    Args:
        rig: Mount of the sensors.
        state: Their motion then.
        table: The rays; all are fired at once.
        max_range_m: How far they look [m].
    """
    heads, rays = rig.worlds * rig.sensors, int(np.prod(table.shape))
    R_WS = rotation_from_quaternion(state.quaternion.reshape(heads, 4))
    direction_W = (table.direction_S.reshape(rays, 3) @ R_WS.swapaxes(1, 2)).astype(np.float32)
    origin = np.repeat(state.position.reshape(heads, 3), rays, axis=0)
    if table.origin_S is not None:
        origin += (table.origin_S.reshape(rays, 3) @ R_WS.swapaxes(1, 2)).reshape(-1, 3)
    world = np.repeat(np.arange(rig.worlds, dtype=np.int32), rig.sensors * rays)
    fired = Rays(
        origin=origin,
        direction=direction_W.reshape(-1, 3),
        time=np.zeros(heads * rays, np.float32),
        t_max=np.full(heads * rays, max_range_m, np.float32),
        world=world,
    )
    found = cast_at(rig, state.time_ns, state.position[:, 0], fired, coherent=True)
    shape = (heads, *table.shape)
    plain = shaped_hits(found, world, shape, lambda hits, name: property_at(rig.tracer.layout, hits, name))
    return RayHits(**vars(plain), direction_W=direction_W.reshape(*shape, 3), table=table)
