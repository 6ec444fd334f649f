"""Obstacles between a sensor and the sky, or a target: rays and their first hits."""

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.firing import cast_at
from sensorium.sensors.common.spec import Rig
from sensorium.tracing.rays import RawHits, Rays, new_hits


class Occlusion:
    """Casts rays from the sensors of a rig at an instant, with every body where it is then.

    Any surface blocks a ray, glass as well; bodies that the rig hides do not.
    """

    def __init__(self, rig: Rig) -> None:
        self._rig = rig

    def clear(
        self,
        time_ns: int,
        p_WS: NDArray[np.float64],
        directions_W: NDArray[np.float64],
        rows: NDArray[np.intp] | None = None,
    ) -> NDArray[np.bool_]:
        """Whether the line of sight is free.

        Args:
            time_ns: The instant [ns].
            p_WS: Where the sensors are then [m], shape (worlds * sensors, 3).
            directions_W: Where to look, unit vectors, shape (directions, 3).
            rows: Sensors that look, as indices in order; None is all.

        Returns:
            Shape (rows, directions).
        """
        looking = np.arange(len(p_WS)) if rows is None else rows
        shape = (len(looking), len(directions_W))
        sensor = np.repeat(looking, shape[1])
        found = self.hits(time_ns, p_WS, sensor, np.tile(directions_W, (shape[0], 1)))
        return (found.object_id < 0).reshape(shape)

    def hits(
        self,
        time_ns: int,
        p_WS: NDArray[np.float64],
        sensor: NDArray[np.intp],
        directions_W: NDArray[np.float64],
    ) -> RawHits:
        """First hits of the sensors' rays.

        Args:
            time_ns: The instant [ns].
            p_WS: Where the sensors are then [m], shape (worlds * sensors, 3).
            sensor: Which of them each ray starts from, in order, shape (rays,).
            directions_W: Where each goes, unit vectors, shape (rays, 3).
        """
        rig, count = self._rig, len(sensor)
        if not count:
            return new_hits(0)
        rays = Rays(
            origin=p_WS[sensor],
            direction=directions_W.astype(np.float32),
            time=np.zeros(count, np.float32),
            t_max=np.full(count, np.inf, np.float32),
            world=(sensor // rig.sensors).astype(np.int32),
        )
        return cast_at(rig, time_ns, p_WS.reshape(rig.worlds, rig.sensors, 3)[:, 0], rays)
