"""A ROS 2 message as plain data, and the parts that most messages have: header, vectors, covariances."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.corruption import Noise, White
from sensorium.corruption.engine.base import Layout

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
