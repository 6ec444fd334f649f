"""Fires a table of rays from a rig and follows the light: materials, media, the ray tree, returns and their noise."""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.patterns import RayTable
from sensorium.random import stream_key
from sensorium.runtime import worker_pool
from sensorium.runtime.recycling import Recycler
from sensorium.sensors.common.firing import Firing
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.lidar.intensity_scale import scaled
from sensorium.sensors.lidar.light_tables import light_tables, surfaces, white_at
from sensorium.sensors.lidar.near_surfaces import NearSurfaces
from sensorium.sensors.lidar.scan import Light, Scan
from sensorium.sensors.lidar.sweep_caster import SweepCaster
from sensorium.sensors.lidar.waveform.reading import Waveforms
from sensorium.sensors.lidar.waveform.spec import check_kept
from sensorium.tracing.aim import Aim
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.kernel import LightOutputs
from sensorium.tracing.kernels.waveform.tables import V_BINS, W_GAIN
from sensorium.tracing.light_cast import BeamCast, Draws, LightCast, PulseCast

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar
    from sensorium.sensors.lidar.strong_light import StrongLight
    from sensorium.tracing.kernels.bundles.tables import BeamTables
    from sensorium.tracing.kernels.waveform.kernel import WaveformOutputs
    from sensorium.tracing.kernels.waveform.tables import WaveformTables


class LightCaster:
    """Casts ray tables with light, for every world and every sensor of a rig."""

    def __init__(self, spec: "Lidar", rig: Rig) -> None:
        self._rig = rig
        self._in_world = spec.frame == "world"
        self._several = spec.returns in ("dual", "all")
        self._returns = {"dual": 2, "all": spec.max_returns}.get(spec.returns, 1)
        self._layout = rig.scene_backend.layout
        self._tables = light_tables(spec, self._layout, rig.atmosphere, rig.sun)
        images = spec.has_range_images
        self._geometry = SweepCaster(
            rig, 0.0 if images else spec.min_range_m, spec.max_range_m, in_world=self._in_world
        )
        self._near = NearSurfaces(spec, rig) if images else None
        self.too_near: NDArray[np.bool_] | None = None
        """Rays of the last sweep whose first surface was too near, if range images are requested: (*axes, rays)."""
        self._scale, self._depth = spec.intensity, spec.max_depth
        self._waveform: WaveformTables | None = None
        if spec.mode == "waveform":
            from sensorium.sensors.lidar.waveform.tables import waveform_tables  # imported on use

            self._waveform = waveform_tables(spec, self._tables)
            pulses = rig.worlds * rig.sensors * math.prod(spec.pattern.rays(0).shape)
            try:
                check_kept(spec.waveform, pulses, int(self._waveform.switch[V_BINS]))
            except ValueError as error:
                raise SpecError(str(error)) from None
        self._strong: StrongLight | None = None
        if spec.strong_light:
            from sensorium.sensors.lidar import strong_light

            self._strong = strong_light.StrongLight(spec, rig, self._tables)
            self._tables = self._strong.tables
        self._beams: BeamTables | None = None
        if spec.mode != "waveform" and spec.beam.rays > 1:
            from sensorium.sensors.lidar.beam_tables import beam_tables

            self._beams = beam_tables(spec, self._tables)
        self._start_s, self._resolution_s = spec.waveform.start_s, spec.waveform.resolution_s
        self._key = np.array(stream_key(rig.seed, rig.name), np.uint32)
        self._firing = Firing(rig, worlds_differ=spec.randomize is not None)
        self._recycler = Recycler()

    def mount(self, X_BS: Pose) -> None:
        """Change the mount poses from now on, batch shape (worlds, sensors)."""
        self._firing.mount(X_BS.position, X_BS.quaternion)

    def cast(self, table: RayTable, start_ns: int, end_ns: int, tick: int) -> tuple[Scan, Callable[[], Scan]]:
        """Fire every ray of the table.

        Args:
            table: Rays; their times count from the start.
            start_ns: Start of the interval [ns].
            end_ns: Its end, after the last ray; equal to the start to fire all rays at once.
            tick: Number of the sweep, which selects its random numbers.

        Returns:
            The scan, and a function that gives its truth: the first surface of each ray, without any error.
        """
        rig = self._rig
        self._refresh_layout()
        aim = self._firing.aim(table, start_ns, end_ns)
        placement = rig.scene_backend.placement(start_ns, end_ns, aim.anchor)
        out = self._outputs(aim.rays.x.size)
        again = True
        while again:
            cast = self._light_cast(tick, out)
            placement.cast_light(aim, rig.hide, cast)
            again = self._make_room()
        if self._near is not None:
            self.too_near = self._near.found(placement, aim, table, start_ns, end_ns, tick)
        received = None if cast.pulses is None else cast.pulses.out
        scan = self._scan(self._settled(cast, aim, table, start_ns, end_ns), received, aim, table, start_ns, end_ns)
        return scan, partial(self._geometry.fire_again, placement, aim, table, start_ns, end_ns)

    def _light_cast(self, tick: int, out: LightOutputs) -> LightCast:
        """Tables and arrays of a cast: for single rays, beams of several rays, or pulses with waveforms."""
        rig = self._rig
        cast = LightCast(self._tables, Draws(self._key, tick, rig.first_world, rig.sensors), out)
        if self._beams is not None:
            from sensorium.sensors.lidar.beam_tables import without_limits

            return cast._replace(beams=BeamCast(self._beams, without_limits(self._tables)))
        return cast if self._waveform is None else cast._replace(pulses=self._pulse_cast(self._waveform, out))

    def _settled(self, cast: LightCast, aim: Aim, table: RayTable, start_ns: int, end_ns: int) -> LightOutputs:
        """Reported returns of each ray after the effects of strong light."""
        if self._strong is None:
            return cast.out
        room = self._outputs(aim.rays.x.size, self._returns)
        return self._strong.settle(cast, aim, table, start_ns, end_ns, room)

    def _outputs(self, rays: int, returns: int | None = None) -> LightOutputs:
        """Arrays for a sweep; its kernel writes every element."""
        if returns is None:
            returns = self._returns if self._strong is None else self._strong.kept
        shape, new = (self._rig.worlds * self._rig.sensors, returns, rays), self._recycler.array
        tree = shape if self._tables.switch[tb.S_DEPTH] else (*shape[:2], 0)
        return LightOutputs(
            range_m=new(shape, np.float32),
            points_S=new((*shape[:2], 0 if self._in_world else shape[2], 3), np.float32),
            points_W=new((*shape[:2], shape[2] if self._in_world else 0, 3), np.float64),
            intensity=new(shape, np.float32),
            cause=new(shape, np.uint8),
            depth=new(tree, np.uint8),
            object_id=new(shape, np.int32),
            face_id=new(shape, np.int32),
            label=new(shape, np.int32),
            mirror_id=new(tree, np.int32),
            ambient=new((shape[0], shape[2] if self._tables.switch[tb.S_SUN] else 0), np.float32),
        )

    def _refresh_layout(self) -> None:
        """Rebuild the tables of objects from the scene if worlds were redrawn."""
        if self._layout is not self._rig.scene_backend.layout:
            self._layout = self._rig.scene_backend.layout
            extinction_per_m = self._tables.medium[:, tb.G_ALPHA]
            self._tables = self._tables._replace(**surfaces(self._layout, extinction_per_m, self._depth))

    def _make_room(self) -> bool:
        """Grow arrays if a ray crossed more volumes than they hold; returns whether the sweep must be cast again."""
        missing, switch = self._tables.missing, self._tables.switch
        if not missing.any():
            return False
        for needed, room in zip(missing, (tb.S_CROSSINGS, tb.S_LEVELS), strict=True):
            switch[room] = max(switch[room], 1 << int(needed).bit_length())
        missing[:] = 0
        return True

    def _pulse_cast(self, tables: "WaveformTables", light: LightOutputs) -> PulseCast:
        """Arrays for waveforms, and scratch for detectors that need it."""
        from sensorium.tracing.kernels.waveform import tables as wt
        from sensorium.tracing.kernels.waveform.decompose import SCRATCH
        from sensorium.tracing.kernels.waveform.kernel import WaveformOutputs

        switch, (heads, returns, pulses) = tables.switch, light.range_m.shape
        out = WaveformOutputs(
            light=light,
            width_s=self._recycler.array((heads, returns, pulses), np.float32),
            samples=np.zeros((heads, pulses if switch[wt.V_KEEP] else 0, switch[wt.V_BINS]), np.float32),
        )
        decomposes = tables.detector.switch[wt.E_KIND] == wt.BY_DECOMPOSITION
        return PulseCast(tables, np.zeros((worker_pool.get_threads(), SCRATCH if decomposes else 0)), out)

    def _scan(
        self,
        out: LightOutputs,
        received: "WaveformOutputs | None",
        aim: Aim,
        table: RayTable,
        start_ns: int,
        end_ns: int,
    ) -> Scan:
        """The kernel's arrays as a scan."""

        def organized(array: NDArray[Any], *tail: int) -> NDArray[Any]:
            full = array.reshape((self._rig.worlds, self._rig.sensors, self._returns, *table.shape, *tail))
            return self._rig.squeeze(full if self._several else full[:, :, 0])

        return Scan(
            range_m=organized(out.range_m),
            points=organized(out.points_W if self._in_world else out.points_S, 3),
            object_id=organized(out.object_id),
            face_id=organized(out.face_id),
            label=organized(out.label),
            offset_ns=np.zeros(table.shape, np.int64) if start_ns == end_ns else table.offset_ns,
            start_ns=start_ns,
            end_ns=end_ns,
            frame="world" if self._in_world else "sensor",
            knot_ns=aim.knot_ns,
            X_WS=aim.X_WS,
            light=Light(
                intensity=organized(scaled(self._scale, out.intensity, self._white(out.range_m))),
                cause=organized(out.cause),
                depth=organized(_or_constant(out.depth, out.range_m, 0)),
                mirror_id=organized(_or_constant(out.mirror_id, out.range_m, -1)),
                ambient=self._ambient(out, table),
                width_s=None if received is None else organized(received.width_s),
            ),
            waveform=None if received is None else self._waveforms(received, table),
        )

    def _waveforms(self, received: "WaveformOutputs", table: RayTable) -> Waveforms | None:
        """Samples of every pulse, if they are kept."""
        samples = received.samples
        if samples.shape[1] == 0:
            return None
        shape = (self._rig.worlds, self._rig.sensors, *table.shape, samples.shape[2])
        return Waveforms(
            samples=self._rig.squeeze(samples.reshape(shape)),
            start_s=self._start_s,
            resolution_s=self._resolution_s,
            index=float(self._tables.number[tb.N_CALIBRATED_INDEX]),
        )

    def _white(self, range_m: NDArray[np.float32]) -> NDArray[np.float32]:
        """Intensity of a white diffuse target at normal incidence by range, in clear air; from the kernel's table."""
        if self._scale.kind != "reflectivity":
            return range_m
        gain = np.float32(1.0) if self._waveform is None else self._waveform.number[W_GAIN]
        return white_at(self._tables, range_m, gain=gain)

    def _ambient(self, out: LightOutputs, table: RayTable) -> NDArray[np.float32] | None:
        """Sunlight of each shot [W], the same for all its returns; None in darkness."""
        if out.ambient.size == 0:
            return None
        shots = self._rig.squeeze(out.ambient.reshape((self._rig.worlds, self._rig.sensors, *table.shape)))
        if not self._several:
            return shots
        return np.broadcast_to(shots[..., None, :, :], (*shots.shape[:-2], self._returns, *table.shape))


def _or_constant(array: NDArray[Any], like: NDArray[Any], value: int) -> NDArray[Any]:
    """The array, or if the kernel left it empty its constant value, in the shape of another."""
    return array if array.size or not like.size else np.broadcast_to(array.dtype.type(value), like.shape)
