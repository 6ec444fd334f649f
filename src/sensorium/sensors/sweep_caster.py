"""Fires a table of rays from a rig and reports the first surface each meets."""

import numpy as np

from sensorium import threads
from sensorium.patterns import RayTable
from sensorium.sensors.firing import Firing, Shot
from sensorium.sensors.recycling import Recycler
from sensorium.sensors.rig import Rig
from sensorium.sensors.scan import Scan
from sensorium.trace.light.resolve import plain_surfaces
from sensorium.trace.packet import COHERENT_ADDRESS
from sensorium.trace.sweep import SweepOutputs, sweep


class SweepCaster:
    """Casts ray tables over intervals, for every world and every sensor of a rig."""

    def __init__(
        self, rig: Rig, min_range_m: float, max_range_m: float, *, in_world: bool, normals: bool = False
    ) -> None:
        self._rig = rig
        self._limits = np.array([min_range_m, max_range_m], np.float32)
        self._in_world = in_world
        self._surfaces = plain_surfaces(rig.tracer.layout) if normals else None
        self._firing = Firing(rig)
        self._recycler = Recycler()

    def cast(self, table: RayTable, start_ns: int, end_ns: int) -> Scan:
        """Fire every ray of the table.

        Args:
            table: Rays; their times count from the start.
            start_ns: Start of the interval [ns].
            end_ns: Its end, after the last ray; equal to the start to fire all rays at once.
        """
        return self.fire(self._firing.prepare(table, start_ns, end_ns), table, start_ns, end_ns)

    def fire(self, shot: Shot, table: RayTable, start_ns: int, end_ns: int) -> Scan:
        """Fire what was prepared, with the bodies placed as it says."""
        rig, tracer = self._rig, self._rig.tracer

        # The kernel writes every element
        shape, new = (rig.worlds * rig.sensors, shot.rays.x.size), self._recycler.array
        out = SweepOutputs(
            range_m=new(shape, np.float32),
            points=new((*shape, 3), np.float64 if self._in_world else np.float32),
            object_id=new(shape, np.int32),
            face_id=new(shape, np.int32),
            label=new(shape, np.int32),
            normals=np.zeros((shape[0], 0, 3), np.float32) if self._surfaces is None else new((*shape, 3), np.float32),
        )
        with shot.placed.lock:
            threads.run(
                sweep,
                shot.blocks,
                shot.placed.tables,
                tracer.labels,
                shot.placed.anchor,
                shot.rays,
                shot.heads,
                self._limits,
                np.uint32(shot.placed.mask_without(rig.hide, air=False)),
                COHERENT_ADDRESS,
                self._in_world,
                self._surfaces,
                out,
            )
        organised = (*rig.axes, *table.shape)
        return Scan(
            range_m=out.range_m.reshape(organised),
            points=out.points.reshape((*organised, 3)),
            object_id=out.object_id.reshape(organised),
            face_id=out.face_id.reshape(organised),
            label=out.label.reshape(organised),
            offset_ns=np.zeros(table.shape, np.int64) if start_ns == end_ns else table.time_ns,
            start_ns=start_ns,
            end_ns=end_ns,
            frame="world" if self._in_world else "sensor",
            knot_ns=shot.knot_ns,
            X_WS=shot.X_WS,
            normals=None if self._surfaces is None else out.normals.reshape((*organised, 3)),
        )
