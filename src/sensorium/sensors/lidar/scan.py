"""Reading of a lidar: one sweep, or a slice of one, organized as channels by columns."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.sensors.lidar.range_image import RangeImage
from sensorium.sensors.lidar.waveform.reading import Waveforms
from sensorium.worlds.interpolation import interpolated


class Cause(IntEnum):
    """Cause of a lidar return; 0 where there is none."""

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


class ScanField(NamedTuple):
    """An array of a scan with one entry per return, and its representation in clouds and messages."""

    name: str
    """Name in `Scan`, or in its `Light`."""
    columns: tuple[str, ...]
    """Names of its numbers in clouds; three for a vector."""
    dtype: str | None
    """Type in clouds and messages; None as the scan has it."""
    unit: str
    """Unit, "1" for none."""
    doc: str
    """Description."""
    void: float | None = 0.0
    """Entry where nothing returned; None keeps the value, since it belongs to the shot."""
    of_light: bool = False
    """Whether it is a field of `Light`."""
    in_every_cloud: bool = False
    """Whether clouds of a geometric lidar have it too, although it describes light."""
    in_messages: bool = True
    """Whether recorded messages have it as well as files; each byte of a point adds to the run's cost."""

    @property
    def tail(self) -> tuple[int, ...]:
        """The axes after those of the ranges."""
        return () if len(self.columns) == 1 else (len(self.columns),)


@dataclass(frozen=True, eq=False)
class Light:
    """Properties of each return from a lidar that models light; arrays in the shape of the ranges."""

    intensity: NDArray[Any]
    cause: NDArray[np.uint8]
    depth: NDArray[np.uint8]
    mirror_id: NDArray[np.int32]
    ambient: NDArray[np.float32] | None = None
    width_s: NDArray[np.float32] | None = None


# fmt: off
FIELDS = (
    ScanField("points", ("x", "y", "z"), None, "m", "where the ray ended"),
    ScanField("intensity", ("intensity",), "f4", "of the mode", "strength; 1 for geometric lidars",
              of_light=True, in_every_cloud=True),
    ScanField("label", ("label",), "i4", "1", "of the face or object", -1),
    ScanField("cause", ("cause",), "u1", "1", "what returned, as `Cause`", of_light=True, in_every_cloud=True),
    ScanField("range_m", ("range",), "f4", "m", "distance along the ray", in_messages=False),
    ScanField("object_id", ("object_id",), "i4", "1", "number of the object", -1, in_messages=False),
    ScanField("face_id", ("face_id",), "i4", "1", "triangle of its mesh", -1, in_messages=False),
    ScanField("normals", ("normal_x", "normal_y", "normal_z"), "f4", "1", "unit normal of the surface",
              in_messages=False),
    ScanField("depth", ("depth",), "u1", "1", "interfaces before the return", of_light=True, in_messages=False),
    ScanField("mirror_id", ("mirror_id",), "i4", "1", "object that mirrored the ray first", -1,
              of_light=True, in_messages=False),
    ScanField("ambient", ("ambient",), "f4", "W", "sunlight gathered with the shot", None, of_light=True),
    ScanField("width_s", ("width",), "f4", "s", "full width at half maximum", of_light=True),
)
# fmt: on


@dataclass(frozen=True, eq=False)
class Scan:
    """Returns of one sweep.

    Arrays have shape (*batch, channels, columns), where batch is the requested worlds and sensors, and then the returns
    of a ray where a lidar reports several; `flat()` lists the returns only. Where nothing returned, range and point are
    zero, ids and label -1, and `valid` is False. Returns from the air and returns that a fault creates where there was
    nothing have no object: their ids are -1 too.
    """

    FIELDS: ClassVar[tuple[ScanField, ...]] = FIELDS
    """All arrays with one entry per return: the single list for functions that select, void or write returns."""

    range_m: NDArray[np.float32]
    """Distance along the ray [m]."""
    points: NDArray[Any]
    """End point of the ray [m], (..., 3): float32 in the sensor frame at the ray's firing time, or float64 in the
    world."""
    object_id: NDArray[np.int32]
    """Object hit, as numbered in the scene."""
    face_id: NDArray[np.int32]
    """Triangle of that object's mesh."""
    label: NDArray[np.int32]
    """Label of the face or object; 0 is unlabeled."""
    offset_ns: NDArray[np.int64]
    """Firing time of each ray since the start [ns]; shape (channels, columns)."""
    start_ns: int
    """Start of the sweep [ns]."""
    end_ns: int
    """End of the sweep [ns]."""
    frame: str
    """Frame of the points: "sensor" or "world"."""
    knot_ns: NDArray[np.int64]
    """Times at which the sensor's true pose is known [ns], (knots,)."""
    X_WS: Pose
    """The sensor's true poses at those times, batch shape (knots, worlds, sensors)."""
    clock_offset_ns: int = 0
    """Offset of the sensor's clock at time 0, positive if ahead [ns]."""
    clock_skew: float = 0.0
    """Relative rate error of the sensor's clock, positive if fast [1]."""
    light: Light | None = None
    """Intensities and causes; None for a geometric lidar."""
    waveform: Waveforms | None = None
    """Samples of every pulse, if a waveform lidar keeps them."""
    normals: NDArray[np.float32] | None = None
    """Unit normals of the surfaces on the sensor's side, in the frame of the points, (..., 3); zeros where nothing
    returned. None unless a geometric lidar has `normals`."""
    range_image: RangeImage | None = None
    """One number per ray, also where nothing returned; None unless the lidar has `normalize`, `near_value_m` or
    `far_value_m`."""

    @property
    def valid(self) -> NDArray[np.bool_]:
        """Whether there is a return."""
        return self.range_m > 0.0 if self.light is None else self.light.cause != Cause.NONE

    @property
    def time_ns(self) -> int:
        """Time of the sensor's own clock at the start of the sweep [ns]."""
        return self.start_ns + self.clock_offset_ns + round(self.start_ns * self.clock_skew)

    @property
    def ray_time_ns(self) -> NDArray[np.int64]:
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
        """Cause of each return, as `Cause`; a geometric lidar reports surfaces only."""
        if self.light is not None:
            return self.light.cause
        met = np.where(self.object_id >= 0, np.uint8(Cause.SURFACE), np.uint8(Cause.FAULT))
        return np.where(self.valid, met, np.uint8(Cause.NONE))

    @property
    def depth(self) -> NDArray[np.uint8]:
        """Number of interfaces that reflected or transmitted the path before this return."""
        return np.zeros(self.range_m.shape, np.uint8) if self.light is None else self.light.depth

    @property
    def mirror_id(self) -> NDArray[np.int32]:
        """For a ghost, the first object that mirrored the ray; -1 elsewhere."""
        return np.full(self.range_m.shape, -1, np.int32) if self.light is None else self.light.mirror_id

    @property
    def ambient(self) -> NDArray[np.float32] | None:
        """Sunlight that the detector gathered with each return [W], if the lidar measures it."""
        return None if self.light is None else self.light.ambient

    @property
    def width_s(self) -> NDArray[np.float32] | None:
        """Full width at half maximum of each return in time [s], if the lidar has waveforms."""
        return None if self.light is None else self.light.width_s

    def flat(self) -> Self:
        """The returns only, in one row of length n (channel by channel).

        Waveforms belong to pulses and range images to rays; both are left out.
        """
        keep = self.valid
        offset_ns = np.broadcast_to(self.offset_ns, keep.shape)[keep]
        returns = self._each(lambda field, array: array[keep])
        return replace(returns, offset_ns=offset_ns, waveform=None, range_image=None)

    def one(self, row: int) -> Self:
        """The scan of one sensor in one world, without axes for them; rows count world by world."""
        worlds, sensors = self.X_WS.shape[1:]
        rays = self.range_m.shape[-2:]
        returns = self.range_m.size // max(worlds * sensors * rays[0] * rays[1], 1)
        shape = rays if returns == 1 else (returns, *rays)
        waveform = self.waveform
        if waveform is not None:
            samples = waveform.samples
            waveform = replace(waveform, samples=samples.reshape(-1, *rays, samples.shape[-1])[row])
        image = self.range_image
        return replace(
            self._each(lambda field, array: array.reshape(-1, *shape, *field.tail)[row]),
            X_WS=self.X_WS[:, row // sensors, row % sensors].reshape((-1, 1, 1)),
            waveform=waveform,
            range_image=None if image is None else replace(image, values=image.values.reshape(-1, *shape)[row]),
        )

    def without(self, worlds: NDArray[np.bool_]) -> Self:
        """The scan with no returns in some worlds, given as a mask of shape (worlds,); only where there is an axis."""
        scan = self.voided(worlds.reshape(-1, *(1,) * (self.range_m.ndim - 1)))
        if scan.waveform is None:
            return scan
        pulses = scan.waveform.samples.ndim - 1
        return replace(scan, waveform=scan.waveform.without(worlds.reshape(-1, *(1,) * (pulses - 1))))

    def voided(self, at: NDArray[np.bool_]) -> Self:
        """The scan with no returns where the mask is true; it broadcasts to the shape of the ranges."""

        def void(field: ScanField, array: NDArray[Any]) -> NDArray[Any]:
            if field.void is None:
                return array
            return np.where(at[..., None] if field.tail else at, array.dtype.type(field.void), array)

        scan = self._each(void)
        return scan if scan.range_image is None else replace(scan, range_image=scan.range_image.voided(at))

    def _each(self, change: Callable[[ScanField, NDArray[Any]], NDArray[Any]]) -> Self:
        """The scan with a function applied to each of its arrays of returns."""

        def changed(owner: object, of_light: bool) -> dict[str, Any]:
            fields = [field for field in self.FIELDS if field.of_light == of_light]
            arrays = ((field, getattr(owner, field.name)) for field in fields)
            return {field.name: change(field, array) for field, array in arrays if array is not None}

        light = None if self.light is None else replace(self.light, **changed(self.light, True))
        return replace(self, **changed(self, False), light=light)

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
        """Points [m] in the sensor frame at the start of the sweep, with the true motion undone; shape (..., 3)."""
        X_S0W = self.pose(self.start_ns).inverse()
        in_world = self.points
        if self.frame != "world":
            in_world = self.pose(np.broadcast_to(self.start_ns + self.offset_ns, self.range_m.shape)).apply(self.points)
        return np.where(self.valid[..., None], X_S0W.apply(in_world), 0.0)
