"""Fires a table of rays from a rig and reports the first surface each meets."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.patterns import RayTable
from sensorium.recycling import Recycler
from sensorium.sensors.firing import Aim, Firing, Shot
from sensorium.sensors.rig import Rig
from sensorium.sensors.scan import Scan
from sensorium.trace.caster import new_hits
from sensorium.trace.light.resolve import plain_surfaces
from sensorium.trace.packet import COHERENT_ADDRESS
from sensorium.trace.part_messages import Bodies
from sensorium.trace.parts_tracer import PartsTracer
from sensorium.trace.rays import Rays, new_rays
from sensorium.trace.sweep import SweepOutputs, sweep
from sensorium.trace.sweep_in_parts import aim_sweep, write_sweep


class SweepCaster:
    """Casts ray tables over intervals, for every world and every sensor of a rig."""

    def __init__(
        self, rig: Rig, min_range_m: float, max_range_m: float, *, in_world: bool, normals: bool = False
    ) -> None:
        if normals and rig.parts is not None:
            raise SpecError(f"normals is True and {rig.name!r} looks into a scene in parts; it must be False there")
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
        parts = self._rig.parts
        if parts is not None:
            aim, bodies = self._firing.aim(table, start_ns, end_ns), parts.bodies_during(start_ns, end_ns)
            return self.fire_into_parts(parts, aim, bodies, table, start_ns, end_ns)
        return self.fire(self._firing.prepare(table, start_ns, end_ns), table, start_ns, end_ns)

    def fire(self, shot: Shot, table: RayTable, start_ns: int, end_ns: int) -> Scan:
        """Fire what was prepared, with the bodies placed as it says."""
        rig, tracer = self._rig, self._rig.tracer
        out = self._outputs(shot.rays.x.size)
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
        return self._scan(out, table, start_ns, end_ns, shot.knot_ns, shot.X_WS)

    def fire_into_parts(
        self, parts: PartsTracer, aim: Aim, motion: Sequence[Bodies], table: RayTable, start_ns: int, end_ns: int
    ) -> Scan:
        """Fire what was aimed into a scene that lies in parts, world by world, with the bodies moving as they did."""
        rig = self._rig
        each = rig.sensors * aim.rays.x.size
        rays = new_rays(rig.worlds * each)
        threads.run(aim_sweep, aim.blocks, aim.rays, aim.heads, self._limits[1], rays)
        found = new_hits(rig.worlds * each)
        for world, bodies in enumerate(motion):
            here = slice(world * each, (world + 1) * each)
            own = Rays(rays.origin[here], rays.direction[here], rays.time[here], rays.t_max[here], rays.world[here])
            hits = parts.cast(own, aim.anchor[world], bodies, rig.hide)
            for column, part in zip(found, hits, strict=True):
                column[here] = part
        out = self._outputs(aim.rays.x.size)
        threads.run(write_sweep, aim.blocks, aim.rays, aim.heads, aim.anchor, self._limits, self._in_world, found, out)
        return self._scan(out, table, start_ns, end_ns, aim.knot_ns, aim.X_WS)

    def _outputs(self, rays: int) -> SweepOutputs:
        """Arrays for a sweep; its kernel writes every element."""
        shape, new = (self._rig.worlds * self._rig.sensors, rays), self._recycler.array
        return SweepOutputs(
            range_m=new(shape, np.float32),
            points=new((*shape, 3), np.float64 if self._in_world else np.float32),
            object_id=new(shape, np.int32),
            face_id=new(shape, np.int32),
            label=new(shape, np.int32),
            normals=np.zeros((shape[0], 0, 3), np.float32) if self._surfaces is None else new((*shape, 3), np.float32),
        )

    def _scan(
        self, out: SweepOutputs, table: RayTable, start_ns: int, end_ns: int, knot_ns: NDArray[np.int64], X_WS: Pose
    ) -> Scan:
        """A reading of what a kernel wrote."""
        organised = (*self._rig.axes, *table.shape)
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
            knot_ns=knot_ns,
            X_WS=X_WS,
            normals=None if self._surfaces is None else out.normals.reshape((*organised, 3)),
        )
