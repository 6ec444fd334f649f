"""A ROS 2 message as plain data, and the parts that most messages have: header, vectors, covariances."""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.corruption import Noise, White
from sensorium.corruption.engine.base import Layout
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.spec import Rig, SensorSpec
from sensorium.sensors.lidar.scan import Scan

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Message:
    """One message, before it is encoded.

    Attributes:
        kind: Full name of its type, such as `sensor_msgs/msg/Imu`.
        stamp_ns: Time of the measurement by the sender's clock [ns].
        fields: Its fields by name; messages within it are mappings too, and the `data` of clouds and images may be
            `DeferredBytes`.
    """

    kind: str
    stamp_ns: int
    fields: Mapping[str, Any]


@dataclass(frozen=True)
class DeferredBytes:
    """Bytes of a message whose number is known now, and which are produced when they are written.

    Attributes:
        length: Number of bytes.
        write_to: Writes them into an array (length,); its source data must not change before that.
    """

    length: int
    write_to: Callable[[NDArray[np.uint8]], None]

    def materialize(self) -> NDArray[np.uint8]:
        """The bytes in a new array."""
        out = np.zeros(self.length, np.uint8)
        self.write_to(out)
        return out


def time(time_ns: int) -> dict[str, int]:
    """Fields of builtin_interfaces/Time; a time before 0 has negative seconds."""
    seconds, rest_ns = divmod(int(time_ns), 1_000_000_000)
    if not -(2**31) <= seconds < 2**31:
        raise SpecError(f"a time is {time_ns} ns; messages of ROS 2 have 32 bits for seconds, which end in 2038")
    return {"sec": seconds, "nanosec": rest_ns}


def header(stamp_ns: int, frame_id: str) -> dict[str, Any]:
    """Fields of std_msgs/Header."""
    return {"stamp": time(stamp_ns), "frame_id": frame_id}


def vector(xyz: Sequence[float] | Float) -> dict[str, float]:
    """Fields of geometry_msgs/Vector3 and Point."""
    return {"x": float(xyz[0]), "y": float(xyz[1]), "z": float(xyz[2])}


def quaternion(wxyz: Sequence[float] | Float) -> dict[str, float]:
    """Fields of geometry_msgs/Quaternion, from w x y z."""
    return {"x": float(wxyz[1]), "y": float(wxyz[2]), "z": float(wxyz[3]), "w": float(wxyz[0])}


# sensor_msgs: all zeros is "not known", and -1 in the first place "there is no such measurement"
UNKNOWN = np.zeros(9)
ABSENT = np.array([-1.0, *[0.0] * 8])


def white_variance(noise: Noise, *, width: int, period_s: float) -> Float:
    """Variance of one sample by its white noise [unit^2], shape (width,); zeros where none is specified.

    Biases and walks are left out: they are errors that stay from sample to sample, which filters estimate as states.

    Args:
        noise: Of the specification.
        width: Number of channels.
        period_s: Time between samples [s], which a spectral density needs.
    """
    for part in noise.parts():
        if isinstance(part, White) and part.on and noise.on:
            return np.asarray(part.sigma(Layout(width, period_s)) ** 2)
    return np.zeros(width)


def diagonal(variances: Float) -> Float:
    """A matrix with these variances, row by row; shape (n * n,)."""
    return np.diag(np.asarray(variances, np.float64)).ravel()


# Characters not allowed in a token of a ROS name, and the form of a whole name
_NOT_IN_TOKENS = re.compile(r"[^A-Za-z0-9_]")
_TOPIC = re.compile(r"(/[A-Za-z_][A-Za-z0-9_]*)+")
_LONGEST_TOPIC = 247


@dataclass(frozen=True)
class Source:
    """One attached sensor, or several of a kind in several worlds: a row for each, world by world.

    Attributes:
        name: Name of the sensor.
        spec: Its specification.
        rig: Mount of the sensor.
        body: Name of the body it rides on; None for the world.
        joint: Name of the joint it measures, if any.
        frames: Frame of each row.
        roots: Frame of each row's world.
    """

    name: str
    spec: SensorSpec[Any]
    rig: Rig
    body: str | None
    joint: str | None
    frames: tuple[str, ...]
    roots: tuple[str, ...]

    @classmethod
    def of(cls, sensor: AttachedSensor[Any], bodies: tuple[str, ...], joints: tuple[str, ...]) -> "Source":
        """That of an attached sensor; a frame that a body has already gets `_sensor` added."""
        rig = sensor.rig
        own = f"{sensor.name}_sensor" if sensor.name in (*bodies, "world") else sensor.name
        names = [f"{own}_{k}" for k in range(rig.sensors)] if rig.sensor_axis else [own]
        prefixes = [world_prefix(rig, world) for world in range(rig.worlds)]
        return cls(
            sensor.name,
            sensor.spec,
            rig,
            None if rig.body is None else bodies[rig.body],
            None if rig.joint is None else joints[rig.joint],
            tuple(prefix + name for prefix in prefixes for name in names),
            tuple(f"{prefix}world" for prefix in prefixes for _ in names),
        )

    @property
    def has_place(self) -> bool:
        """Whether it has a mount: a sensor of a joint does not, unless it is on a body."""
        return self.joint is None or self.body is not None

    @property
    def period_s(self) -> float:
        """Time between readings [s]."""
        return 1.0 / (self.spec.timing.rate_hz or 1.0)

    def rows(self, array: NDArray[Any], tail: int = 0) -> NDArray[Any]:
        """A reading's array with one leading axis of rows; `tail` is how many axes a single sensor's has."""
        array = np.asarray(array)
        return array.reshape(len(self.frames), *array.shape[array.ndim - tail :])

    def topic(self, row: int, end: str) -> str:
        """Topic of one row: /lidar/points, or /world_3/lidar_0/points where there are several."""
        return "".join(f"/{topic_token(word)}" for word in (*self.frames[row].split("/"), *end.split("/")) if word)


def topic_token(word: str) -> str:
    """A word as a token of a topic: letters, digits and underscores, no digit first.

    Tokens that begin with an underscore are hidden in ROS 2, so a word gets none that had none.
    """
    plain = _NOT_IN_TOKENS.sub("_", word)
    return plain if word[0] == "_" or plain[0].isalpha() else f"sensor_{plain.lstrip('_')}"


def check_topic(topic: str) -> None:
    """Raise SpecError unless a topic is a name in a ROS 2 graph (design.ros2.org, "Topic and Service Names")."""
    if len(topic) > _LONGEST_TOPIC:
        rule = f"a name of ROS 2 has at most {_LONGEST_TOPIC}"
        raise SpecError(f"topic {topic[:60]!r}... has {len(topic)} characters; {rule}")
    if not _TOPIC.fullmatch(topic):
        rule = "a name of ROS 2 begins with / and has tokens of letters, digits and _ between them, no digit first"
        raise SpecError(f"topic is {topic!r}; {rule}")


class Worlds(Protocol):
    """An object with worlds: a sensor's rig, or an environment."""

    @property
    def first_world(self) -> int:
        """Number of the first world among all of an experiment."""

    @property
    def world_axis(self) -> bool:
        """Whether readings have an axis of worlds."""


def world_prefix(of: Worlds, world: int) -> str:
    """Prefix of names of a world: empty if there is only one."""
    return f"world_{of.first_world + world}/" if of.world_axis else ""


# Encoding -> type of a number and how many a pixel has
ENCODINGS = {
    "mono8": ("u1", 1),
    "rgb8": ("u1", 3),
    "rgb16": ("<u2", 3),
    **{f"bayer_{order}8": ("u1", 1) for order in ("rggb", "bggr", "grbg", "gbrg")},
    **{f"bayer_{order}16": ("<u2", 1) for order in ("rggb", "bggr", "grbg", "gbrg")},
    "mono16": ("<u2", 1),
    "16UC1": ("<u2", 1),
    "32FC1": ("<f4", 1),
    "32FC2": ("<f4", 2),
    "32FC3": ("<f4", 3),
    "16SC1": ("<i2", 1),
    "32SC1": ("<i4", 1),
}


def image(pixels: NDArray[Any], encoding: str, *, stamp_ns: int, frame_id: str) -> Message:
    """A picture without conversion, row by row from the top.

    Args:
        pixels: Shape (height, width), or (height, width, n) for encodings of n numbers, of the encoding's own type.
        encoding: mono8 or mono16 (brightness), rgb8 or rgb16, bayer_rggb8 and the like, 16UC1 (depth [mm], as depth
            cameras give it), 32FC1 (depth [m], REP 118), 32FC2 and 32FC3 (vectors), 16SC1 or 32SC1 (labels).
        stamp_ns: When it was taken, by the sensor's clock [ns].
        frame_id: Frame of the camera: z forward, x right, y down.
    """
    if encoding not in ENCODINGS:
        raise SpecError(f"encoding is {encoding!r}; it must be one of {', '.join(ENCODINGS)}")
    kind, numbers = ENCODINGS[encoding]
    array = np.asarray(pixels)
    wanted = np.dtype(kind)
    shape_is_right = array.ndim == 2 if numbers == 1 else array.ndim == 3 and array.shape[2] == numbers
    if not shape_is_right or array.dtype != wanted:
        rule = f"{encoding} must be (height, width{f', {numbers}' if numbers > 1 else ''}) of {wanted.name}"
        raise SpecError(f"pixels have shape {array.shape} and type {array.dtype}; {rule}")
    height, width = array.shape[:2]
    fields = {
        "header": header(stamp_ns, frame_id),
        "height": height,
        "width": width,
        "encoding": encoding,
        "is_bigendian": 0,
        "step": width * numbers * wanted.itemsize,
        "data": np.ascontiguousarray(array, wanted).view(np.uint8).reshape(-1),
    }
    return Message("sensor_msgs/msg/Image", stamp_ns, fields)


def range_image(scan: Scan, *, frame_id: str) -> Message:
    """The ranges of a scan [m] as a picture of channels by columns, 32FC1.

    Pixels without a return are NaN; of a scan with a range image they are infinity, and minus infinity if too near (REP
    118), in meters even if that image is normalized. Of several returns of a ray, the first; the rows are in the order
    of the pattern's channels. The stamp is the sweep's start by the sensor's clock.

    Args:
        scan: Of one sensor in one world, organized.
        frame_id: Frame of the lidar.
    """
    if scan.X_WS.shape[1:] != (1, 1) or scan.range_m.ndim < 2:
        raise SpecError(
            f"the scan has shape {scan.range_m.shape}; a picture must be of one organized scan, channels by columns"
        )
    shape = (-1, *scan.range_m.shape[-2:])
    ranges_m = np.where(scan.valid, scan.range_m, np.float32(np.nan))
    if scan.range_image is not None:
        ranges_m = scan.range_image.in_meters()
    return image(ranges_m.reshape(shape)[0], "32FC1", stamp_ns=scan.time_ns, frame_id=frame_id)
