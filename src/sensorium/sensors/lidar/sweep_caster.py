"""Fires a table of rays from a rig and reports the first surface each meets."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.patterns import RayTable
from sensorium.random import stream_key
from sensorium.runtime import threads
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.common.firing import Aim, Firing, Shot
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.lidar.range_limits import ABOVE_ZERO, fill_errors, range_limits
from sensorium.sensors.lidar.scan import Scan
from sensorium.tracing.caster import new_hits
from sensorium.tracing.embree.packet import COHERENT_ADDRESS
from sensorium.tracing.kernels.light.ray_errors import RayErrors
from sensorium.tracing.kernels.light.resolve import plain_surfaces
from sensorium.tracing.kernels.light.tables import N_FAR, N_LEAST, NUMBERS
from sensorium.tracing.kernels.sweep import SweepOutputs, sweep
from sensorium.tracing.partitioned.messages import Bodies
from sensorium.tracing.partitioned.sweep_in_parts import aim_sweep, write_sweep
from sensorium.tracing.partitioned.tracer import PartsTracer
from sensorium.tracing.rays import Rays, new_rays

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar


class SweepCaster:
    """Casts ray tables over intervals, for every world and every sensor of a rig."""

    def __init__(
        self,
        rig: Rig,
        min_range_m: float,
        max_range_m: float,
        *,
        in_world: bool,
        normals: bool = False,
        worlds_differ: bool = False,
    ) -> None:
        if normals and rig.parts is not None:
            raise SpecError(f"normals is True and {rig.name!r} looks into a scene in parts; it must be False there")
        self._rig = rig
        self._limits = np.array([max(min_range_m, ABOVE_ZERO), max_range_m], np.float32)
        self._in_world = in_world
        self._surfaces = plain_surfaces(rig.tracer.layout) if normals else None
        self._firing = Firing(rig, worlds_differ=worlds_differ)
        self._recycler = Recycler()

    def mount(self, X_BS: Pose) -> None:
        """Let the sensors sit elsewhere from now on, batch shape (worlds, sensors); for rigs whose worlds differ."""
        self._firing.mount(X_BS.position, X_BS.quaternion)

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

    def cast_with_errors(
        self, errors: RayErrors, table: RayTable, start_ns: int, end_ns: int
    ) -> tuple[Scan, Callable[[], Scan]]:
        """Fire every ray of the table with its errors; returns the scan, and a function that gives it without them."""
        parts = self._rig.parts
        if parts is not None:
            aim, motion = self._firing.aim(table, start_ns, end_ns), parts.bodies_during(start_ns, end_ns)
            again = partial(self.fire_into_parts, parts, aim, motion, table, start_ns, end_ns)
            return again(errors), again
        shot = self._firing.prepare(table, start_ns, end_ns)
        scan, redrawn = self.fire(shot, table, start_ns, end_ns, errors), self._rig.tracer.redrawn
        return scan, lambda: self.fire_again(self._firing, shot, table, start_ns, end_ns, redrawn)

    def fire(self, shot: Shot, table: RayTable, start_ns: int, end_ns: int, errors: RayErrors | None = None) -> Scan:
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
                self._limits_of(errors),
                np.uint32(shot.placed.mask_without(rig.hide, air=False)),
                COHERENT_ADDRESS,
                self._in_world,
                self._surfaces,
                errors,
                out,
            )
        return self._scan(out, table, start_ns, end_ns, shot.knot_ns, shot.X_WS)

    def fire_again(
        self, firing: Firing, shot: Shot, table: RayTable, start_ns: int, end_ns: int, redrawn: NDArray[np.int64]
    ) -> Scan:
        """The truth of a shot, without errors, fired once more: few ask for it, so nobody else pays for it.

        Worlds that were drawn anew since are void in it: what the shot saw there is gone.

        Args:
            firing: Who prepared the shot.
            shot: It.
            table, start_ns, end_ns: As for `cast`.
            redrawn: How often each world had been drawn anew by then.
        """
        with shot.placed.lock:
            firing.repeat(shot)
            scan = self.fire(shot, table, start_ns, end_ns)
        gone = self._rig.tracer.redrawn != redrawn
        return scan.without(gone) if gone.any() else scan

    def fire_into_parts(
        self,
        parts: PartsTracer,
        aim: Aim,
        motion: Sequence[Bodies],
        table: RayTable,
        start_ns: int,
        end_ns: int,
        errors: RayErrors | None = None,
    ) -> Scan:
        """Fire what was aimed into a scene that lies in parts, world by world, with the bodies moving as they did."""
        rig, limits = self._rig, self._limits_of(errors)
        each = rig.sensors * aim.rays.x.size
        rays = new_rays(rig.worlds * each)
        threads.run(aim_sweep, aim.blocks, aim.rays, aim.heads, limits[1], errors, rays)
        found = new_hits(rig.worlds * each)
        for world, bodies in enumerate(motion):
            here = slice(world * each, (world + 1) * each)
            own = Rays(rays.origin[here], rays.direction[here], rays.time[here], rays.t_max[here], rays.world[here])
            hits = parts.cast(own, aim.anchor[world], bodies, rig.hide)
            for column, part in zip(found, hits, strict=True):
                column[here] = part
        out, where = self._outputs(aim.rays.x.size), (aim.rays, aim.heads, aim.anchor, limits, self._in_world)
        threads.run(write_sweep, aim.blocks, *where, found, errors, out)
        return self._scan(out, table, start_ns, end_ns, aim.knot_ns, aim.X_WS)

    def _limits_of(self, errors: RayErrors | None) -> NDArray[np.float32]:
        """Nearest range that returns, and how far rays go [m]; errors bring some from beyond the greatest range."""
        return self._limits if errors is None else errors.number[[N_LEAST, N_FAR]]

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
        organized = (*self._rig.axes, *table.shape)
        return Scan(
            range_m=out.range_m.reshape(organized),
            points=out.points.reshape((*organized, 3)),
            object_id=out.object_id.reshape(organized),
            face_id=out.face_id.reshape(organized),
            label=out.label.reshape(organized),
            offset_ns=np.zeros(table.shape, np.int64) if start_ns == end_ns else table.offset_ns,
            start_ns=start_ns,
            end_ns=end_ns,
            frame="world" if self._in_world else "sensor",
            knot_ns=knot_ns,
            X_WS=X_WS,
            normals=None if self._surfaces is None else out.normals.reshape((*organized, 3)),
        )


class NoisySweeps:
    """Casts sweeps of a geometric lidar with the errors of its rays, by the random numbers that light would have."""

    def __init__(self, spec: "Lidar", rig: Rig, caster: SweepCaster) -> None:
        self._rig, self._caster = rig, caster
        self._number = np.zeros(NUMBERS, np.float32)
        fill_errors(self._number, spec.noise, range_limits(spec))
        if spec.has_range_images:
            self._number[N_LEAST] = -np.inf  # what is too near is sorted out later, and told
        self._key = np.array(stream_key(rig.seed, rig.name), np.uint32)

    def cast(self, table: RayTable, start_ns: int, end_ns: int, tick: int) -> tuple[Scan, Callable[[], Scan]]:
        """Fire every ray of the table; returns the scan, and a function that gives its truth.

        Args:
            table, start_ns, end_ns: As for `SweepCaster.cast`.
            tick: Number of the sweep; its random numbers belong to it alone.
        """
        errors = RayErrors(self._number, self._key, tick, self._rig.first_world, self._rig.sensors)
        return self._caster.cast_with_errors(errors, table, start_ns, end_ns)
