"""The rays and mounts of a rig over an interval: what every ray sensor prepares before its kernel runs."""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.frames import Pose
from sensorium.patterns import RayTable
from sensorium.runtime import worker_pool
from sensorium.sensors.common.mount_path import follow_mounts
from sensorium.sensors.common.spec import Rig
from sensorium.tracing.aim import Aim
from sensorium.tracing.embree import crossings as cr
from sensorium.tracing.embree.cast import cast_rays
from sensorium.tracing.embree.packet import BLOCK, COHERENT_ADDRESS, SCATTERED_ADDRESS
from sensorium.tracing.kernels.sweep import Heads, RayTables
from sensorium.tracing.placement.instant import Cameras
from sensorium.tracing.rays import RawHits, Rays, new_hits

# Times of the knots of an instant
_AT_ONCE = np.zeros(1, np.float32)


class Firing:
    """Prepares ray tables for a rig; caches the parts that do not change from sweep to sweep."""

    def __init__(self, rig: Rig, *, worlds_differ: bool = False) -> None:
        """Prepare for a rig.

        Args:
            rig: The sensors that fire.
            worlds_differ: Whether mounts may differ between worlds.
        """
        self._rig = rig
        self._bodies = (rig.worlds, rig.history.bodies, -1 if rig.body is None else rig.body)
        rows = rig.worlds if worlds_differ else 1
        self._mounts = np.empty((rows, rig.sensors, 3)), np.empty((rows, rig.sensors, 4))
        self.mount(rig.X_BS.position, rig.X_BS.quaternion)
        self._world = np.repeat(np.arange(rig.worlds, dtype=np.int32), rig.sensors)
        self._always = np.zeros(rig.worlds * rig.sensors, np.float32)
        self._table: RayTable | None = None
        self._flat: RayTables | None = None
        self._instant: bool | None = None

    def mount(self, p_BS: NDArray[np.float64], q_BS: NDArray[np.float64]) -> None:
        """Change where the sensors are mounted from now on.

        Args:
            p_BS: Positions on their body [m], shape (sensors, 3), or (worlds, sensors, 3) where worlds differ.
            q_BS: Orientations, shape (sensors, 4) or (worlds, sensors, 4).
        """
        self._mounts[0][...], self._mounts[1][...] = p_BS, q_BS

    def aim(self, table: RayTable, start_ns: int, end_ns: int) -> Aim:
        """Rays and mounts for the table.

        Args:
            table: Rays; their times count from the start.
            start_ns: Start of the interval [ns].
            end_ns: Its end, after the last ray; equal to the start to fire all rays at once.
        """
        span = self._rig.history.span(start_ns, end_ns)
        rays = self._flattened(table, start_ns == end_ns)
        knot_ns, time, position, quaternion, anchor, matrix = follow_mounts(
            start_ns, end_ns, span.table, *self._bodies, *self._mounts
        )
        heads = Heads(matrix, time, self._world, self._voided(start_ns, end_ns))
        blocks = len(matrix) * -(-rays.x.size // BLOCK)
        return Aim(rays, heads, anchor, blocks, knot_ns, Pose._trusted(position, quaternion))

    def instant_rays(self, table: RayTable) -> tuple[RayTables, Heads]:
        """Rays for images of an instant whose kernel fills in the matrices of cameras.

        They hold for every image, however the cameras are mounted then.
        """
        matrix = np.empty((self._rig.worlds * self._rig.sensors, 1, 12), np.float32)
        return self._flattened(table, instant=True), Heads(matrix, _AT_ONCE, self._world, self._always)

    def cameras(self) -> Cameras:
        """How cameras of such images are mounted (`mount` changes it in place), and room for their poses."""
        p_WS, q_WS = (np.empty((1, self._rig.worlds, self._rig.sensors, size)) for size in (3, 4))
        return Cameras(self._bodies[2], *self._mounts, p_WS, q_WS)

    def _flattened(self, table: RayTable, instant: bool) -> RayTables:
        """The table as the kernel reads it; kept as long as the same table comes."""
        if self._flat is None or table is not self._table or instant != self._instant:
            directions = table.direction_S.reshape(-1, 3)
            time = np.zeros(len(directions)) if instant else table.offset_ns.reshape(-1) / table.duration_ns
            none = np.zeros((0, 3), np.float32)
            self._table, self._instant = table, instant
            self._flat = RayTables(
                x=np.array(directions[:, 0]),
                y=np.array(directions[:, 1]),
                z=np.array(directions[:, 2]),
                time=time.astype(np.float32),
                origin=none if table.origin_S is None else np.array(table.origin_S.reshape(-1, 3)),
            )
        return self._flat

    def _voided(self, start_ns: int, end_ns: int) -> NDArray[np.float32]:
        """Before which fraction of the interval rays of each head are void, since their world restarted."""
        history = self._rig.history
        if history.restarted_ns <= start_ns:
            return self._always
        voided = (history.valid_from_ns.astype(np.float64) - start_ns) / max(end_ns - start_ns, 1)
        return np.repeat(np.clip(voided, 0.0, 2.0), self._rig.sensors).astype(np.float32)


# Faces along a ray that there is room for at first; where there are more, rays are cast again
_CROSSINGS = 16


def cast_at(rig: Rig, time_ns: int, near: NDArray[np.float64], rays: Rays, *, coherent: bool = False) -> RawHits:
    """Nearest surface on each ray, without bodies that the rig hides and without volumes such as fog banks.

    Args:
        rig: Whose rays they are.
        time_ns: The instant [ns].
        near: Where the rays of each world start from, roughly [m], shape (worlds, 3).
        rays: In the world, ordered by world; their times must be 0.
        coherent: Whether neighbors go almost the same way.
    """
    placed, count = rig.tracer.place(time_ns, time_ns, near), len(rays.origin)
    out = new_hits(count)
    with placed.lock:
        worker_pool.run(
            cast_rays,
            -(-count // BLOCK),
            placed.tables,
            rig.tracer.labels,
            placed.anchor,
            rays,
            np.uint32(placed.mask_without(rig.hide, air=False)),
            COHERENT_ADDRESS if coherent else SCATTERED_ADDRESS,
            out,
        )
    return out


def cross_at(rig: Rig, time_ns: int, near: NDArray[np.float64], rays: Rays) -> cr.RawCrossings:
    """Every face that each ray crosses, without stopping at any; arguments as for `cast_at`."""
    placed, room = rig.tracer.place(time_ns, time_ns, near), _CROSSINGS
    masks = np.full(2, placed.mask_without(rig.hide, air=False), np.uint32)
    blocks = -(-len(rays.origin) // BLOCK)
    while True:
        out = cr.new_raw_crossings(len(rays.origin), room)
        with placed.lock:
            worker_pool.run(cr.collect_rays, blocks, placed.tables, rig.tracer.labels, placed.anchor, rays, masks, out)
        most = int(out.found.max(initial=0))
        if most <= room:
            return out
        room = most
