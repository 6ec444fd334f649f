"""Casts a table of rays from a rig and reports the first surface on each."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.patterns import RayTable
from sensorium.random import stream_key
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.common.firing import Firing
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.range_limits import ABOVE_ZERO, fill_errors, range_limits
from sensorium.sensors.lidar.scan import Scan
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.geometry.ray_errors import N_FAR, N_LEAST, RAY_NUMBERS, RayErrors
from sensorium.tracing.kernels.sweep import SweepOutputs
from sensorium.tracing.scene_backend import Placement

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
        if normals and not rig.scene_backend.gives_normals:
            raise SpecError(f"normals is True and {rig.name!r} looks into a scene in parts; it must be False there")
        self._rig = rig
        self._limits = np.array([max(min_range_m, ABOVE_ZERO), max_range_m], np.float32)
        self._in_world = in_world
        self._normals = normals
        self._firing = Firing(rig, worlds_differ=worlds_differ)
        self._recycler = Recycler()

    def mount(self, X_BS: Pose) -> None:
        """Change where the sensors are mounted, batch shape (worlds, sensors); for rigs whose worlds differ."""
        self._firing.mount(X_BS.position, X_BS.quaternion)

    def cast(self, table: RayTable, start_ns: int, end_ns: int) -> Scan:
        """Fire every ray of the table.

        Args:
            table: Rays; their times count from the start.
            start_ns: Start of the interval [ns].
            end_ns: Its end, after the last ray; equal to the start to fire all rays at once.
        """
        aim = self._firing.aim(table, start_ns, end_ns)
        placement = self._rig.scene_backend.placement(start_ns, end_ns, aim.anchor)
        return self.fire(placement, aim, table, start_ns, end_ns)

    def cast_with_errors(
        self, errors: RayErrors, table: RayTable, start_ns: int, end_ns: int
    ) -> tuple[Scan, Callable[[], Scan]]:
        """Fire every ray of the table with its errors; returns the scan, and a function that gives it without them."""
        aim = self._firing.aim(table, start_ns, end_ns)
        placement = self._rig.scene_backend.placement(start_ns, end_ns, aim.anchor)
        scan = self.fire(placement, aim, table, start_ns, end_ns, errors)
        return scan, partial(self.fire_again, placement, aim, table, start_ns, end_ns)

    def fire(
        self,
        placement: Placement,
        aim: Aim,
        table: RayTable,
        start_ns: int,
        end_ns: int,
        errors: RayErrors | None = None,
    ) -> Scan:
        """Cast rays into a scene as placed."""
        out = self._outputs(aim.rays.x.size)
        normals = self._recycler.array((*out.range_m.shape, 3), np.float32) if self._normals else None
        limits = self._limits_of(errors)
        placement.cast_sweep(aim, self._rig.hide, limits, errors, normals, out, in_world=self._in_world)
        return self._scan(out, normals, aim, table, start_ns, end_ns)

    def fire_again(self, placement: Placement, aim: Aim, table: RayTable, start_ns: int, end_ns: int) -> Scan:
        """The truth of a cast, without errors: cast again when it is first read.

        Worlds that were redrawn since are void in it, because their objects are gone.

        Args:
            placement: The scene that was cast into.
            aim: The rays that were cast.
            table, start_ns, end_ns: As for `cast`.
        """
        with placement.restored():
            scan = self.fire(placement, aim, table, start_ns, end_ns)
        gone = placement.redrawn_worlds()
        return scan.without(gone) if gone.any() else scan

    def _limits_of(self, errors: RayErrors | None) -> NDArray[np.float32]:
        """Least range of a return, and length of the rays [m]; errors may shorten longer ranges."""
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
        )

    def _scan(
        self,
        out: SweepOutputs,
        normals: NDArray[np.float32] | None,
        aim: Aim,
        table: RayTable,
        start_ns: int,
        end_ns: int,
    ) -> Scan:
        """A scan of the kernel's arrays."""
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
            knot_ns=aim.knot_ns,
            X_WS=aim.X_WS,
            normals=None if normals is None else normals.reshape((*organized, 3)),
        )


class NoisySweeps:
    """Casts sweeps of a geometric lidar with ray errors, from the same random numbers as a light cast."""

    def __init__(self, spec: "Lidar", rig: Rig, caster: SweepCaster) -> None:
        self._rig, self._caster = rig, caster
        self._number = np.zeros(RAY_NUMBERS, np.float32)
        fill_errors(self._number, spec.noise, range_limits(spec))
        if spec.has_range_images:
            self._number[N_LEAST] = -np.inf  # returns that are too near are removed and reported later
        self._by_range = spec.noise.range_table()
        self._key = np.array(stream_key(rig.seed, rig.name), np.uint32)

    def cast(self, table: RayTable, start_ns: int, end_ns: int, tick: int) -> tuple[Scan, Callable[[], Scan]]:
        """Fire every ray of the table; returns the scan, and a function that gives its truth.

        Args:
            table, start_ns, end_ns: As for `SweepCaster.cast`.
            tick: Number of the sweep, which selects its random numbers.
        """
        errors = RayErrors(self._number, self._by_range, self._key, tick, self._rig.first_world, self._rig.sensors)
        return self._caster.cast_with_errors(errors, table, start_ns, end_ns)
