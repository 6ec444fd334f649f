"""Lists of a reading: the peaks of a frame, and the true objects."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.frame import Peaks
from sensorium.physics.radio.power import in_decibels
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.radar.cells import Cells
from sensorium.sensors.radar.echoes import Echoes, Instant, grouped, in_order, measured_cross_section
from sensorium.sensors.radar.reading import EchoCause, RadarReading
from sensorium.sensors.radar.spec import Radar
from sensorium.sensors.radar.time_signals import TimeFrames

Float = NDArray[np.float64]

# A detection is interference where that alone gives at least this share of its power
_LEAST_SHARE = 0.25

# A ratio below this has no decibels worth telling
_NOTHING = 1e-30


class Frame(NamedTuple):
    """A frame as it was received."""

    echoes: Echoes
    """All echoes, head by head."""
    cause: NDArray[np.uint8]
    """Of each."""
    start: NDArray[np.int64]
    """The first of each head, shape (heads + 1,)."""
    peaks: Peaks
    made: TimeFrames | None
    """Samples, if the frame is computed from samples."""


class Lists:
    """Makes readings for every world and every radar of a rig."""

    def __init__(self, spec: Radar, rig: Rig, cells: Cells) -> None:
        self._spec, self._rig, self._cells = spec, rig, cells

    def of_frame(self, frame: Frame, instant: Instant) -> RadarReading:
        """The detections inside the field of view."""
        spec, cells, peaks = self._spec, self._cells, frame.peaks
        most = int(peaks.found.max(initial=0))
        there = np.arange(most) < peaks.found[:, None]
        place, power_W = peaks.place[:, :most], peaks.power_W[:, :most]
        measured = cells.measured(place)
        snr = np.maximum(power_W / cells.noise_W, _NOTHING)

        # Whose echo it is
        number = peaks.scatterer[:, :most].astype(np.int64)
        owner = np.where(number >= 0, frame.start[:-1, None] + number, -1)
        why = np.where(owner >= 0, _taken(frame.cause, owner), self._unowned(frame, place, power_W))
        object_id = np.where(owner >= 0, _taken(frame.echoes.object_id, owner), -1)

        # Positions
        elevation, azimuth = np.zeros_like(snr), np.zeros_like(snr)
        if spec.elevation_antennas > 1:
            elevation = np.arcsin(np.clip(measured.rise, -1.0, 1.0))
        if spec.virtual_antennas > 1:
            azimuth = np.arcsin(np.clip(measured.sine / np.maximum(np.cos(elevation), 1e-6), -1.0, 1.0))
        there &= np.abs(azimuth) <= np.radians(0.5 * spec.horizontal_fov_deg)
        there &= (measured.range_m >= spec.min_range_m) & (measured.range_m <= spec.farthest_m)
        there &= np.cumsum(there, axis=1) <= spec.max_detections
        columns = {
            "range_m": measured.range_m,
            "range_rate_m_s": measured.range_rate_m_s,
            "azimuth_rad": azimuth,
            "elevation_rad": elevation,
            "power_W": power_W,
            "snr_dB": in_decibels(snr),
        }
        power = np.where(there, power_W, 0.0)
        columns["cross_section_m2"] = measured_cross_section(spec, power, measured.range_m, azimuth, elevation)
        stamp_ns = self._rig.stamp_ns(instant.time_ns)
        return self._listed(columns, object_id, why, there, instant, stamp_ns, self._maps(frame))

    def of_objects(self, echoes: Echoes, instant: Instant) -> RadarReading:
        """All objects in the field as they are, with their mean power."""
        heads = self._rig.worlds * self._rig.sensors
        objects = echoes.merged(*grouped(echoes.head, echoes.object_id))
        objects = objects.kept(np.lexsort((-objects.power_W, objects.head)))
        at = objects.head, in_order(objects.head)
        shape = (heads, int(at[1].max(initial=-1)) + 1)
        there = np.zeros(shape, np.bool_)
        there[at] = True

        def placed(values: NDArray[Any]) -> NDArray[Any]:
            out = np.zeros(shape, values.dtype)
            out[at] = values
            return out

        names = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "power_W", "cross_section_m2")
        columns = {name: placed(getattr(objects, name)) for name in names}
        columns["snr_dB"] = placed(in_decibels(np.maximum(objects.power_W / self._cells.noise_W, _NOTHING)))
        why = np.full(shape, EchoCause.OBJECT, np.uint8)
        return self._listed(columns, placed(objects.object_id), why, there, instant, instant.time_ns, {})

    def _unowned(self, frame: Frame, place: Float, power_W: Float) -> NDArray[np.uint8]:
        """Causes of peaks that no scatterer gives: interference that gives them, or noise."""
        why = np.full(power_W.shape, EchoCause.FALSE_ALARM, np.uint8)
        if frame.made is not None and frame.made.interference_W is not None:
            axes = self._cells.axes
            e, b, d, r = (np.rint(place[..., k]).astype(np.int64) for k in range(4))
            b = b + self._cells.beam.count // 2
            at = tuple(index % axis.count for index, axis in zip((e, b, d, r), axes, strict=True))
            given_W = frame.made.interference_W[np.arange(len(power_W))[:, None], *at]
            why[given_W >= _LEAST_SHARE * power_W] = EchoCause.INTERFERENCE
        return why

    def _maps(self, frame: Frame) -> dict[str, Any]:
        """The range-speed map with rising speeds, and samples, if requested."""
        maps: dict[str, Any] = {}
        if frame.made is not None and frame.made.adc is not None:
            maps["adc"] = frame.made.adc.reshape(*self._rig.axes, *frame.made.adc.shape[1:])
        if not self._spec.range_doppler:
            return maps
        cells = self._cells
        map_W = np.roll(frame.peaks.map_W, cells.speed.count // 2, axis=1)
        return maps | {
            "map_W": map_W.reshape(*self._rig.axes, *map_W.shape[1:]),
            "map_range_m": cells.range_m,
            "map_range_rate_m_s": cells.range_rate_m_s,
        }

    def _listed(
        self,
        columns: dict[str, Float],
        object_id: NDArray[Any],
        cause: NDArray[np.uint8],
        there: NDArray[np.bool_],
        instant: Instant,
        stamp_ns: int,
        maps: dict[str, Any],
    ) -> RadarReading:
        """A reading of the valid detections, moved to the front of each list."""
        rig = self._rig
        order = np.argsort(~there, axis=1, kind="stable")[:, : int(there.sum(axis=1).max(initial=0))]
        valid = np.take_along_axis(there, order, axis=1)
        shape = (*rig.axes, valid.shape[1])

        def front(values: NDArray[Any], nothing: float = 0.0) -> NDArray[Any]:
            return np.where(valid, np.take_along_axis(values, order, axis=1), nothing).reshape(shape)

        number = front(object_id, -1).reshape(valid.shape)
        label = np.full(valid.shape, -1)
        of_object = self._rig.tracer.layout.label
        if of_object.size:
            row = instant.world[:, None] if len(of_object) > 1 else np.zeros((len(number), 1), np.int64)
            label = np.where(number >= 0, of_object[row, np.maximum(number, 0)], -1)
        return RadarReading(
            valid=valid.reshape(shape),
            **{name: front(values) for name, values in columns.items()},
            object_id=number.astype(np.int32).reshape(shape),
            label=label.astype(np.int32).reshape(shape),
            cause=front(cause).astype(np.uint8),
            end_ns=instant.time_ns,
            time_ns=stamp_ns,
            X_WS=instant.X_WS.reshape((rig.worlds, rig.sensors)),
            **maps,
        )


def _taken(values: NDArray[Any], index: NDArray[np.int64]) -> NDArray[Any]:
    """Values at indices, zero where the index is -1."""
    if not len(values):
        return np.zeros(index.shape, values.dtype)
    return np.where(index >= 0, values[np.maximum(index, 0)], np.zeros((), values.dtype))
