"""The model of a radar: echoes of a moving world, received frame by frame."""

import warnings
from collections.abc import Iterator
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import Rate, seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.physics.radio.clutter import weibull_amplitude
from sensorium.physics.radio.frame import Peaks, Receiver, detect
from sensorium.physics.radio.spreading import Scatterers
from sensorium.physics.radio.swerling import drawn, fluctuating_amplitude, steady_amplitude
from sensorium.random import Stream
from sensorium.runtime import worker_pool
from sensorium.sensors.common.sampled import required_rate_hz
from sensorium.sensors.common.spec import Capture, Rig
from sensorium.sensors.cone.caster import ConeCaster, ConeOptions
from sensorium.sensors.radar.cells import Cells
from sensorium.sensors.radar.detection_errors import DetectionErrors, detection_program
from sensorium.sensors.radar.echoes import Echoes, Instant, Instants, Points, grouped, in_order, received
from sensorium.sensors.radar.ground_echoes import clutter_points, over_the_ground
from sensorium.sensors.radar.listing import Frame, Lists
from sensorium.sensors.radar.reading import EchoCause, RadarReading
from sensorium.sensors.radar.spec import Ground, Radar
from sensorium.sensors.radar.targets import Targets
from sensorium.sensors.radar.time_signals import TimeSignals

Complex = NDArray[np.complex128]
Whole = NDArray[np.int64]

# Stages of the counter; that of the noise in cells is the frame's own
_FLUCTUATION, _CLUTTER = 2, 3

# Scatterers of one object that have random numbers of their own, at most
_OF_AN_OBJECT = 1024

# Searched peaks per reported detection: some peaks are outside the field
_ROOM = 4

# Patches of ground that one radar looks at, at most: range cells times directions
_MOST_PATCHES = 2**22


class Source(Protocol):
    """The source of scatterers."""

    def points(self, instant: Instant, tick: int, targets: Targets) -> Points:
        """Those at an instant, which is that of a frame, with their cross-sections."""


class RadarModel:
    """Receives frames, for every world and every radar of a rig."""

    def __init__(self, spec: Radar, rig: Rig) -> None:
        layout = rig.tracer.layout
        self._objects = max(1, layout.mesh_index.shape[1])
        if rig.sensors * self._objects * _OF_AN_OBJECT >= 2**32:
            raise SpecError(f"the scene has {self._objects} objects for {rig.sensors} radars; together at most 4194303")
        self._spec, self._rig = spec, rig
        self._rate = Rate(required_rate_hz(spec.timing), seconds_to_ns(spec.timing.phase_s))
        self._source = _source(spec, rig)
        self._targets = Targets(spec, layout, rig.tracer.body_names)
        self._instants = Instants(rig)
        self._cells = Cells(spec)
        self._lists = Lists(spec, rig, self._cells)
        program = detection_program(spec)
        self._errors = DetectionErrors(spec, rig, program, self._cells.noise_W) if program.acts else None
        self._key = np.array(Stream(rig.seed, rig.name).key, np.uint32)
        self._signals = TimeSignals(spec, rig, self._cells, self._key) if self._cells.are_of_samples else None
        self._room: NDArray[np.float32] | None = None
        self._warned = False

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterator[Capture[RadarReading]]:
        """Frames that ended after one time and up to another."""
        for tick in self._rate.ticks_between(after_ns, upto_ns):
            yield self._capture(tick)

    def due_ns(self, now_ns: int) -> int:
        """The next frame."""
        return self._rate.next_end_ns(now_ns, 0)

    def needs_from_ns(self, now_ns: int) -> int:
        """No past states are needed."""
        return now_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the errors of detections in the masked worlds; there is no other state."""
        if self._errors is not None:
            self._errors.restart(mask)

    def _capture(self, tick: int) -> Capture[RadarReading]:
        time_ns = self._rate.time_ns(tick)
        instant = self._instants.at(time_ns)
        points = self._source.points(instant, tick, self._targets_now())
        echoes = received(points, instant, self._spec)

        # One scatterer for each object in each cell
        cell = np.rint(self._cells.of(echoes)).astype(np.int64)
        group, count = grouped(echoes.head, echoes.object_id, *cell.T)
        points, merged = points.merged(group, count, echoes.power_W), echoes.merged(group, count)
        scattered, amplitude, cause = self._scattered(points, merged, instant, tick)
        frame = self._received(scattered, amplitude, cause, instant, tick)
        reading = self._lists.of_frame(frame, instant)
        if self._errors is not None:
            reading = self._errors.apply(reading)
        return Capture(time_ns, reading, lambda: self._lists.of_objects(merged, instant), tick)

    def _targets_now(self) -> Targets:
        """Radar properties of objects; worlds may have been redrawn."""
        tracer = self._rig.tracer
        if self._targets.layout is not tracer.layout:
            self._targets = Targets(self._spec, tracer.layout, tracer.body_names)
        return self._targets

    def _scattered(
        self, points: Points, echoes: Echoes, instant: Instant, tick: int
    ) -> tuple[Echoes, Complex, NDArray[np.uint8]]:
        """All echoes of a frame, their amplitudes [sqrt(W)] and causes, head by head."""
        ground = self._spec.ground
        if ground is not None and not self._warned:
            self._warn_if_below(ground, instant)
        amplitude = np.sqrt(echoes.power_W) * self._fluctuation(echoes, instant, tick)
        parts = [(echoes, amplitude, EchoCause.OBJECT)]
        if ground is not None and ground.multipath:
            mirrored = over_the_ground(points, echoes, amplitude, self._spec, ground, instant)
            parts.append((*mirrored, EchoCause.MULTIPATH))
        if ground is not None and ground.reflectivity_dB is not None:
            clutter = received(clutter_points(self._spec, ground, instant), instant, self._spec)
            uniform = self._drawn(clutter.head, in_order(clutter.head), _CLUTTER, instant, tick, _MOST_PATCHES)
            size = weibull_amplitude(uniform[:, 0], mean_power=clutter.power_W, shape=ground.shape)
            parts.append((clutter, size * steady_amplitude(uniform[:, 1]), EchoCause.CLUTTER))
        together = Echoes.joined([e for e, _, _ in parts])
        amplitude = np.concatenate([a for _, a, _ in parts])
        cause = np.concatenate([np.full(len(a), c, np.uint8) for _, a, c in parts])
        order = np.argsort(together.head, kind="stable")
        return together.kept(order), amplitude[order], cause[order]

    def _warn_if_below(self, ground: Ground, instant: Instant) -> None:
        """Warn once if a sensor is outside the validity of the flat-ground model."""
        z_m = float(instant.X_WS.position[:, 2].min())
        if z_m <= ground.z_m:
            self._warned = True
            rule = "it must be above, or has neither clutter nor echoes over the ground"
            warnings.warn(
                f"sensor {self._rig.name!r} is at z = {z_m:.4g} m and its ground.z_m is {ground.z_m:g}; {rule}",
                stacklevel=2,
            )

    def _fluctuation(self, echoes: Echoes, instant: Instant, tick: int) -> Complex:
        """Complex amplitudes of mean power 1; an object's do not depend on other objects."""
        number = in_order(echoes.head * self._objects + echoes.object_id)
        element = echoes.object_id * _OF_AN_OBJECT + number % _OF_AN_OBJECT
        uniform = self._drawn(echoes.head, element, _FLUCTUATION, instant, tick, self._objects * _OF_AN_OBJECT)
        if self._spec.fluctuation == "steady":
            return steady_amplitude(uniform[:, 1])
        return fluctuating_amplitude(uniform[:, 0], uniform[:, 1])

    def _drawn(
        self, head: Whole, element: Whole, stage: int, instant: Instant, tick: int, of_a_sensor: int
    ) -> NDArray[np.float64]:
        """Two uniform numbers for each element of a head, shape (n, 2); each sensor has its own."""
        own = element + (head % self._rig.sensors) * of_a_sensor
        world = instant.world[head] + self._rig.first_world
        return drawn(own.astype(np.int64), world.astype(np.int64), key=self._key, stage=stage, tick=tick)

    def _received(
        self, echoes: Echoes, amplitude: Complex, cause: NDArray[np.uint8], instant: Instant, tick: int
    ) -> Frame:
        """A frame of all echoes, with the peaks in it."""
        spec, rig, cells = self._spec, self._rig, self._cells
        heads, most = rig.worlds * rig.sensors, _ROOM * spec.max_detections
        start = np.searchsorted(echoes.head, np.arange(heads + 1)).astype(np.int64)
        parts = np.ascontiguousarray(np.stack([amplitude.real, amplitude.imag], axis=-1), np.float32)

        # Ground fills whole cells, and where a patch of it leaves one another comes in
        place, is_clutter = cells.of(echoes), cause == EchoCause.CLUTTER
        migration = np.where(is_clutter, 0.0, cells.migration * place[:, 2])
        place[is_clutter, 1::2] = np.rint(place[is_clutter, 1::2])
        scatterers = Scatterers(start, place, parts, migration, is_clutter, cause == EchoCause.OBJECT)
        peaks = Peaks(
            found=np.zeros(heads, np.int32),
            place=np.zeros((heads, most, 4)),
            power_W=np.zeros((heads, most)),
            scatterer=np.full((heads, most), -1, np.int32),
            map_W=np.zeros((heads if spec.range_doppler else 0, cells.speed.count, cells.range.count), np.float32),
        )
        receiver = Receiver(
            grid=cells.grid,
            threshold=cells.threshold,
            weights=cells.weights,
            envelope=cells.envelope,
            cell_noise_W=cells.noise_W,
            is_cleaned=cells.are_cleaned,
            scalloping=cells.scalloping,
            migration=cells.migration,
            key=self._key,
            tick=tick,
            first_world=rig.first_world,
            sensors=rig.sensors,
        )
        made = None if self._signals is None else self._signals.frames(scatterers, instant, tick)
        given = np.zeros((0, 1, 1, 1, 1), np.complex64) if made is None else made.cells
        worker_pool.run(detect, heads, scatterers, receiver, given, self._room_for(heads), peaks, serial_below=2)
        return Frame(echoes, cause, start, peaks, made)

    def _room_for(self, heads: int) -> NDArray[np.float32]:
        """Room for the cells of one head of each thread, which frames share."""
        shape = (min(worker_pool.get_threads(), heads), 4, *self._cells.shape)
        if self._room is None or self._room.shape != shape:
            self._room = np.empty(shape, np.float32)
        return self._room


def _source(spec: Radar, rig: Rig) -> Source:
    """The source of echoes; only the chosen one is imported."""
    if spec.source == "cone":
        from sensorium.sensors.radar.model import ConeSource

        return ConeSource(spec, rig)
    from sensorium.sensors.radar.ray_source import RaySource

    return RaySource(spec, rig)


class ConeSource:
    """Finds the points without rays: small and far objects are never missed, and each is one point.

    The field is an elliptic cone that ends in a sphere. Objects whose nearest point is behind another have no echo.
    """

    def __init__(self, spec: Radar, rig: Rig) -> None:
        options = ConeOptions(
            horizontal_fov_deg=spec.horizontal_fov_deg,
            vertical_fov_deg=spec.vertical_fov_deg,
            range_m=spec.farthest_m,
            front="spherical",
            occlusion=True,
            per_object=True,
        )
        self._caster = ConeCaster(rig, options)

    def points(self, instant: Instant, tick: int, targets: Targets) -> Points:
        """Nearest points at an instant, each with the cross-section of its whole object."""
        found = self._caster.at(instant.time_ns)
        rows = targets.rows_of(instant.world)
        in_sight = found.in_sight & targets.is_target[rows]
        head, column = np.nonzero(in_sight)
        hit = found.object_id[head, column].astype(np.int64)
        p_W = found.point_W[head, column]
        v_W = instant.velocity_at(p_W, instant.world[head], targets.body[hit])
        sigma = targets.whole(instant.X_WS.position, instant.world, instant.X_WB, in_sight)
        return Points(head, hit, p_W, v_W, sigma[head, hit])
