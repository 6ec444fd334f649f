"""Reading of a radar: a list of detections, and on request the range-speed map."""

from dataclasses import dataclass, fields, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose

Float = NDArray[np.float64]


class EchoCause(IntEnum):
    """Cause of a detection; 0 for none."""

    NONE = 0
    OBJECT = 1
    MULTIPATH = 2
    CLUTTER = 3
    FALSE_ALARM = 4
    INTERFERENCE = 5


@dataclass(frozen=True, eq=False)
class RadarReading:
    """Detections of one frame, strongest first.

    Arrays have shape (*batch, n), where batch is the requested worlds and sensors and n the length of the longest list;
    in a shorter list the rest has `valid` False, zeros and ids -1. `flat()` has only the detections. Angles are those
    of the library: x ahead, azimuth positive to the left, elevation positive up; the range rate is positive if an
    object recedes.
    """

    valid: NDArray[np.bool_]
    """Whether there is a detection."""
    range_m: Float
    """Distance [m]."""
    range_rate_m_s: Float
    """Range rate, positive if receding [m/s]; aliased into the unambiguous span of the chirps."""
    azimuth_rad: Float
    """To the left of straight ahead [rad]; 0 for a radar with one antenna, which cannot measure it."""
    elevation_rad: Float
    """Above straight ahead [rad]; 0 for a radar with one row of antennas, which cannot measure it."""
    power_W: Float
    """Received power [W]."""
    snr_dB: Float
    """The same over the receiver's noise in a cell [dB]."""
    cross_section_m2: Float
    """Cross-section from power and range by the radar equation [m^2]."""
    object_id: NDArray[np.int32]
    """Truth: object that gave most of the echo, -1 for clutter and false alarms."""
    label: NDArray[np.int32]
    """Truth: its label, -1 where there is no object."""
    cause: NDArray[np.uint8]
    """Truth: the cause, as `EchoCause`."""
    end_ns: int
    """When the frame was complete [ns]."""
    time_ns: int
    """The same by the sensor's own clock [ns]."""
    X_WS: Pose
    """True poses of the sensors then, batch shape (worlds, sensors)."""
    map_W: NDArray[np.float32] | None = None
    """Power of the strongest beam in each cell [W], shape (*batch, speeds, ranges); None unless the radar's
    `range_doppler` is on, and once the list is flat."""
    map_range_m: Float | None = None
    """Range of each column of the map [m]."""
    map_range_rate_m_s: Float | None = None
    """Range rate of each row of the map [m/s], rising."""
    adc: NDArray[np.complex64] | None = None
    """Samples of the converters [sqrt(W)], shape (*batch, chirps, antennas, samples); None unless the radar's `adc` is
    on, and once the list is flat. Chirps are all of a frame in the order they were sent, chirp m by transmitter m mod
    N_t; antennas are the receivers, row by row, from the upper left on. The mean square of a sample is the power at
    the input of a receiver: P / receivers for an echo of power P (`gain_dBi` is that of all receivers together), and
    k T_0 F f_s for the noise."""

    @property
    def points(self) -> Float:
        """Positions of detections in the sensor's frame [m], shape (*batch, n, 3)."""
        level = self.range_m * np.cos(self.elevation_rad)
        xyz = (level * np.cos(self.azimuth_rad), level * np.sin(self.azimuth_rad))
        return np.stack([*xyz, self.range_m * np.sin(self.elevation_rad)], axis=-1)

    def flat(self) -> "RadarReading":
        """Only the detections, in one row; map and samples are left out."""
        keep = self.valid
        return replace(self, **{name: getattr(self, name)[keep] for name in COLUMNS}, map_W=None, adc=None)

    def row(self, world: int, sensor: int) -> "RadarReading":
        """The list and the map of one sensor in one world, both counted from 0, without leading axes."""
        worlds, sensors = self.X_WS.shape
        for name, index, count in (("world", world, worlds), ("sensor", sensor, sensors)):
            if not 0 <= index < count:
                raise SpecError(f"{name} is {index}; the reading has {count}, it must be 0 to {count - 1}")
        if self.valid.size % (worlds * sensors):
            raise SpecError(
                "row() is asked of a flat list, which has forgotten its rows; call row() first, then flat()"
            )
        number = world * sensors + sensor
        own: dict[str, Any] = {
            name: getattr(self, name).reshape(worlds * sensors, self.valid.shape[-1])[number] for name in COLUMNS
        }
        if self.map_W is not None:
            own["map_W"] = self.map_W.reshape(worlds * sensors, *self.map_W.shape[-2:])[number]
        if self.adc is not None:
            own["adc"] = self.adc.reshape(worlds * sensors, *self.adc.shape[-3:])[number]
        return replace(self, **own, X_WS=self.X_WS[world : world + 1, sensor : sensor + 1])

    def without(self, worlds: NDArray[np.bool_]) -> "RadarReading":
        """The same, empty in some worlds, given as a mask of shape (worlds,); needs an axis of worlds."""
        keep = ~worlds.reshape(-1, *(1,) * (self.valid.ndim - 1))
        emptied: dict[str, Any] = {}
        for name in COLUMNS:
            array = getattr(self, name)
            nothing = -1 if name in ("object_id", "label") else 0
            emptied[name] = np.where(keep, array, np.array(nothing, array.dtype))
        for name in ("map_W", "adc"):
            array = getattr(self, name)
            if array is not None:
                kept = ~worlds.reshape(-1, *(1,) * (array.ndim - 1))
                emptied[name] = np.where(kept, array, np.zeros((), array.dtype))
        return replace(self, **emptied)


COLUMNS = tuple(field.name for field in fields(RadarReading))[:11]
"""Names of the arrays that have a number for each detection."""
