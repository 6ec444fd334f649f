"""Fires a table of rays from a rig and follows the light: materials, media, the ray tree, returns and their noise."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.patterns import RayTable
from sensorium.random import stream_key
from sensorium.recycling import Recycler
from sensorium.sensors.firing import Aim, Firing, Shot
from sensorium.sensors.intensity_scale import scaled
from sensorium.sensors.light_tables import light_tables, medium_of_objects, surfaces
from sensorium.sensors.rig import Rig
from sensorium.sensors.scan import Light, Scan
from sensorium.sensors.sweep_caster import SweepCaster
from sensorium.sensors.waveform.reading import Waveforms
from sensorium.trace.light import tables as tb
from sensorium.trace.light.in_parts import light_in_parts
from sensorium.trace.light.kernel import LightOutputs, sweep_light
from sensorium.trace.packet import COHERENT_ADDRESS, SCATTERED_ADDRESS
from sensorium.trace.parts_tracer import PartsTracer
from sensorium.trace.volumes import cast_into, medium_around
from sensorium.trace.waveform.tables import W_GAIN

if TYPE_CHECKING:
    from sensorium.sensors.lidar import Lidar
    from sensorium.trace.waveform.kernel import WaveformOutputs
    from sensorium.trace.waveform.tables import WaveformTables


class Draws(NamedTuple):
    """Where the kernel's random numbers come from, and the medium each head is in."""

    key: NDArray[np.uint32]  # (2,)
    tick: int
    first_world: int
    sensors: int
    medium: NDArray[np.int32]  # (heads,)
    outer: NDArray[np.int32]  # (heads,) the medium around that one


class LightCaster:
    """Casts ray tables with light, for every world and every sensor of a rig."""

    def __init__(self, spec: "Lidar", rig: Rig) -> None:
        self._rig = rig
        self._in_world = spec.frame == "world"
        self._several = spec.returns in ("dual", "all")
        self._returns = {"dual": 2, "all": spec.max_returns}.get(spec.returns, 1)
        self._layout = rig.looks.layout
        self._tables, self._medium_of_object = light_tables(spec, self._layout, rig.atmosphere, rig.sun)
        self._geometry = SweepCaster(rig, spec.min_range_m, spec.max_range_m, in_world=self._in_world)
        self._scale = spec.intensity
        self._waveform: WaveformTables | None = None
        if spec.mode == "waveform":
            from sensorium.sensors.waveform.tables import waveform_tables  # not everybody needs them

            self._waveform = waveform_tables(spec, self._tables)
        self._start_s, self._resolution_s = spec.waveform.start_s, spec.waveform.resolution_s
        self._key = np.array(stream_key(rig.seed, rig.name), np.uint32)
        self._firing = Firing(rig)
        self._recycler = Recycler()

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
            mask = np.uint32(shot.placed.mask_without(rig.hide))
            cast = partial(cast_into, shot.placed, tracer.labels, mask)
            points, media = shot.X_WS.position[0].reshape(-1, 3), self._medium_of_object
            around = medium_around(cast, shot.placed.anchor, points, shot.heads.world, media)
            draws = Draws(self._key, tick, rig.first_world, rig.sensors, *around)
            where = (shot.placed.tables, tracer.labels, shot.placed.anchor, shot.rays, shot.heads, self._tables)
            embree = (COHERENT_ADDRESS, SCATTERED_ADDRESS)
            if self._waveform is None:
                threads.run(sweep_light, shot.blocks, *where, draws, mask, *embree, out)
            else:
                received = self._receive(out, where, draws, mask, embree)
        scan, redrawn = self._scan(out, received, shot, table, start_ns, end_ns), tracer.redrawn
        return scan, lambda: self._geometry.fire_again(self._firing, shot, table, start_ns, end_ns, redrawn)

    def _cast_into_parts(
        self, parts: PartsTracer, table: RayTable, start_ns: int, end_ns: int, tick: int
    ) -> tuple[Scan, Callable[[], Scan]]:
        """The same in a scene that lies in parts, world by world."""
        rig, aim = self._rig, self._firing.aim(table, start_ns, end_ns)
        motion, out = parts.bodies_during(start_ns, end_ns), self._outputs(aim.rays.x.size)
        around, p_WS = np.zeros((2, rig.worlds, rig.sensors), np.int32), aim.X_WS.position[0]
        for world, bodies in enumerate(motion):
            cast = partial(parts.cast_near, anchor=aim.anchor[world], bodies=bodies, hide=rig.hide)
            alone, media = np.zeros(rig.sensors, np.int32), self._medium_of_object
            around[:, world] = medium_around(cast, aim.anchor[[world]], p_WS[world], alone, media)
        draws = Draws(self._key, tick, rig.first_world, rig.sensors, *around.reshape(2, -1))
        received, where = None, (aim.anchor, aim.rays, aim.heads, self._tables)
        if self._waveform is not None:
            received, blocks, rare = self._receiver(out)
        for world, bodies in enumerate(motion):
            meet = partial(parts.meet, anchor=aim.anchor[world], bodies=bodies, hide=rig.hide)
            if received is None:
                numbers = np.arange(aim.blocks).reshape(rig.worlds, -1)[world]
                light_in_parts(meet, numbers, *where, draws, out)
            else:
                from sensorium.trace.waveform.in_parts import pulses_in_parts

                assert self._waveform is not None
                numbers = np.arange(blocks).reshape(rig.worlds, -1)[world]
                pulses_in_parts(meet, numbers, *where, self._waveform, draws, rare, received)
        scan = self._scan(out, received, aim, table, start_ns, end_ns)
        return scan, lambda: self._geometry.fire_into_parts(parts, aim, motion, table, start_ns, end_ns)

    def _outputs(self, rays: int) -> LightOutputs:
        """Arrays for a sweep; its kernel writes every element."""
        shape, new = (self._rig.worlds * self._rig.sensors, self._returns, rays), self._recycler.array
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
            self._tables = self._tables._replace(**surfaces(self._layout))
            self._medium_of_object = medium_of_objects(self._tables, self._layout)

    def _receive(
        self, light: LightOutputs, where: tuple[Any, ...], draws: Draws, mask: np.uint32, embree: tuple[int, int]
    ) -> "WaveformOutputs":
        """Fire pulses for their waveforms."""
        from sensorium.trace.waveform.kernel import sweep_waveform

        out, blocks, rare = self._receiver(light)
        tables = self._waveform
        threads.run(sweep_waveform, blocks, *where, tables, draws, rare, mask, *embree, out, serial_below=2)
        return out

    def _receiver(self, light: LightOutputs) -> "tuple[WaveformOutputs, int, NDArray[np.float64]]":
        """Arrays for waveforms, how many blocks of pulses there are, and scratch for a detector that needs some."""
        from sensorium.trace.waveform import tables as wt
        from sensorium.trace.waveform.decompose import SCRATCH
        from sensorium.trace.waveform.kernel import WaveformOutputs

        assert self._waveform is not None
        switch, (heads, returns, pulses) = self._waveform.switch, light.range_m.shape
        out = WaveformOutputs(
            light=light,
            width_s=self._recycler.array((heads, returns, pulses), np.float32),
            samples=np.zeros((heads, pulses if switch[wt.V_KEEP] else 0, switch[wt.V_BINS]), np.float32),
        )
        blocks = heads * -(-pulses // int(switch[wt.V_PULSES]))
        decomposes = self._waveform.detector.switch[wt.E_KIND] == wt.BY_DECOMPOSITION
        return out, blocks, np.zeros((threads.thread_count(), SCRATCH if decomposes else 0))

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

        def organised(array: NDArray[Any], *tail: int) -> NDArray[Any]:
            full = array.reshape((self._rig.worlds, self._rig.sensors, self._returns, *table.shape, *tail))
            return self._rig.squeeze(full if self._several else full[:, :, 0])

        return Scan(
            range_m=organised(out.range_m),
            points=organised(out.points_W if self._in_world else out.points_S, 3),
            object_id=organised(out.object_id),
            face_id=organised(out.face_id),
            label=organised(out.label),
            offset_ns=np.zeros(table.shape, np.int64) if start_ns == end_ns else table.time_ns,
            start_ns=start_ns,
            end_ns=end_ns,
            frame="world" if self._in_world else "sensor",
            knot_ns=shot.knot_ns,
            X_WS=shot.X_WS,
            light=Light(
                intensity=organised(scaled(self._scale, out.intensity, self._white(out.range_m))),
                cause=organised(out.cause),
                depth=organised(_or_constant(out.depth, out.range_m, 0)),
                mirror_id=organised(_or_constant(out.mirror_id, out.range_m, -1)),
                ambient=self._ambient(out, table),
                width_s=None if received is None else organised(received.width_s),
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
        table, inverse_z0 = self._tables.capture, self._tables.number[tb.N_INVERSE_Z0]
        rest = 1.0 / (1.0 + range_m * inverse_z0)
        share = np.interp(1.0 - rest, np.linspace(0.0, 1.0, len(table)), table).astype(np.float32) * rest**2
        gain = np.float32(1.0) if self._waveform is None else self._waveform.number[W_GAIN]
        return share * self._tables.number[tb.N_POWER] * gain / np.float32(np.pi)

    def _ambient(self, out: LightOutputs, table: RayTable) -> NDArray[np.float32] | None:
        """Sunlight of each shot [W], the same for all its returns; None in darkness."""
        if out.ambient.size == 0:
            return None
        shots = self._rig.squeeze(out.ambient.reshape((self._rig.worlds, self._rig.sensors, *table.shape)))
        if not self._several:
            return shots
        return np.broadcast_to(shots[..., None, :, :], (*shots.shape[:-2], self._returns, *table.shape))


def _or_constant(array: NDArray[Any], like: NDArray[Any], value: int) -> NDArray[Any]:
    """The array, or where the kernel left it out the one value it would hold, in the shape of another."""
    return array if array.size or not like.size else np.broadcast_to(array.dtype.type(value), like.shape)
