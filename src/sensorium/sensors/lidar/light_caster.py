"""Fires a table of rays from a rig and follows the light: materials, media, the ray tree, returns and their noise."""

import math
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

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
from sensorium.sensors.lidar.intensity_scale import scaled
from sensorium.sensors.lidar.light_tables import light_tables, surfaces, white_at
from sensorium.sensors.lidar.near_surfaces import NearSurfaces
from sensorium.sensors.lidar.scan import Light, Scan
from sensorium.sensors.lidar.sweep_caster import SweepCaster
from sensorium.sensors.lidar.waveform.reading import Waveforms
from sensorium.sensors.lidar.waveform.spec import check_kept
from sensorium.tracing.embree.packet import COHERENT_ADDRESS, SCATTERED_ADDRESS
from sensorium.tracing.kernels.light import tables as tb
from sensorium.tracing.kernels.light.in_parts import light_in_parts
from sensorium.tracing.kernels.light.kernel import LightOutputs, sweep_light
from sensorium.tracing.kernels.waveform.tables import V_BINS, V_PULSES, W_GAIN
from sensorium.tracing.partitioned.tracer import PartsTracer

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar
    from sensorium.sensors.lidar.strong_light import StrongLight
    from sensorium.tracing.kernels.beams.tables import BeamTables
    from sensorium.tracing.kernels.waveform.kernel import WaveformOutputs
    from sensorium.tracing.kernels.waveform.tables import WaveformTables


class Draws(NamedTuple):
    """Where the kernel's random numbers come from."""

    key: NDArray[np.uint32]  # (2,)
    tick: int
    first_world: int
    sensors: int


class LightCaster:
    """Casts ray tables with light, for every world and every sensor of a rig."""

    def __init__(self, spec: "Lidar", rig: Rig) -> None:
        self._rig = rig
        self._in_world = spec.frame == "world"
        self._several = spec.returns in ("dual", "all")
        self._returns = {"dual": 2, "all": spec.max_returns}.get(spec.returns, 1)
        self._layout = rig.looks.layout
        self._tables = light_tables(spec, self._layout, rig.atmosphere, rig.sun)
        images = spec.has_range_images
        self._geometry = SweepCaster(
            rig, 0.0 if images else spec.min_range_m, spec.max_range_m, in_world=self._in_world
        )
        self._near = NearSurfaces(spec, rig) if images else None
        self.too_near: NDArray[np.bool_] | None = None
        """Rays of the last sweep whose first surface was too near, where range images are asked for: (*axes, rays)."""
        self._scale, self._depth = spec.intensity, spec.max_depth
        self._waveform: WaveformTables | None = None
        if spec.mode == "waveform":
            from sensorium.sensors.lidar.waveform.tables import waveform_tables  # not everybody needs them

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
        """Let the sensors sit elsewhere from now on, batch shape (worlds, sensors)."""
        self._firing.mount(X_BS.position, X_BS.quaternion)

    def cast(self, table: RayTable, start_ns: int, end_ns: int, tick: int) -> tuple[Scan, Callable[[], Scan]]:
        """Fire every ray of the table.

        Args:
            table: Rays; their times count from the start.
            start_ns: Start of the interval [ns].
            end_ns: Its end, after the last ray; equal to the start to fire all rays at once.
            tick: Number of the sweep; its random numbers belong to it alone.

        Returns:
            The scan, and a function that gives its truth: the first surface of each ray, without any error.
        """
        if self._rig.parts is not None:
            return self._cast_into_parts(self._rig.parts, table, start_ns, end_ns, tick)
        rig, tracer = self._rig, self._rig.tracer
        self._see_layout()
        shot = self._firing.prepare(table, start_ns, end_ns)
        out = self._outputs(shot.rays.x.size)
        received: WaveformOutputs | None = None
        with shot.placed.lock:
            masks = shot.placed.masks_of_light(rig.hide)
            draws = Draws(self._key, tick, rig.first_world, rig.sensors)
            embree = (COHERENT_ADDRESS, SCATTERED_ADDRESS)
            again = True
            while again:
                where = (shot.placed.tables, tracer.labels, shot.placed.anchor, shot.rays, shot.heads, self._tables)
                if self._beams is not None:
                    self._fire_beams(self._beams, out, where, draws, masks, embree)
                elif self._waveform is None:
                    threads.run(sweep_light, shot.blocks, *where, draws, masks, *embree, out)
                else:
                    received = self._receive(out, where, draws, masks, embree)
                again = self._make_room()
        if self._near is not None:
            self.too_near = self._near.found(shot, table, start_ns, end_ns, tick)
        out = self._settled(out, shot, shot.placed.anchor, draws, table, start_ns, end_ns)
        scan, redrawn = self._scan(out, received, shot, table, start_ns, end_ns), tracer.redrawn
        return scan, lambda: self._geometry.fire_again(self._firing, shot, table, start_ns, end_ns, redrawn)

    def _cast_into_parts(
        self, parts: PartsTracer, table: RayTable, start_ns: int, end_ns: int, tick: int
    ) -> tuple[Scan, Callable[[], Scan]]:
        """The same in a scene that lies in parts, world by world."""
        rig, aim = self._rig, self._firing.aim(table, start_ns, end_ns)
        motion, out = parts.bodies_during(start_ns, end_ns), self._outputs(aim.rays.x.size)
        draws = Draws(self._key, tick, rig.first_world, rig.sensors)
        received, again = None, True
        while again:
            where, blocks = (aim.anchor, aim.rays, aim.heads, self._tables), aim.blocks
            curved = bool(self._tables.switch[tb.S_CURVED])
            if self._waveform is not None:
                received, blocks, rare = self._receiver(out)
            elif self._beams is not None:
                blocks = _blocks_of_beams(self._beams, out)
            for world, bodies in enumerate(motion):
                near = {"anchor": aim.anchor[world], "bodies": bodies, "hide": rig.hide, "curved": curved}
                meet, collect = partial(parts.meet, **near), partial(parts.collect_volumes, **near)
                numbers = np.arange(blocks).reshape(rig.worlds, -1)[world]
                if self._beams is not None:
                    from sensorium.sensors.lidar.beam_tables import without_limits
                    from sensorium.tracing.kernels.beams.in_parts import beams_in_parts

                    unlimited = without_limits(self._tables)
                    beams_in_parts(meet, collect, numbers, *where, unlimited, self._beams, draws, out)
                elif received is None:
                    light_in_parts(meet, collect, numbers, *where, draws, out)
                else:
                    from sensorium.tracing.kernels.waveform.in_parts import pulses_in_parts

                    assert self._waveform is not None
                    pulses_in_parts(meet, collect, numbers, *where, self._waveform, draws, rare, received)
            again = self._make_room()
        if self._near is not None:
            self.too_near = self._near.found(aim, table, start_ns, end_ns, tick, parts, motion)
        out = self._settled(out, aim, aim.anchor, draws, table, start_ns, end_ns)
        scan = self._scan(out, received, aim, table, start_ns, end_ns)
        return scan, lambda: self._geometry.fire_into_parts(parts, aim, motion, table, start_ns, end_ns)

    def _settled(
        self,
        out: LightOutputs,
        shot: Shot | Aim,
        anchor: NDArray[np.float64],
        draws: Draws,
        table: RayTable,
        start_ns: int,
        end_ns: int,
    ) -> LightOutputs:
        """What is reported of all returns of each ray, where strong light has a say in it."""
        if self._strong is None:
            return out
        room = self._outputs(shot.rays.x.size, self._returns)
        return self._strong.settle(out, shot, anchor, self._tables, draws, table, start_ns, end_ns, room)

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

    def _see_layout(self) -> None:
        """Look at the scene again if worlds were drawn anew."""
        if self._layout is not self._rig.tracer.layout:
            self._layout = self._rig.tracer.layout
            extinction_per_m = self._tables.medium[:, tb.G_ALPHA]
            self._tables = self._tables._replace(**surfaces(self._layout, extinction_per_m, self._depth))

    def _make_room(self) -> bool:
        """Make more room where a ray crossed more volumes than there was room for; whether it has to be fired again."""
        missing, switch = self._tables.missing, self._tables.switch
        if not missing.any():
            return False
        for needed, room in zip(missing, (tb.S_CROSSINGS, tb.S_LEVELS), strict=True):
            switch[room] = max(switch[room], 1 << int(needed).bit_length())
        missing[:] = 0
        return True

    def _fire_beams(
        self,
        beams: "BeamTables",
        out: LightOutputs,
        where: tuple[Any, ...],
        draws: Draws,
        masks: NDArray[np.uint32],
        embree: tuple[int, int],
    ) -> None:
        """Fire beams of several rays."""
        from sensorium.sensors.lidar.beam_tables import without_limits
        from sensorium.tracing.kernels.beams.kernel import sweep_beams

        blocks, unlimited = _blocks_of_beams(beams, out), without_limits(self._tables)
        threads.run(sweep_beams, blocks, *where, unlimited, beams, draws, masks, *embree, out, serial_below=2)

    def _receive(
        self,
        light: LightOutputs,
        where: tuple[Any, ...],
        draws: Draws,
        masks: NDArray[np.uint32],
        embree: tuple[int, int],
    ) -> "WaveformOutputs":
        """Fire pulses for their waveforms."""
        from sensorium.tracing.kernels.waveform.kernel import sweep_waveform

        out, blocks, rare = self._receiver(light)
        tables = self._waveform
        threads.run(sweep_waveform, blocks, *where, tables, draws, rare, masks, *embree, out, serial_below=2)
        return out

    def _receiver(self, light: LightOutputs) -> "tuple[WaveformOutputs, int, NDArray[np.float64]]":
        """Arrays for waveforms, how many blocks of pulses there are, and scratch for a detector that needs some."""
        from sensorium.tracing.kernels.waveform import tables as wt
        from sensorium.tracing.kernels.waveform.decompose import SCRATCH
        from sensorium.tracing.kernels.waveform.kernel import WaveformOutputs

        assert self._waveform is not None
        switch, (heads, returns, pulses) = self._waveform.switch, light.range_m.shape
        out = WaveformOutputs(
            light=light,
            width_s=self._recycler.array((heads, returns, pulses), np.float32),
            samples=np.zeros((heads, pulses if switch[wt.V_KEEP] else 0, switch[wt.V_BINS]), np.float32),
        )
        blocks = heads * -(-pulses // int(switch[wt.V_PULSES]))
        decomposes = self._waveform.detector.switch[wt.E_KIND] == wt.BY_DECOMPOSITION
        return out, blocks, np.zeros((threads.get_threads(), SCRATCH if decomposes else 0))

    def _scan(
        self,
        out: LightOutputs,
        received: "WaveformOutputs | None",
        shot: Shot | Aim,
        table: RayTable,
        start_ns: int,
        end_ns: int,
    ) -> Scan:
        """The kernel's arrays as a reading."""

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
            knot_ns=shot.knot_ns,
            X_WS=shot.X_WS,
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
        """Samples of every pulse, where they are kept."""
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
        """Intensity of a white diffuse target straight on at each range, in clear air; read from the kernel's table."""
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


def _blocks_of_beams(beams: "BeamTables", out: LightOutputs) -> int:
    """Blocks of beams of all heads."""
    heads, _, rays = out.range_m.shape
    return heads * -(-rays // int(beams.switch[V_PULSES]))


def _or_constant(array: NDArray[Any], like: NDArray[Any], value: int) -> NDArray[Any]:
    """The array, or where the kernel left it out the one value it would hold, in the shape of another."""
    return array if array.size or not like.size else np.broadcast_to(array.dtype.type(value), like.shape)
