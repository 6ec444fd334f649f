"""MCAP recordings with ROS 2 messages, as Sensorium writes them, in Rerun.

Rerun opens such files itself, but shows clouds as they were reported: each point in the frame that its lidar had when
the ray was fired, drawn at another time. Here they are put into the world by the poses of /tf and /tf_static at each
point's own time, labels get their colors, and signals and faults their places.
"""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.files.mcap_messages import LABELS, McapFile, open_mcap
from sensorium.view.viewer.stream import Stream
from sensorium.worlds.interpolation import interpolated

# Poses of a body that are remembered for clouds that arrive late
_MOST_POSES = 4096

# Longest time from a cloud's stamp to one of its points: far more than any sweep takes, and whole in nanoseconds
_LONGEST_CLOUD_S = 1e6

_POINT_KINDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
_XYZ = ("x", "y", "z")
_TF, _DIAGNOSTICS = "tf2_msgs/msg/TFMessage", "diagnostic_msgs/msg/DiagnosticArray"
_CLOUD, _IMAGE = "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Image"
_JOINTS = "sensor_msgs/msg/JointState"


# Topics that are shown in another way: the time of every message, and the projection of cameras
_NOT_SEEN = ("rosgraph_msgs/msg/Clock", "sensor_msgs/msg/CameraInfo")


def _vector(value: Any) -> list[float]:
    return [float(getattr(value, axis)) for axis in _XYZ]


# Quantities of messages that hold numbers: name of the quantity, names of the numbers, how to get them
_NUMBERS: dict[str, list[tuple[str, tuple[str, ...], Callable[[Any], list[float]]]]] = {
    "sensor_msgs/msg/Imu": [
        ("acceleration", _XYZ, lambda m: _vector(m.linear_acceleration)),
        ("angular_velocity", _XYZ, lambda m: _vector(m.angular_velocity)),
    ],
    "sensor_msgs/msg/MagneticField": [("magnetic_field", _XYZ, lambda m: _vector(m.magnetic_field))],
    "geometry_msgs/msg/Vector3Stamped": [("increment", _XYZ, lambda m: _vector(m.vector))],
    "geometry_msgs/msg/PointStamped": [("position", _XYZ, lambda m: _vector(m.point))],
    "geometry_msgs/msg/TwistStamped": [("velocity", _XYZ, lambda m: _vector(m.twist.linear))],
    "nav_msgs/msg/Odometry": [
        ("distance", ("distance",), lambda m: [m.pose.pose.position.x]),
        ("velocity", ("velocity",), lambda m: [m.twist.twist.linear.x]),
    ],
    "sensor_msgs/msg/NavSatFix": [
        ("latitude", ("latitude",), lambda m: [m.latitude]),
        ("longitude", ("longitude",), lambda m: [m.longitude]),
        ("altitude", ("altitude",), lambda m: [m.altitude]),
    ],
    "sensor_msgs/msg/FluidPressure": [("pressure", ("pressure",), lambda m: [m.fluid_pressure])],
    "sensor_msgs/msg/Range": [("range", ("range",), lambda m: [m.range])],
    "std_msgs/msg/Float64": [("value", ("value",), lambda m: [m.data])],
}


def show_mcap(
    path: Path,
    stream: Stream,
    progress: Callable[[float], None] = lambda part: None,
    note: Callable[[str], None] = lambda words: None,
) -> int:
    """Show all of a recording that can be shown; gives the number of messages.

    Args:
        path: The file.
        stream: Where.
        progress: Called with the part that is done, 0 to 1.
        note: Called with a line for each topic that is left out, and why.
    """
    frames, shown = _Frames(stream), 0
    with open_mcap(path) as file, np.errstate(over="ignore"):  # viewers draw in float32
        if labels := file.metadata(LABELS):
            stream.names({name: int(number) for number, name in labels.items()})
        kinds = _shown_kinds(file, note)
        decoders = {topic: file.decoder(topic) for topic in kinds}
        left_out: set[str] = set()
        first_ns, last_ns = file.span_ns
        for topic, log_ns, data in file.messages([*kinds]):
            progress((log_ns - first_ns) / max(last_ns - first_ns, 1))
            message = decoders[topic](data)
            if kinds[topic] == _IMAGE and not can_be_shown(message.encoding):
                if topic not in left_out:
                    note(f"{topic!r} is left out: its images are {message.encoding!r}")
                left_out.add(topic)
                continue
            _show(stream, frames, topic, kinds[topic], log_ns, message)
            shown += 1
    return shown


def _shown_kinds(file: McapFile, note: Callable[[str], None]) -> dict[str, str]:
    """Type of each topic that is shown; of the others it is noted why not."""
    shown = {}
    for topic, (channel, schema) in sorted(file.channels.items()):
        kind = schema.name if schema else ""
        if kind not in _NUMBERS and kind not in (_TF, _CLOUD, _IMAGE, _DIAGNOSTICS, _JOINTS):
            if kind not in _NOT_SEEN:
                note(f"{topic!r} is left out: its messages are {kind or 'of no type'!r}")
        elif channel.message_encoding != "cdr":
            written = channel.message_encoding
            note(f"{topic!r} is left out: its messages are written as {written!r}, and not as cdr (ROS 2)")
        else:
            shown[topic] = kind
    return shown


def _show(stream: Stream, frames: "_Frames", topic: str, kind: str, time_ns: int, message: Any) -> None:
    """Show one message."""
    sensor = topic.strip("/").rpartition("/")[0] or topic.strip("/")
    if kind == _TF:
        frames.add(message, time_ns, is_static=topic == "/tf_static")
    elif kind == _CLOUD:
        if not {field.name for field in message.fields}.issuperset(_XYZ):
            return  # samples of waveforms, or data without a place
        cloud = _cloud(message)
        xyz = np.stack([_finite_or_nan(cloud[axis], axis) for axis in _XYZ], axis=-1)
        label = cloud["label"] if "label" in (cloud.dtype.names or ()) else np.zeros(len(cloud), np.int32)
        points_W = frames.in_world(xyz, message.header.frame_id, _stamp(message) + _offsets_ns(cloud))
        stream.cloud(sensor, points_W, label, time_ns)
    elif kind == _IMAGE:
        stream.image(topic.strip("/"), pixels_of(message), time_ns)
    elif kind == _JOINTS:
        _show_joints(stream, sensor, message, time_ns)
    elif kind == _DIAGNOSTICS:
        for status in message.status:
            level = status.level if isinstance(status.level, int) else int.from_bytes(status.level, "little")
            stream.words(f"{status.name} is {status.message}", time_ns, is_bad=level > 0)
    else:
        of_message = topic.strip("/").rpartition("/")[2]
        for name, words, values in _NUMBERS[kind]:
            quantity = of_message if name == "increment" else name
            stream.numbers(
                [sensor, quantity],
                [f"{quantity} {w}" if w != quantity else w for w in words],
                values(message),
                time_ns,
            )


def _show_joints(stream: Stream, sensor: str, message: Any, time_ns: int) -> None:
    """Positions, and velocities if they are recorded, of each joint."""
    for number, (name, position) in enumerate(zip(message.name, message.position, strict=False)):
        path = [sensor, "joint"] if len(message.name) == 1 else [sensor, name or f"joint {number}"]
        stream.numbers(path, ["joint position"], [float(position)], time_ns)
        if len(message.velocity) == len(message.name):
            stream.numbers([*path, "velocity"], ["joint velocity"], [float(message.velocity[number])], time_ns)


class _Frames:
    """Frames of a recording: their tree, and the latest poses of bodies."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._parents: dict[str, str] = {}
        self._mounts: dict[str, Pose] = {}
        self._ways: dict[str, deque[tuple[int, Pose]]] = {}

    def add(self, message: Any, time_ns: int, *, is_static: bool) -> None:
        """Process the transforms of a message."""
        for one in message.transforms:
            t, q, child = one.transform.translation, one.transform.rotation, one.child_frame_id
            pose = Pose(_vector(t), (q.w, q.x, q.y, q.z))
            self._put(child, one.header.frame_id)
            if is_static:
                self._mounts[child] = pose
            else:
                self._ways.setdefault(child, deque(maxlen=_MOST_POSES)).append((_stamp(one), pose))
            self._stream.pose(self._path(child), pose, None if is_static else time_ns)

    def _put(self, child: str, parent: str) -> None:
        """Put a frame below another, which must not be below it."""
        above: str | None = parent
        while above is not None:
            if above == child:
                raise SpecError(f"frame {child!r} sits on {parent!r}, which sits on it; frames must form a tree")
            above = self._parents.get(above)
        self._parents[child] = parent

    def in_world(self, points: NDArray[np.float64], frame: str, times_ns: NDArray[np.int64]) -> NDArray[np.float64]:
        """Points of a frame in the world, each by the poses at its own time."""
        while frame in self._parents:
            if frame in self._mounts:
                points = self._mounts[frame].apply(points)
            else:
                way = self._ways[frame]
                known_ns = np.array([at for at, _ in way], np.int64)
                distinct, place = np.unique(np.clip(times_ns, known_ns[0], known_ns[-1]), return_inverse=True)
                poses = Pose.stack([pose for _, pose in way]).reshape((len(way), 1, 1))
                points = interpolated(known_ns, poses, distinct)[:, 0, 0][place].apply(points)
            if np.isinf(points).any():
                raise ValueError(f"points of frame {frame!r} are too far away for a number")
            frame = self._parents[frame]
        return points

    def _path(self, frame: str) -> list[str]:
        """Names of all frames below the world down to this one; mounts come first, when bodies have not moved yet."""
        path = [frame]
        while (parent := self._parents.get(path[0], "world")).rpartition("/")[2] != "world":
            path.insert(0, parent)
        return path


def _cloud(message: Any) -> NDArray[np.void]:
    """A cloud's points as records."""
    names, kinds, offsets = [], [], []
    for field in message.fields:
        names.append(field.name)
        kinds.append(_POINT_KINDS[field.datatype])
        offsets.append(field.offset)
    kind = np.dtype({"names": names, "formats": kinds, "offsets": offsets, "itemsize": message.point_step})
    return np.frombuffer(bytes(message.data), kind)


def _offsets_ns(cloud: NDArray[np.void]) -> NDArray[np.int64]:
    """When each point was measured after the cloud's stamp [ns]."""
    names = cloud.dtype.names or ()
    if "t" in names:
        return cloud["t"].astype(np.int64)
    if "time" not in names:
        return np.zeros(len(cloud), np.int64)
    time_s = _finite_or_nan(cloud["time"], "time")
    if not (np.abs(time_s) < _LONGEST_CLOUD_S).all():
        raise ValueError(f"a point was measured more than {_LONGEST_CLOUD_S:g} s from its cloud's stamp, or at no time")
    return np.rint(time_s * 1e9).astype(np.int64)


def _finite_or_nan(column: NDArray[Any], name: str) -> NDArray[np.float64]:
    """Numbers of a cloud; NaN is a point that was not measured; infinite ones cannot be transformed."""
    with np.errstate(invalid="ignore"):  # of NaNs that signal
        numbers = column.astype(np.float64)
    if np.isinf(numbers).any():
        raise ValueError(f"{name} of a point is infinite")
    return numbers


def _stamp(message: Any) -> int:
    return int(message.header.stamp.sec) * 1_000_000_000 + int(message.header.stamp.nanosec)


# Encoding -> type of a number, how many a pixel has, and in which order they are red, green, blue (and opacity)
_GRAY, _RGB, _BGR, _RGBA, _BGRA = (0,), (0, 1, 2), (2, 1, 0), (0, 1, 2, 3), (2, 1, 0, 3)
_ENCODINGS: dict[str, tuple[str, int, tuple[int, ...]]] = {
    **dict.fromkeys(("mono8", "8UC1"), ("u1", 1, _GRAY)),
    **dict.fromkeys(("mono16", "16UC1"), ("u2", 1, _GRAY)),
    "8SC1": ("i1", 1, _GRAY),
    "16SC1": ("i2", 1, _GRAY),
    "32SC1": ("i4", 1, _GRAY),
    "32FC1": ("f4", 1, _GRAY),
    "64FC1": ("f8", 1, _GRAY),
    "rgb8": ("u1", 3, _RGB),
    **dict.fromkeys(("bgr8", "8UC3"), ("u1", 3, _BGR)),
    "rgb16": ("u2", 3, _RGB),
    **dict.fromkeys(("bgr16", "16UC3"), ("u2", 3, _BGR)),
    "rgba8": ("u1", 4, _RGBA),
    **dict.fromkeys(("bgra8", "8UC4"), ("u1", 4, _BGRA)),
    **{f"bayer_{order}8": ("u1", 1, _GRAY) for order in ("rggb", "bggr", "grbg", "gbrg")},
    **{f"bayer_{order}16": ("u2", 1, _GRAY) for order in ("rggb", "bggr", "grbg", "gbrg")},
    "32FC2": ("f4", 2, (0, 1)),
    "32FC3": ("f4", 3, _RGB),
}


def can_be_shown(encoding: str) -> bool:
    """Whether `pixels_of` supports an encoding."""
    return encoding in _ENCODINGS


def pixels_of(message: Any) -> NDArray[Any]:
    """An image's pixels, shape (height, width) or (height, width, 3 or 4); rows may be padded.

    Vectors (32FC2 such as optical flow, 32FC3 such as normals) become colors: 0.5 + 0.5 v / |v|max for x, y and z,
    gray where a vector has no z, black where it is not finite.
    """
    kind, channels, order = _ENCODINGS[message.encoding]
    dtype = np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<")
    rows = np.frombuffer(bytes(message.data), np.uint8).reshape(message.height, message.step)
    wide = np.ascontiguousarray(rows[:, : message.width * channels * dtype.itemsize]).view(dtype)
    pixels = wide.astype(dtype.newbyteorder("="), copy=False)
    if channels == 1:
        return pixels
    pixels = pixels.reshape(message.height, message.width, channels)[..., list(order)]
    return _colors(pixels) if message.encoding.startswith("32FC") else pixels


def _colors(vectors: NDArray[Any]) -> NDArray[np.uint8]:
    """Vectors (height, width, 2 or 3) as colors."""
    is_finite = np.isfinite(vectors).all(axis=-1)
    v = np.where(is_finite[..., None], vectors, 0.0).astype(np.float64)
    largest = np.sqrt((v * v).sum(axis=-1).max(initial=0.0)) or 1.0
    colors = np.full((*v.shape[:2], 3), 0.5)
    colors[..., : v.shape[-1]] += 0.5 * v / largest
    return np.where(is_finite[..., None], np.rint(255.0 * colors), 0.0).astype(np.uint8)
