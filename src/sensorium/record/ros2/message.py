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
from sensorium.sensors.common.rig import Rig
from sensorium.sensors.common.spec import SensorSpec

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
        return "".join(f"/{_token(word)}" for word in (*self.frames[row].split("/"), *end.split("/")) if word)


def _token(word: str) -> str:
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
