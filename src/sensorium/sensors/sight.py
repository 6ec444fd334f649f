"""What stands between a sensor and the sky: rays that nothing may meet."""

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.sensors.rig import Rig
from sensorium.trace.cast import cast_rays
from sensorium.trace.caster import new_hits
from sensorium.trace.packet import BLOCK, SCATTERED_ADDRESS
from sensorium.trace.rays import Rays


class Sight:
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
        """Whether nothing is in the way.

        Args:
            time_ns: The instant [ns].
            p_WS: Where the sensors are then [m], shape (worlds * sensors, 3).
            directions_W: Where to look, unit vectors, shape (directions, 3).
            rows: Sensors that look, as indices in order; None is all.

        Returns:
            Shape (rows, directions).
        """
        rig = self._rig
        looking = np.arange(len(p_WS)) if rows is None else rows
        shape = (len(looking), len(directions_W))
        count = shape[0] * shape[1]
        if not count:
            return np.ones(shape, np.bool_)
        rays = Rays(
            origin=np.repeat(p_WS[looking], shape[1], axis=0),
            direction=np.tile(directions_W.astype(np.float32), (shape[0], 1)),
            time=np.zeros(count, np.float32),
            t_max=np.full(count, np.inf, np.float32),
            world=np.repeat(looking // rig.sensors, shape[1]).astype(np.int32),
        )
        out = new_hits(count)
        placed = rig.tracer.place(time_ns, time_ns, p_WS.reshape(rig.worlds, rig.sensors, 3)[:, 0])
        with placed.lock:
            threads.run(
                cast_rays,
                -(-count // BLOCK),
                placed.tables,
                rig.tracer.labels,
                placed.anchor,
                rays,
                np.uint32(placed.mask_without(rig.hide, air=False)),
                SCATTERED_ADDRESS,
                out,
            )
        return (out.object_id < 0).reshape(shape)
