"""Errors and faults of detections: corruption of a radar's lists."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.corruption import Part, Program
from sensorium.sensors.common.sampled import required_rate_hz
from sensorium.sensors.common.spec import Rig
from sensorium.sensors.radar.echoes import measured_cross_section
from sensorium.sensors.radar.reading import EchoCause, RadarReading
from sensorium.sensors.radar.spec import Radar

Float = NDArray[np.float64]

# Quantities of a detection that errors act on, with the names that faults call them by
_RANGE, _SPEED, _AZIMUTH, _ELEVATION, _POWER = range(5)
_TARGETS = {"range": "range", "speed": "speed", "azimuth": "angle", "elevation": "angle", "power": "power"}
_FIELDS = ("range_m", "range_rate_m_s", "azimuth_rad", "elevation_rad", "power_W")
_FOLLOWING = ("power_W", "snr_dB", "cross_section_m2")

# Least and greatest power that is reported [dBm], well within the range of a float in watts
_LEAST_DBM, _MOST_DBM = -1000.0, 1000.0


def detection_program(spec: Radar) -> Program:
    """Errors and faults of a radar as a program over five quantities of every place of its list."""
    sentence = spec.unmeasured_angles()
    if sentence is not None:
        raise SpecError(sentence)
    period_s, parts = 1.0 / required_rate_hz(spec.timing), list[Part]()
    for number, (name, target) in enumerate(_TARGETS.items()):
        if spec.measures(name):
            parts += getattr(spec, name).channel_parts(
                width=spec.max_detections,
                period_s=period_s,
                faults=spec.faults,
                target=target,
                column=number * spec.max_detections,
                group=number,
            )
    return Program(parts, columns=len(_TARGETS) * spec.max_detections, period_s=period_s)


class DetectionErrors:
    """Runs the program over the lists of every world and every radar of a rig.

    The channels of a quantity are the entries of the list, up to `max_detections`: channel k is the k-th strongest
    detection of a frame, from any object. An entry without a detection is NaN in every quantity, and an entry is
    reported if no quantity is NaN after the program. So a fault that holds every quantity holds the whole list with its
    length.
    """

    def __init__(self, spec: Radar, rig: Rig, program: Program, noise_W: float) -> None:
        """Start the program.

        Args:
            spec: The radar.
            rig: Mount of the sensor.
            program: From `detection_program`.
            noise_W: Receiver noise in a cell, the reference of the SNR [W].
        """
        self._spec, self._rig, self._program, self._places = spec, rig, program, spec.max_detections
        self._noise_dBm = _in_dBm(np.array(noise_W))
        self._state = program.init(
            (rig.worlds, rig.sensors, program.columns),
            seed=rig.seed,
            name=f"{rig.name}/list",
            first_world=rig.first_world,
        )
        heads = rig.worlds * rig.sensors
        self._before = np.full((heads, len(_TARGETS), self._places), np.nan)
        """Numbers reported in the frame before, shape (heads, quantities, places)."""
        self._follows = np.zeros((heads, len(_FOLLOWING), self._places))
        """Power, SNR and cross-section computed from them."""
        self._source = np.zeros((heads, 3, self._places), np.int64)
        """Object, label and cause of each."""

    def restart(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds."""
        self._program.restart(self._state, mask)
        self._before[np.repeat(mask, self._rig.sensors)] = np.nan

    def apply(self, reading: RadarReading) -> RadarReading:
        """Corrupt the lists of one frame."""
        heads = len(self._before)
        valid = self._placed(reading.valid)

        # Places as channels; an angle that is not measured is 0 in every place, so that it never voids a detection
        given = np.stack([self._placed(getattr(reading, name)) for name in _FIELDS], axis=1)
        given[:, _POWER] = _in_dBm(given[:, _POWER])
        ideal = np.where(valid[:, None], given, np.nan)
        for number, name in ((_AZIMUTH, "azimuth"), (_ELEVATION, "elevation")):
            if not self._spec.measures(name):
                ideal[:, number] = 0.0
        x = ideal.copy()
        active = onsets_ns = None
        if self._rig.faults is not None:
            active = self._rig.faults.at(reading.end_ns)
            onsets_ns = self._rig.faults.onsets_ns
        self._program.step(x.reshape(heads, -1), reading.end_ns, self._state, active, onsets_ns)
        x[:, _RANGE] = np.maximum(x[:, _RANGE], 0.0)  # a range is never negative
        x[:, _POWER] = np.clip(x[:, _POWER], _LEAST_DBM, _MOST_DBM)

        # An entry that repeats all numbers of the frame before holds that detection with its data
        follows, source = self._followed(reading, ideal, x), self._sources(reading, valid)
        held = np.all(x == self._before, axis=1, keepdims=True) & np.any(x != ideal, axis=1, keepdims=True)
        self._before = x
        self._follows = np.where(held, self._follows, follows)
        self._source = np.where(held, self._source, source)
        return self._listed(reading)

    def _followed(self, reading: RadarReading, ideal: Float, x: Float) -> Float:
        """Power, SNR and cross-section of all places; numbers that no error has touched keep their bits.

        Beyond twice the field of view the antenna gain is constant, since errors may give any angle.
        """
        there = np.asarray(np.isfinite(x).all(axis=1))
        range_m, _, azimuth, elevation, level_dBm = np.where(there[:, None], x, 0.0).swapaxes(0, 1)
        wide, high = np.radians([self._spec.horizontal_fov_deg, self._spec.vertical_fov_deg])
        angles = np.clip(azimuth, -wide, wide), np.clip(elevation, -high, high)
        power_W = np.where(x[:, _POWER] == ideal[:, _POWER], self._placed(reading.power_W), _in_W(level_dBm))
        power_W = np.where(there, power_W, 0.0)
        snr_dB = np.where(x[:, _POWER] == ideal[:, _POWER], self._placed(reading.snr_dB), level_dBm - self._noise_dBm)
        seen = measured_cross_section(self._spec, power_W, range_m, *angles)
        sigma = np.where((x == ideal).all(axis=1), self._placed(reading.cross_section_m2), seen)
        return np.stack([power_W, snr_dB, sigma], axis=1)

    def _sources(self, reading: RadarReading, valid: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Object, label and cause of all places; detections that faults make are false alarms without an object."""
        names = ("object_id", "label", "cause")
        given = np.stack([self._placed(getattr(reading, name)) for name in names], axis=1).astype(np.int64)
        return np.where(valid[:, None], given, np.array([-1, -1, EchoCause.FALSE_ALARM])[:, None])

    def _listed(self, reading: RadarReading) -> RadarReading:
        """A reading of the corrupted numbers, detections moved to the front."""
        there = np.isfinite(self._before).all(axis=1)
        order = np.argsort(~there, axis=1, kind="stable")[:, : int(there.sum(axis=1).max(initial=0))]
        valid = np.take_along_axis(there, order, axis=1)
        shape = (*self._rig.axes, valid.shape[1])

        def front(values: NDArray[Any], nothing: float = 0.0) -> NDArray[Any]:
            return np.where(valid, np.take_along_axis(values, order, axis=1), nothing).reshape(shape)

        changed: dict[str, Any] = {name: front(self._before[:, number]) for number, name in enumerate(_FIELDS[:_POWER])}
        changed |= {name: front(self._follows[:, number]) for number, name in enumerate(_FOLLOWING)}
        return replace(
            reading,
            **changed,
            valid=valid.reshape(shape),
            object_id=front(self._source[:, 0], -1).astype(np.int32),
            label=front(self._source[:, 1], -1).astype(np.int32),
            cause=front(self._source[:, 2]).astype(np.uint8),
        )

    def _placed(self, values: NDArray[Any]) -> NDArray[Any]:
        """A column of lists as one of all places, zeros behind each list, shape (heads, places)."""
        rows = values.reshape(len(self._before), values.shape[-1])
        return np.pad(rows, ((0, 0), (0, self._places - rows.shape[1])))


def _in_dBm(power_W: Float) -> Float:
    """Watts as decibels over a milliwatt."""
    return np.asarray(10.0 * np.log10(np.maximum(power_W, np.finfo(np.float64).tiny)) + 30.0)


def _in_W(level_dBm: Float) -> Float:
    """Decibels over a milliwatt as watts."""
    return np.asarray(10.0 ** (0.1 * (level_dBm - 30.0)))
