"""MCAP recordings: replayed as worlds, read as logs, shown, and recovered."""

import atexit
import io
import json
import tempfile
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from mcap.reader import make_reader
from mcap.writer import CompressionType, Writer
from numpy.typing import NDArray

from fuzz.reader import Reader, must_be_finite
from sensorium.analysis import read_log
from sensorium.core.errors import RecordError, SpecError
from sensorium.record.mcap.recover import recover
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message, header, quaternion, vector
from sensorium.view.viewer.mcap_file import show_mcap
from sensorium.view.viewer.stream import Stream
from sensorium.worlds import Replay

_TF, _IMU = "tf2_msgs/msg/TFMessage", "sensor_msgs/msg/Imu"
_CLOUD, _IMAGE = "sensor_msgs/msg/PointCloud2", "sensor_msgs/msg/Image"
_MCAP = ("sensorium.files.mcap_messages", "mcap.reader", "mcap.stream_reader", "mcap.records", "mcap.data_stream")
_WORDS = (b"zstd", b"lz4", b"/tf", b"world", b"cdr", b"json", _TF.encode(), _IMU.encode(), b"\x06", b"\x89MCAP0\r\n")


# What is in the files


def tf(k: int, *frames: tuple[str, str], turned: Sequence[float] = (1.0, 0.0, 0.0, 0.0)) -> tuple[str, Message]:
    """Poses of frames, given as parent and child, at the k-th tenth of a second, turned by a quaternion (w first)."""
    stamp_ns = k * 100_000_000
    transforms = [
        {
            "header": header(stamp_ns, parent),
            "child_frame_id": child,
            "transform": {"translation": vector((0.5 * k, 0.0, 1.0)), "rotation": quaternion(turned)},
        }
        for parent, child in frames
    ]
    return "/tf", Message(_TF, stamp_ns, {"transforms": transforms})


def joints(k: int, **positions: float) -> tuple[str, Message]:
    """Joints at the k-th tenth of a second."""
    fields = {
        "header": header(k * 100_000_000, ""),
        "name": list(positions),
        "position": np.array(list(positions.values()), np.float64),
        "velocity": np.ones(len(positions)),
        "effort": np.zeros(0),
    }
    return "/joint_states", Message("sensor_msgs/msg/JointState", 0, fields)


def _imu(k: int) -> tuple[str, Message]:
    fields = {
        "header": header(1_700_000_000_000_000_000 + k * 5_000_000, "imu"),
        "orientation": quaternion((1.0, 0.0, 0.0, 0.0)),
        "orientation_covariance": np.zeros(9),
        "angular_velocity": vector((0.1 * k, 0.2, -0.1 * k)),
        "angular_velocity_covariance": np.zeros(9),
        "linear_acceleration": vector((0.0, 0.1 * k, 9.8)),
        "linear_acceleration_covariance": np.zeros(9),
    }
    return "/imu/data", Message(_IMU, 0, fields)


def cloud(k: int, points: NDArray[np.void]) -> tuple[str, Message]:
    """Points as records of float32 or float64, seen from the car at the k-th tenth of a second."""
    kind, count = points.dtype, len(points)
    assert kind.fields is not None
    fields = [
        {"name": name, "offset": offset, "datatype": {4: 7, 8: 8}[number.itemsize], "count": 1}
        for name, (number, offset) in kind.fields.items()
    ]
    content = {
        "header": header(k * 100_000_000, "car"),
        **{"height": 1, "width": count, "fields": fields, "is_bigendian": False},
        **{"point_step": kind.itemsize, "row_step": kind.itemsize * count, "data": points.view(np.uint8)},
        "is_dense": True,
    }
    return "/lidar/points", Message(_CLOUD, 0, content)


def _four_points() -> NDArray[np.void]:
    return np.arange(12, dtype="<f4").view([(axis, "<f4") for axis in "xyz"])


def _image(k: int) -> tuple[str, Message]:
    pixels = np.arange(12, dtype=np.uint8)
    size = {"height": 2, "width": 2, "encoding": "rgb8", "is_bigendian": 0, "step": 6, "data": pixels}
    return "/camera/image_raw", Message(_IMAGE, 0, {"header": header(k, "car"), **size})


def _motion() -> list[tuple[str, Message]]:
    made = []
    for k in range(3):
        made += [tf(k, ("world", "car"), ("car", "arm")), joints(k, wheel=0.5 * k)]
    return made


def written(
    messages: Iterable[tuple[str, str, bytes]],
    *,
    compression: CompressionType = CompressionType.NONE,
    schemas: dict[str, bytes] | None = None,
    encoding: str = "cdr",
    chunked: bool = True,
) -> bytes:
    """A file of messages, each as topic, type and bytes."""
    file = io.BytesIO()
    writer = Writer(file, compression=compression, use_chunking=chunked)
    writer.start(profile="ros2")
    channels: dict[str, int] = {}
    for number, (topic, kind, data) in enumerate(messages):
        if topic not in channels:
            text = (schemas or {}).get(kind) or _definition(kind)
            schema = writer.register_schema(kind, "ros2msg", text)
            channels[topic] = writer.register_channel(topic, encoding, schema)
        writer.add_message(channels[topic], number, data, number)
    writer.finish()
    return file.getvalue()


@cache
def _definition(kind: str) -> bytes:
    return cdr.definition(kind)


def encoded(messages: Iterable[tuple[str, Message]]) -> list[tuple[str, str, bytes]]:
    """Messages as `written` takes them."""
    return [(topic, message.kind, bytes(cdr.encoded(message))) for topic, message in messages]


def _files(messages: list[tuple[str, Message]]) -> list[bytes]:
    given = encoded(messages)
    every = (CompressionType.NONE, CompressionType.LZ4, CompressionType.ZSTD)
    return [*(written(given, compression=each) for each in every), written(given, chunked=False)]


# What reads them


def _replay(path: Path) -> None:
    world = Replay(path)
    world.start(1)
    for _ in range(3):
        state = world.state()
        must_be_finite(position=state.X_WB.position, quaternion=state.X_WB.quaternion, v=state.v_WB, w=state.w_WB)
        must_be_finite(joint=state.joint_position, joint_velocity=state.joint_velocity)
        world.step()


def read_signal(path: Path) -> None:
    """A log, by times that it has itself or by a rate."""
    for rate_hz in (None, 100.0):
        log = read_log(path, rate_hz=rate_hz)
        must_be_finite(values=log.values, rate_hz=log.rate_hz)


@cache
def _stream() -> Stream:
    """One viewer's file for all, since opening one takes far longer than showing a file of ours."""
    folder = tempfile.TemporaryDirectory()
    atexit.register(folder.cleanup)
    return Stream(Path(folder.name) / "all.rrd", "fuzz")


def _show(path: Path) -> None:
    show_mcap(path, _stream())


def _recover(path: Path) -> None:
    done = recover(path, path.with_suffix(".recovered.mcap"), force=True)
    with done.path.open("rb") as file:
        found = sum(1 for _ in make_reader(file, validate_crcs=True).iter_messages())
    done.path.unlink()
    assert found == sum(done.messages.values())


# Parts of files, tried by themselves


def _with_tf(data: bytes) -> bytes:
    return written([*encoded([tf(0, ("world", "car"))]), ("/tf", _TF, data)])


def _with_shown(data: bytes) -> bytes:
    """A frame and then a message of the type that the first byte chooses."""
    kinds = (_CLOUD, _IMAGE, _TF, "diagnostic_msgs/msg/DiagnosticArray", "sensor_msgs/msg/JointState")
    kind = kinds[data[0] % len(kinds) if data else 0]
    return written([*encoded([tf(0, ("world", "car"))]), ("/lidar/x", kind, data[1:])])


def _with_schema(text: bytes) -> bytes:
    """A log of a type of its own, which the file defines."""
    rows = [
        ("/imu", "my_msgs/msg/Reading", bytes([0, 1, 0, 0]) + np.full(5, k + 1.0).tobytes() + b"\0") for k in range(4)
    ]
    return written(rows, schemas={"my_msgs/msg/Reading": text or b"\n"})


def _with_json(data: bytes) -> bytes:
    """A log of lines of JSON, each a message."""
    rows = [("/imu", "imu", line) for line in data.split(b"\n")]
    return written(rows, schemas={"imu": b"angular_velocity"}, encoding="json")


_SCHEMA = b"float64[2] stamp\ngeometry_msgs/Vector3 angular_velocity\nuint8 a\n"


def _json_lines(folder: Path) -> list[bytes]:
    rows: list[dict[str, Any]] = [
        {"header": {"stamp": {"sec": k, "nanosec": 0}}, "angular_velocity": {"x": 0.1 * k, "y": 0.2, "z": -0.1 * k}}
        for k in range(4)
    ]
    return [b"\n".join(json.dumps(row).encode() for row in rows)]


def _messages_of(*messages: tuple[str, Message]) -> list[bytes]:
    return [data for _, _, data in encoded(messages)]


def _shown_messages(folder: Path) -> list[bytes]:
    frames = tf(1, ("world", "car"), ("car", "arm"))
    return [bytes([0, *data]) for data in _messages_of(cloud(1, _four_points()))] + [
        bytes([number, *data]) for number, data in enumerate(_messages_of(_image(1), frames), start=1)
    ]


# Rerun, written in Rust, keeps buffers for all its threads, and what it has not written yet
_RERUN_BYTES = 1 << 32

_SHOW = ("sensorium.view.viewer.mcap_file", *_MCAP[1:])
_LOG = ("sensorium.analysis.mcap_log", "sensorium.analysis.signal_log", *_MCAP)
_REPLAY = (*(f"sensorium.worlds.replay.{name}" for name in ("motion_mcap", "track", "joint_track")), *_MCAP)

READERS = (
    Reader("mcap-replay", ".mcap", _replay, (SpecError,), lambda folder: _files(_motion()), _REPLAY, words=_WORDS),
    Reader(
        *("mcap-replay-tf", ".mcap", _replay, (SpecError,)),
        lambda folder: _messages_of(tf(1, ("world", "car")), tf(2, ("world", "car"), ("world", "van"))),
        *(_REPLAY, _with_tf),
        words=(b"world", b"car", b"world_3/world", b"world_3/car"),
    ),
    Reader(
        *("mcap-log", ".mcap", read_signal, (SpecError,)),
        lambda folder: _files([_imu(k) for k in range(4)]),
        _LOG,
        words=_WORDS,
    ),
    Reader(
        *("mcap-log-schema", ".mcap", read_signal, (SpecError,), lambda folder: [_SCHEMA]),
        *((*_LOG, "rosbags.typesys.msg", "rosbags.typesys.peg"), _with_schema),
        words=(
            b"float64",
            b"string",
            b"[",
            b"]",
            b"[<=",
            b"===\n",
            b"MSG: ",
            b"uint8 A=1\n",
            b"bool",
            b"my_msgs/Reading r\n",
            b"4000000000",
        ),
    ),
    Reader(
        *("mcap-log-json", ".mcap", read_signal, (SpecError,), _json_lines, _LOG, _with_json),
        words=(b'"header"', b'"stamp"', b'"sec"', b'"x"', b'"timestamp"', b"NaN", b"Infinity", b"-"),
    ),
    Reader(
        *("mcap-show", ".mcap", _show, (SpecError, RecordError)),
        lambda folder: _files([*_motion(), cloud(1, _four_points()), _image(1), _imu(1)]),
        _SHOW,
        words=_WORDS,
        memory_bytes=_RERUN_BYTES,
    ),
    Reader(
        "mcap-show-message",
        ".mcap",
        _show,
        (SpecError, RecordError),
        _shown_messages,
        _SHOW,
        _with_shown,
        (b"car", b"world", b"arm"),
        _RERUN_BYTES,
    ),
    Reader(
        *("mcap-recover", ".mcap", _recover, (SpecError, RecordError)),
        lambda folder: [cut for file in _files(_motion()) for cut in (file, file[: len(file) // 2])],
        ("sensorium.record.mcap.recover", *_MCAP[2:]),
        words=_WORDS,
    ),
)
