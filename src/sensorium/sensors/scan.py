"""What a lidar reports: one sweep, or a slice of one, organised as channels by columns."""

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SpecError
from sensorium.frames import Pose
from sensorium.sensors.waveform.reading import Waveforms
from sensorium.worlds.interpolation import interpolated


class Cause(IntEnum):
    """What a lidar return came from; 0 where there is none."""

    NONE = 0
    SURFACE = 1
    REFLECTION = 2
    TRANSMISSION = 3
    ATMOSPHERE = 4
    MIXED = 5
    FALSE_ALARM = 6
    SATURATED = 7
    BLOOM = 8
    FOLDED = 9
    CROSSTALK = 10
    FAULT = 11


@dataclass(frozen=True, eq=False)
class Light:
    """What a lidar that models light knows of each return besides where it is; arrays in the shape of the ranges."""

    intensity: NDArray[Any]
    cause: NDArray[np.uint8]
    depth: NDArray[np.uint8]
    mirror_id: NDArray[np.int32]
    ambient: NDArray[np.float32] | None = None
    width_s: NDArray[np.float32] | None = None


@dataclass(frozen=True, eq=False)
class Scan:
    """Returns of one sweep.

    Arrays have shape (*batch, channels, columns), where batch is the worlds and sensors asked for, and then the returns
    of a ray where a lidar reports several; `flat()` lists only what returned. Where nothing returned, range and point
    are zero, ids and label -1, and `valid` is False. A return from the air has no object: its ids are -1 too, as are
    those of a return that a fault makes where there was nothing.
    """

    range_m: NDArray[np.float32]
    """Distance along the ray [m]."""
    points: NDArray[Any]
    """Where it ended [m], (..., 3): float32 in the sensor frame at the ray's firing time, or float64 in the world."""
    object_id: NDArray[np.int32]
    """Object hit, as numbered in the scene."""
    face_id: NDArray[np.int32]
    """Triangle of that object's mesh."""
    label: NDArray[np.int32]
    """Label of the face or object; 0 is unlabelled."""
    offset_ns: NDArray[np.int64]
    """Firing time of each ray since the start [ns]; shape (channels, columns)."""
    start_ns: int
    """When the sweep began [ns]."""
    end_ns: int
    """When it was complete [ns]."""
    frame: str
    """Frame of the points: "sensor" or "world"."""
    knot_ns: NDArray[np.int64]
    """Times at which the sensor's true pose is known [ns], (knots,)."""
    X_WS: Pose
    """The sensor's true poses at those times, batch shape (knots, worlds, sensors)."""
    clock_offset_ns: int = 0
    """What the sensor's clock was ahead at time 0 [ns]."""
    clock_skew: float = 0.0
    """How much faster the sensor's clock runs, as a share [1]."""
    light: Light | None = None
    """Intensities and causes; None for a geometric lidar."""
    waveform: Waveforms | None = None
    """Samples of every pulse, where a waveform lidar keeps them."""
    normals: NDArray[np.float32] | None = None
    """Unit normals of the surfaces on the sensor's side, in the frame of the points, (..., 3); zeros where nothing
    returned. None unless a geometric lidar was asked for them."""

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Whether there is a return."""
        return self.range_m > 0.0 if self.light is None else self.light.cause != Cause.NONE

    @property
    def stamp_ns(self) -> int:
        """What the sensor's own clock showed when the sweep began [ns]."""
        return self.start_ns + self.clock_offset_ns + round(self.start_ns * self.clock_skew)

    @property
    def time_ns(self) -> NDArray[np.int64]:
        """Firing time of each ray by the sensor's own clock [ns], in the shape of the ranges."""
        true_ns = self.start_ns + self.offset_ns
        if self.clock_offset_ns or self.clock_skew:
            true_ns = true_ns + self.clock_offset_ns + np.rint(true_ns * self.clock_skew).astype(np.int64)
        return np.broadcast_to(true_ns, self.range_m.shape)

    @property
    def intensity(self) -> NDArray[Any]:
        """Strength of each return, in the unit of the lidar's mode; a geometric lidar gives 1 to every return."""
        return self.valid.astype(np.float32) if self.light is None else self.light.intensity

    @property
    def cause(self) -> NDArray[np.uint8]:
        """What each return came from, as `Cause`; a geometric lidar sees surfaces only."""
        if self.light is not None:
            return self.light.cause
        met = np.where(self.object_id >= 0, np.uint8(Cause.SURFACE), np.uint8(Cause.FAULT))
        return np.where(self.valid, met, np.uint8(Cause.NONE))

    @property
    def depth(self) -> NDArray[np.uint8]:
        """How many interfaces the path was reflected or let through by before this return."""
        return np.zeros(self.range_m.shape, np.uint8) if self.light is None else self.light.depth

    @property
    def mirror_id(self) -> NDArray[np.int32]:
        """For a ghost, the object that mirrored the ray first; -1 elsewhere."""
        return np.full(self.range_m.shape, -1, np.int32) if self.light is None else self.light.mirror_id

    @property
    def ambient(self) -> NDArray[np.float32] | None:
        """Sunlight that the detector gathered with each return [W], where the lidar measures it."""
        return None if self.light is None else self.light.ambient

    @property
    def width_s(self) -> NDArray[np.float32] | None:
        """Full width at half maximum of each return in time [s], where the lidar has waveforms."""
        return None if self.light is None else self.light.width_s

    def flat(self) -> "Scan":
        """Only the returns, in one row of length n (channel by channel); waveforms are of pulses and left out."""
        keep = self.valid
        return replace(
            self,
            range_m=self.range_m[keep],
            points=self.points[keep],
            object_id=self.object_id[keep],
            face_id=self.face_id[keep],
            label=self.label[keep],
            offset_ns=np.broadcast_to(self.offset_ns, keep.shape)[keep],
            light=None if self.light is None else _kept(self.light, keep),
            waveform=None,
            normals=None if self.normals is None else self.normals[keep],
        )

    def without(self, worlds: NDArray[np.bool_]) -> "Scan":
        """The scan with no returns in some worlds, given as a mask of shape (worlds,); only where there is an axis."""
        scan = self.voided(worlds.reshape(-1, *(1,) * (self.range_m.ndim - 1)))
        if scan.waveform is None:
            return scan
        pulses = scan.waveform.samples.ndim - 1
        return replace(scan, waveform=scan.waveform.without(worlds.reshape(-1, *(1,) * (pulses - 1))))

    def voided(self, at: NDArray[np.bool_]) -> "Scan":
        """The scan with no returns where the mask is true; it broadcasts to the shape of the ranges."""
        light = self.light
        return replace(
            self,
            range_m=np.where(at, np.float32(0.0), self.range_m),
            points=np.where(at[..., None], self.points.dtype.type(0.0), self.points),
            object_id=np.where(at, np.int32(-1), self.object_id),
            face_id=np.where(at, np.int32(-1), self.face_id),
            label=np.where(at, np.int32(-1), self.label),
            normals=None if self.normals is None else np.where(at[..., None], np.float32(0.0), self.normals),
            light=light
            if light is None
            else Light(
                np.where(at, light.intensity.dtype.type(0), light.intensity),
                np.where(at, np.uint8(Cause.NONE), light.cause),
                np.where(at, np.uint8(0), light.depth),
                np.where(at, np.int32(-1), light.mirror_id),
                light.ambient,
                None if light.width_s is None else np.where(at, np.float32(0.0), light.width_s),
            ),
        )

    def pose(self, time_ns: NDArray[np.int64] | int) -> Pose:
        """True pose X_WS of a single sensor in a single world at times within the sweep; any shape of times."""
        if self.X_WS.shape[1:] != (1, 1):
            raise SpecError(f"the scan has {self.X_WS.shape[1:]} worlds and sensors; a pose belongs to one of each")
        times = np.asarray(time_ns, np.int64)
        if times.size and (times.min() < self.start_ns or times.max() > self.end_ns):
            raise SpecError(
                f"time_ns runs from {times.min()} to {times.max()}; the sweep is {self.start_ns} to {self.end_ns}"
            )
        if len(self.knot_ns) == 1:
            return self.X_WS[0, 0, 0].broadcast_to(times.shape)

        # Rays share firing times (a column fires at once): interpolate each once
        distinct, place = np.unique(times, return_inverse=True)
        between = interpolated(self.knot_ns, self.X_WS, distinct)
        return between[:, 0, 0][place.reshape(times.shape)]

    def deskewed(self) -> NDArray[np.float64]:
        """Points [m] in the sensor frame as it stood when the sweep began, undoing the true motion; shape (..., 3)."""
        X_S0W = self.pose(self.start_ns).inverse()
        in_world = self.points
        if self.frame != "world":
            in_world = self.pose(np.broadcast_to(self.start_ns + self.offset_ns, self.range_m.shape)).apply(self.points)
        return np.where(self.valid[..., None], X_S0W.apply(in_world), 0.0)


def _kept(light: Light, keep: NDArray[np.bool_]) -> Light:
    return Light(
        light.intensity[keep],
        light.cause[keep],
        light.depth[keep],
        light.mirror_id[keep],
        None if light.ambient is None else light.ambient[keep],
        None if light.width_s is None else light.width_s[keep],
    )
