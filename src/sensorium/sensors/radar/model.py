"""A radar at work: echoes of a moving world, received frame by frame."""

from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium import threads
from sensorium.clock import Rate, seconds_to_ns
from sensorium.errors import SpecError
from sensorium.radio.antenna import least_sine_error
from sensorium.radio.clutter import weibull_amplitude
from sensorium.radio.draws import drawn
from sensorium.radio.frame import Peaks, Receiver, Scatterers, detect
from sensorium.radio.power import cross_section_of_power, in_decibels, of_decibels
from sensorium.radio.swerling import fluctuating_amplitude, steady_amplitude
from sensorium.random import Stream
from sensorium.sensors.radar.cells import Cells
from sensorium.sensors.radar.echoes import Echoes, Instant, Instants, Points, gain, received
from sensorium.sensors.radar.ground_echoes import clutter_points, over_the_ground
from sensorium.sensors.radar.ray_source import RaySource
from sensorium.sensors.radar.reading import EchoCause, RadarReading
from sensorium.sensors.radar.spec import Radar
from sensorium.sensors.radar.targets import Targets
from sensorium.sensors.rig import Rig
from sensorium.sensors.sampled import required_rate_hz
from sensorium.sensors.spec import Capture

Float = NDArray[np.float64]
Whole = NDArray[np.int64]
Complex = NDArray[np.complex128]

# Stages of the counter; that of the noise in cells is the frame's own
_FLUCTUATION, _CLUTTER, _ELEVATION = 2, 3, 4

# Scatterers of one object that have random numbers of their own, at most
_OF_AN_OBJECT = 1024

# Patches of ground that one radar looks at, at most: range cells times directions
_MOST_PATCHES = 2**22


class Source(Protocol):
    """What finds the points that scatter."""

    def points(self, instant: Instant) -> Points:
        """Those at an instant."""


class RadarModel:
    """Receives frames, for every world and every radar of a rig."""

    def __init__(self, spec: Radar, rig: Rig) -> None:
        self._spec, self._rig = spec, rig
        self._rate = Rate(required_rate_hz(spec.timing), seconds_to_ns(spec.timing.phase_s))
        layout = rig.tracer.layout
        self._label = layout.label
        self._targets = Targets(spec, layout, rig.tracer.body_names)
        self._source: Source = _source(spec, rig, self._targets)
        self._instants = Instants(rig)
        self._cells = Cells(spec)
        self._key = np.array(Stream(rig.seed, rig.name).key, np.uint32)
        objects = max(1, layout.mesh_index.shape[1])
        if rig.sensors * objects * _OF_AN_OBJECT >= 2**32:
            raise SpecError(f"the scene has {objects} objects for {rig.sensors} radars; together at most 4194303")

    def captures(self, after_ns: int, upto_ns: int, since_ns: int) -> Iterator[Capture[RadarReading]]:
        """Frames that ended after one time and up to another."""
        for tick in self._rate.ticks_between(after_ns, upto_ns):
            yield self._capture(tick)

    def needs_from_ns(self, now_ns: int) -> int:
        """Nothing of the past."""
        return now_ns

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Nothing is remembered."""

    def voided(self, capture: Capture[RadarReading], mask: NDArray[np.bool_]) -> Capture[RadarReading]:
        """A frame still on its way, empty in the worlds that restarted."""
        reading, truth = capture.reading.without(mask), capture.truth
        return Capture(capture.time_ns, reading, lambda: truth().without(mask), capture.tick)

    def _capture(self, tick: int) -> Capture[RadarReading]:
        time_ns = self._rate.time_ns(tick)
        instant = self._instants.at(time_ns)
        points = self._source.points(instant)
        echoes = received(points, instant, self._spec)

        # One scatterer for each object in each cell
        cell = np.rint(self._cells.of(echoes)).astype(np.int64)
        _, group = np.unique(np.column_stack([echoes.head, echoes.object_id, cell]), axis=0, return_inverse=True)
        count = int(group.max(initial=-1)) + 1
        points, merged = points.merged(group, count, echoes.power_W), echoes.merged(group, count)
        scattered, amplitude, cause = self._scattered(points, merged, instant, tick)
        reading = self._received(scattered, amplitude, cause, instant, tick)
        return Capture(time_ns, reading, self._truth(merged, instant), tick)

    # --- what scatters ------------------------------------------------------------------------------------------------

    def _scattered(
        self, points: Points, echoes: Echoes, instant: Instant, tick: int
    ) -> tuple[Echoes, Complex, NDArray[np.uint8]]:
        """All echoes of a frame, their amplitudes [sqrt(W)] and causes."""
        ground = self._spec.ground
        amplitude = np.sqrt(echoes.power_W) * self._fluctuation(echoes, instant, tick)
        parts = [(echoes, amplitude, EchoCause.OBJECT)]
        if ground is not None and ground.multipath:
            mirrored = over_the_ground(points, echoes, amplitude, self._spec, ground, instant)
            parts.append((*mirrored, EchoCause.MULTIPATH))
        if ground is not None and ground.reflectivity_dB is not None:
            clutter = received(clutter_points(self._spec, ground, instant), instant, self._spec)
            uniform = self._drawn(clutter.head, _in_order(clutter.head), _CLUTTER, instant, tick, _MOST_PATCHES)
            size = weibull_amplitude(uniform[:, 0], mean_power=clutter.power_W, shape=ground.shape)
            parts.append((clutter, size * steady_amplitude(uniform[:, 1]), EchoCause.CLUTTER))
        together = Echoes(*(np.concatenate([getattr(e, k) for e, _, _ in parts]) for k in Echoes.__dataclass_fields__))
        amplitude = np.concatenate([a for _, a, _ in parts])
        cause = np.concatenate([np.full(len(a), c, np.uint8) for _, a, c in parts])

        # Head by head
        order = np.argsort(together.head, kind="stable")
        return together.kept(order), amplitude[order], cause[order]

    def _fluctuation(self, echoes: Echoes, instant: Instant, tick: int) -> Complex:
        """Complex amplitudes of mean power 1; an object's do not depend on what else there is."""
        number = _in_order(echoes.head * (self._label.shape[1] + 1) + echoes.object_id)
        element = echoes.object_id * _OF_AN_OBJECT + number % _OF_AN_OBJECT
        uniform = self._drawn(echoes.head, element, _FLUCTUATION, instant, tick, self._label.shape[1] * _OF_AN_OBJECT)
        if self._spec.fluctuation == "steady":
            return steady_amplitude(uniform[:, 1])
        return fluctuating_amplitude(uniform[:, 0], uniform[:, 1])

    def _drawn(self, head: Whole, element: Whole, stage: int, instant: Instant, tick: int, of_a_sensor: int) -> Float:
        """Two uniform numbers for each element of a head, shape (n, 2); a sensor has so many of its own."""
        own = element + (head % self._rig.sensors) * of_a_sensor
        world = instant.world[head] + self._rig.first_world
        return drawn(own.astype(np.int64), world.astype(np.int64), key=self._key, stage=stage, tick=tick)

    # --- what is received ---------------------------------------------------------------------------------------------

    def _received(
        self, echoes: Echoes, amplitude: Complex, cause: NDArray[np.uint8], instant: Instant, tick: int
    ) -> RadarReading:
        """A frame of all echoes, and what is detected in it."""
        spec, rig, cells = self._spec, self._rig, self._cells
        heads, most = rig.worlds * rig.sensors, spec.max_detections
        start = np.searchsorted(echoes.head, np.arange(heads + 1))
        parts = np.ascontiguousarray(np.stack([amplitude.real, amplitude.imag], axis=-1), np.float32)
        place, is_clutter = cells.folded(cells.of(echoes)), cause == EchoCause.CLUTTER
        scatterers = Scatterers(start, place, parts, is_clutter, cause == EchoCause.OBJECT)
        map_shape = (heads, cells.speed.count, cells.range.count) if spec.range_doppler else (0, 0, 0)
        peaks = Peaks(
            count=np.zeros(heads, np.int32),
            cell=np.zeros((heads, most, 3), np.int32),
            offset=np.zeros((heads, most, 3), np.float32),
            power_W=np.zeros((heads, most), np.float32),
            scatterer=np.full((heads, most), -1, np.int32),
            map_W=np.zeros(map_shape, np.float32),
        )
        receiver = Receiver(
            beams=cells.beams,
            counts=np.array([axis.count for axis in cells.axes], np.int64),
            reach=np.array([axis.reach for axis in cells.axes], np.int64),
            terms=np.stack([axis.terms for axis in cells.axes]),
            envelope=cells.envelope,
            noise_W=cells.noise_W,
            factors=cells.factors,
            training=spec.cfar.training,
            guard=spec.cfar.guard,
            key=self._key,
            tick=tick,
            first_world=rig.first_world,
            sensors=rig.sensors,
        )
        threads.run(detect, heads, scatterers, receiver, peaks, serial_below=2)
        return self._reading(peaks, echoes, cause, start, instant, tick)

    def _reading(
        self,
        peaks: Peaks,
        echoes: Echoes,
        cause: NDArray[np.uint8],
        start: Whole,
        instant: Instant,
        tick: int,
    ) -> RadarReading:
        """Peaks as detections, without those outside of the field."""
        spec, cells = self._spec, self._cells
        most = int(peaks.count.max(initial=0))
        there = np.arange(most) < peaks.count[:, None]
        measured = cells.measured(peaks.cell[:, :most], peaks.offset[:, :most], peaks.power_W[:, :most])
        snr = measured.power_W / cells.noise_W

        # Whose echo it is
        number = peaks.scatterer[:, :most]
        owner = np.where(number >= 0, start[:-1, None] + number, -1)
        by_noise = there & (owner < 0)
        why = np.where(owner >= 0, _taken(cause, owner), np.uint8(EchoCause.FALSE_ALARM)).astype(np.uint8)
        elevation = self._elevation(_taken(echoes.elevation_rad, owner), by_noise, snr, instant, tick)
        azimuth = np.arcsin(np.clip(measured.sine / np.cos(elevation), -1.0, 1.0))
        if spec.antennas == 1:
            azimuth = np.zeros_like(azimuth)
        there = there & (np.abs(azimuth) <= np.radians(0.5 * spec.horizontal_fov_deg))
        there &= (measured.range_m >= spec.min_range_m) & (measured.range_m <= spec.farthest_m)
        columns = {
            "range_m": measured.range_m,
            "range_rate_m_s": measured.range_rate_m_s,
            "azimuth_rad": azimuth,
            "elevation_rad": elevation,
            "power_W": measured.power_W,
            "snr_dB": in_decibels(np.maximum(snr, 1e-30)),
        }
        object_id = np.where(owner >= 0, _taken(echoes.object_id, owner), -1)
        speeds = -(-cells.speed.count // 2)
        maps: dict[str, Any] = {}
        if spec.range_doppler:
            map_W = np.roll(peaks.map_W, cells.speed.count - speeds, axis=1)
            maps = {
                "map_W": map_W.reshape(*self._rig.axes, *map_W.shape[1:]),
                "map_range_m": cells.range_m,
                "map_range_rate_m_s": cells.range_rate_m_s,
            }
        return self._listed(columns, object_id, why, there, instant, self._rig.stamp_ns(instant.time_ns), maps)

    def _elevation(self, truth: Float, by_noise: NDArray[np.bool_], snr: Float, instant: Instant, tick: int) -> Float:
        """Elevations as rows of antennas measure them [rad]; 0 for one row, anything in the field for noise."""
        spec = self._spec
        if spec.elevation_antennas == 1:
            return np.zeros_like(truth)
        heads, most = truth.shape
        head = np.repeat(np.arange(heads), most)
        uniform = self._drawn(
            head, np.tile(np.arange(most), heads), _ELEVATION, instant, tick, spec.max_detections
        ).reshape(heads, most, 2)
        error = least_sine_error(np.maximum(snr, 1e-3), antennas=spec.elevation_antennas, spacing=spec.spacing)
        normal = np.sqrt(-2.0 * np.log(uniform[..., 0])) * np.cos(2.0 * np.pi * uniform[..., 1])
        seen = np.arcsin(np.clip(np.sin(truth) + error * normal, -1.0, 1.0))
        anywhere = (uniform[..., 0] - 0.5) * np.radians(spec.vertical_fov_deg)
        return np.where(by_noise, anywhere, seen)

    # --- what is told -------------------------------------------------------------------------------------------------

    def _truth(self, echoes: Echoes, instant: Instant) -> Callable[[], RadarReading]:
        """Makes the list of all objects in the field, as they are."""

        def made() -> RadarReading:
            heads = self._rig.worlds * self._rig.sensors
            pairs, group = np.unique(np.column_stack([echoes.head, echoes.object_id]), axis=0, return_inverse=True)
            objects = echoes.merged(group, len(pairs))
            order = np.lexsort((-objects.power_W, objects.head))
            objects = objects.kept(order)
            place, most = _in_order(objects.head), int(np.bincount(objects.head, minlength=1).max(initial=0))
            there = np.zeros((heads, most), np.bool_)
            there[objects.head, place] = True

            def spread(values: NDArray[Any], nothing: float = 0.0) -> NDArray[Any]:
                out = np.full((heads, most), nothing, values.dtype)
                out[objects.head, place] = values
                return out

            snr = np.maximum(objects.power_W / self._cells.noise_W, 1e-30)
            names = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "power_W")
            columns = {name: spread(getattr(objects, name)) for name in names} | {"snr_dB": spread(in_decibels(snr))}
            object_id = spread(objects.object_id, -1)
            why = np.where(there, np.uint8(EchoCause.OBJECT), np.uint8(EchoCause.NONE))
            sigma = spread(objects.cross_section_m2)
            return self._listed(columns, object_id, why, there, instant, instant.time_ns, {}, sigma)

        return made

    def _listed(
        self,
        columns: dict[str, Float],
        object_id: NDArray[Any],
        cause: NDArray[np.uint8],
        there: NDArray[np.bool_],
        instant: Instant,
        stamp_ns: int,
        maps: dict[str, Any],
        cross_section_m2: Float | None = None,
    ) -> RadarReading:
        """A reading of what is there, moved to the front of each list."""
        rig = self._rig
        order = np.argsort(~there, axis=1, kind="stable")[:, : int(there.sum(axis=1).max(initial=0))]
        valid = np.take_along_axis(there, order, axis=1)
        shape = (*rig.axes, valid.shape[1])
        own = {
            name: np.where(valid, np.take_along_axis(values, order, axis=1), 0.0) for name, values in columns.items()
        }
        if cross_section_m2 is None:
            own["cross_section_m2"] = np.where(valid, self._cross_section(own), 0.0)
        else:
            own["cross_section_m2"] = np.where(valid, np.take_along_axis(cross_section_m2, order, axis=1), 0.0)
        number = np.where(valid, np.take_along_axis(object_id, order, axis=1), -1)
        row = instant.world[:, None] if len(self._label) > 1 else np.zeros((len(number), 1), np.int64)
        label = np.where(number >= 0, self._label[row, np.maximum(number, 0)] if self._label.size else -1, -1)
        why = np.where(valid, np.take_along_axis(cause, order, axis=1), np.uint8(EchoCause.NONE))
        return RadarReading(
            valid=valid.reshape(shape),
            **{name: values.reshape(shape) for name, values in own.items()},
            object_id=number.astype(np.int32).reshape(shape),
            label=label.astype(np.int32).reshape(shape),
            cause=why.astype(np.uint8).reshape(shape),
            time_ns=instant.time_ns,
            stamp_ns=stamp_ns,
            X_WS=instant.X_WS.reshape((rig.worlds, rig.sensors)),
            **maps,
        )

    def _cross_section(self, own: dict[str, Float]) -> Float:
        """What the radar equation makes of power, range and direction [m^2]."""
        return cross_section_of_power(
            own["power_W"],
            np.maximum(own["range_m"], 1e-3),
            power_W=self._spec.power_W,
            gain=gain(self._spec, own["azimuth_rad"], own["elevation_rad"]),
            wavelength_m=self._spec.chirp.wavelength_m,
            loss=of_decibels(self._spec.loss_dB),
        )


def _source(spec: Radar, rig: Rig, targets: Targets) -> Source:
    return RaySource(spec, rig, targets)


def _in_order(key: Whole) -> Whole:
    """Number of each among those of its key, in the order they come."""
    order = np.argsort(key, kind="stable")
    sorted_key = key[order]
    first = np.searchsorted(sorted_key, sorted_key)
    number = np.empty(len(key), np.int64)
    number[order] = np.arange(len(key)) - first
    return number


def _taken(values: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Values at indices, zero where the index is -1."""
    if not len(values):
        return np.zeros(index.shape, values.dtype)
    return np.where(index >= 0, values[np.maximum(index, 0)], np.zeros((), values.dtype))
