"""Depth frames of Intel RealSense cameras, from bags that the RealSense viewer or SDK recorded.

Used topics, each below /device_0: `Depth_0/image/data` (16 bits in depth units), `Depth_0/info/camera_info` (focal
length), `option/Depth Units/value` [m], `option/Stereo Baseline/value` [mm], `info` (name and firmware).
"""

import math
from functools import cache
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, in_one_line
from sensorium.files.plain_files import open_regular
from sensorium.recordings.readers.rosbag1 import START, BagMessage, read_rosbag1

_IMAGE, _INTRINSICS = "/Depth_0/image/data", "/Depth_0/info/camera_info"
_UNIT, _BASELINE, _INFO = "/option/Depth Units/value", "/option/Stereo Baseline/value", "/device_0/info"
_DEVICE = "/device_0/"
_END_BYTES = 1 << 20
_MM = 1e-3
_ENCODINGS = ("mono16", "16UC1")


class DepthRecording(NamedTuple):
    """Frames of a stereo depth camera.

    Attributes:
        path: The file.
        device: Name, as "Intel RealSense D435"; "" where the file has none.
        firmware: Version; "" where the file has none.
        codes: Depth in units, 0 where there is none, shape (frames, height, width).
        time_ns: Of each frame, by the file [ns].
        unit_m: Depth of one code [m].
        focal_px: Focal length [px].
        baseline_m: Distance between the two imagers [m].
    """

    path: Path
    device: str
    firmware: str
    codes: NDArray[np.uint16]
    time_ns: NDArray[np.int64]
    unit_m: float
    focal_px: float
    baseline_m: float

    @property
    def disparity_of_m(self) -> float:
        """Disparity times depth, focal length times baseline [px m]."""
        return self.focal_px * self.baseline_m


def is_realsense(path: Path, start: bytes) -> bool:
    """Whether a file that begins with these bytes is a bag with depth frames of a RealSense camera.

    Connections of a bag are listed at its end, also where its chunks are packed; at its beginning where it was cut off.
    """
    if not start.startswith(START):
        return False
    with open_regular(path) as file:
        first = file.read(_END_BYTES)
        file.seek(max(0, file.seek(0, 2) - _END_BYTES))
        return any(f"topic={_DEVICE}".encode() in part for part in (first, file.read(_END_BYTES)))


def read_realsense(path: str | PathLike[str]) -> DepthRecording:
    """Read all depth frames of a bag.

    Raises:
        SpecError: The bag has no depth frame, intrinsics, depth units or baseline, or they are no sizes.
    """
    path = Path(path)
    frames: list[NDArray[np.uint16]] = []
    times: list[int] = []
    numbers: dict[str, float] = {}
    words: dict[str, str] = {}
    ends = (_IMAGE, _INTRINSICS, _UNIT, _BASELINE)
    for message in read_rosbag1(path):
        if not (message.topic.endswith(ends) or message.topic == _INFO):
            continue
        decoded = _decoded(path, message)
        try:
            if message.topic.endswith(_IMAGE):
                frames.append(_depth(path, decoded, len(frames)))
                times.append(message.time_ns)
            elif message.topic.endswith(_INTRINSICS):
                numbers[_INTRINSICS] = float(decoded.K[0])
            elif message.topic == _INFO:
                words[decoded.key] = decoded.value
            else:
                numbers[_UNIT if message.topic.endswith(_UNIT) else _BASELINE] = float(decoded.data)
        except (AttributeError, TypeError, IndexError):
            raise SpecError(f"{message.topic!r} of {path.name!r} is of type {message.kind!r}, another one") from None
    if not frames:
        raise SpecError(f"{path.name!r} has no depth frame; it must have a topic that ends in {_IMAGE!r}")
    if len({frame.shape for frame in frames}) > 1:
        raise SpecError(f"depth frames of {path.name!r} have several sizes; they must have one")
    for end, name in ((_INTRINSICS, "focal length"), (_UNIT, "depth unit"), (_BASELINE, "baseline")):
        value = numbers.get(end)
        if value is None or not (math.isfinite(value) and value > 0.0):
            raise SpecError(f"{name} of {path.name!r} is {value}; {end!r} must give a positive number")
    return DepthRecording(
        path=path,
        device=words.get("Name", ""),
        firmware=words.get("Firmware Version", ""),
        codes=np.stack(frames),
        time_ns=np.array(times, np.int64),
        unit_m=numbers[_UNIT],
        focal_px=numbers[_INTRINSICS],
        baseline_m=numbers[_BASELINE] * _MM,
    )


def _decoded(path: Path, message: BagMessage) -> Any:
    """A message of a standard type of ROS 1."""
    package, _, name = message.kind.partition("/")
    try:
        return _types().deserialize_ros1(bytes(message.data), f"{package}/msg/{name}")
    except Exception as error:  # the decoder may raise anything for broken bytes
        at = f"{message.topic!r} of {path.name!r}"
        raise SpecError(f"{at} has a message that cannot be decoded: {in_one_line(error)}") from None


@cache
def _types() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS1_NOETIC)


def _depth(path: Path, image: Any, number: int) -> NDArray[np.uint16]:
    """Codes of a message, shape (height, width)."""
    at = f"depth frame {number} of {path.name!r}"
    if image.encoding not in _ENCODINGS:
        raise SpecError(f"{at} has the encoding {image.encoding[:40]!r}; it must be one of {', '.join(_ENCODINGS)}")
    if image.width < 1 or image.height < 1 or image.step < 2 * image.width:
        raise SpecError(f"{at} has {image.width} x {image.height} pixels in rows of {image.step} bytes; they must fit")
    if len(image.data) != image.step * image.height:
        raise SpecError(f"{at} has {len(image.data)} bytes; it must have {image.step * image.height}")
    rows = np.ascontiguousarray(image.data).reshape(image.height, image.step)[:, : 2 * image.width]
    return np.ascontiguousarray(rows).view(">u2" if image.is_bigendian else "<u2").astype(np.uint16)
