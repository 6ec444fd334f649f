"""MCAP recordings with ROS 2 messages, as Sensorium writes them, in Rerun.

Rerun opens such files itself, but shows clouds as they were reported: each point in the frame that its lidar had when
the ray was fired, drawn at another time. Here they are put into the world by the poses of /tf and /tf_static at each
point's own time, labels get their colours, and signals and faults their places.
"""

from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SensoriumError, SpecError
from sensorium.frames import Pose
from sensorium.mcap_messages import LABELS, in_one_line
from sensorium.view.viewer.stream import Stream
from sensorium.worlds.interpolation import interpolated

# Poses of a body that are remembered for clouds that arrive late
_MOST_POSES = 4096

_POINT_KINDS = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "<i4", 6: "<u4", 7: "<f4", 8: "<f8"}
_PIXELS = {"mono8": ("u1", 1), "8UC1": ("u1", 1), "rgb8": ("u1", 3), "bgr8": ("u1", 3), "mono16": ("<u2", 1)}
_PIXELS |= {"16UC1": ("<u2", 1), "32FC1": ("<f4", 1)}
_XYZ = ("x", "y", "z")


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
    "sensor_msgs/msg/JointState": [("joint", ("position", "velocity"), lambda m: [m.position[0], m.velocity[0]])],
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


def show_mcap(path: Path, stream: Stream, progress: Callable[[float], None] = lambda part: None) -> int:
    """Show all of a recording that can be shown; gives the number of messages.

    Args:
        path: The file.
        stream: Where.
        progress: Called with the part that is done, 0 to 1.
    """
    frames, shown = _Frames(stream), 0
    for topic, kind, time_ns, message in _messages(path, progress, stream.names):
        shown += 1
        sensor = topic.strip("/").rpartition("/")[0] or topic.strip("/")
        if kind == "tf2_msgs/msg/TFMessage":
            frames.add(message, time_ns, is_static=topic == "/tf_static")
        elif kind == "sensor_msgs/msg/PointCloud2":
            cloud = _cloud(message)
            xyz = np.stack([cloud[axis] for axis in _XYZ], axis=-1).astype(np.float64)
            label = cloud["label"] if "label" in (cloud.dtype.names or ()) else np.zeros(len(cloud), np.int32)
            points_W = frames.in_world(xyz, message.header.frame_id, _stamp(message) + _offsets_ns(cloud))
            stream.cloud(sensor, points_W, label, time_ns)
        elif kind == "sensor_msgs/msg/Image":
            stream.image(sensor, _pixels(message), time_ns)
        elif kind == "diagnostic_msgs/msg/DiagnosticArray":
            for status in message.status:
                level = status.level if isinstance(status.level, int) else int.from_bytes(status.level, "little")
                stream.words(f"{status.name} is {status.message}", time_ns, is_bad=level > 0)
        elif kind in _NUMBERS:
            of_message = topic.strip("/").rpartition("/")[2]
            for name, words, values in _NUMBERS[kind]:
                quantity = of_message if name == "increment" else name
                stream.numbers(
                    [sensor, quantity],
                    [f"{quantity} {w}" if w != quantity else w for w in words],
                    values(message),
                    time_ns,
                )
        else:
            shown -= 1
    return shown


class _Frames:
    """Frames of a recording: who sits on whom, and where bodies were lately."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._parents: dict[str, str] = {}
        self._mounts: dict[str, Pose] = {}
        self._ways: dict[str, deque[tuple[int, Pose]]] = {}

    def add(self, message: Any, time_ns: int, *, is_static: bool) -> None:
        """Take what a message tells."""
        for one in message.transforms:
            t, q, child = one.transform.translation, one.transform.rotation, one.child_frame_id
            pose = Pose(_vector(t), (q.w, q.x, q.y, q.z))
            self._parents[child] = one.header.frame_id
            if is_static:
                self._mounts[child] = pose
            else:
                self._ways.setdefault(child, deque(maxlen=_MOST_POSES)).append((_stamp(one), pose))
            self._stream.pose(self._path(child), pose, None if is_static else time_ns)

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
            frame = self._parents[frame]
        return points

    def _path(self, frame: str) -> list[str]:
        """Names of all frames below the world down to this one; mounts come first, when bodies have not moved yet."""
        path = [frame]
        while (parent := self._parents.get(path[0], "world")).rpartition("/")[2] != "world":
            path.insert(0, parent)
        return path


def _messages(
    path: Path, progress: Callable[[float], None], labels: Callable[[dict[str, int]], None]
) -> Iterator[tuple[str, str, int, Any]]:
    """Topic, kind, time of logging [ns] and content of every message, in order of time.

    Args:
        path: The file.
        progress: Called with the part that is read, 0 to 1.
        labels: Called with the number of each label name, where the file tells.
    """
    from mcap.reader import make_reader
    from rosbags.typesys import Stores, get_typestore

    store = get_typestore(Stores.ROS2_HUMBLE)
    try:
        file = path.open("rb")
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror}") from None
    try:
        with file:
            reader = make_reader(file, validate_crcs=True)
            summary = reader.get_summary()
            if summary is None or summary.statistics is None:
                raise SpecError(
                    f"{path.name!r} has no summary; it was cut off and must be recovered: sensorium recover"
                )
            for metadata in reader.iter_metadata():
                if metadata.name == LABELS:
                    labels({name: int(number) for number, name in metadata.metadata.items()})
            first_ns, last_ns = summary.statistics.message_start_time, summary.statistics.message_end_time
            for schema, channel, message in reader.iter_messages(log_time_order=True):
                progress((message.log_time - first_ns) / max(last_ns - first_ns, 1))
                if schema is None or channel.message_encoding != "cdr" or schema.name not in store.types:
                    continue
                yield channel.topic, schema.name, message.log_time, store.deserialize_cdr(message.data, schema.name)
    except SensoriumError:
        raise
    except Exception as error:  # broken bytes make readers, decompressors and parsers raise whatever they have
        what = f"{path.name!r} is not a whole MCAP file ({in_one_line(error)})"
        raise SpecError(f"{what}; try sensorium recover") from None


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
    return np.rint(cloud["time"] * 1e9).astype(np.int64) if "time" in names else np.zeros(len(cloud), np.int64)


def _pixels(message: Any) -> NDArray[Any]:
    """An image's pixels; rows may be padded."""
    if message.encoding not in _PIXELS:
        raise SpecError(f"an image's encoding is {message.encoding!r}; it must be one of {', '.join(_PIXELS)}")
    kind, channels = _PIXELS[message.encoding]
    dtype = np.dtype(kind)
    rows = np.frombuffer(bytes(message.data), np.uint8).reshape(message.height, message.step)
    pixels = np.ascontiguousarray(rows[:, : message.width * channels * dtype.itemsize]).view(dtype)
    if channels == 1:
        return pixels
    pixels = pixels.reshape(message.height, message.width, channels)
    return pixels[..., ::-1] if message.encoding == "bgr8" else pixels


def _stamp(message: Any) -> int:
    return int(message.header.stamp.sec) * 1_000_000_000 + int(message.header.stamp.nanosec)
