"""Recordings of real devices other than lidars: read, measured, and fitted."""

import io
import struct
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from rosbags.rosbag1 import Writer
from rosbags.typesys import Stores, get_typestore
from scipy.spatial.transform import Rotation

from fuzz.reader import Reader, must_be_finite
from sensorium.core.errors import SpecError
from sensorium.record.pictures import save_png
from sensorium.recordings.measure.camera import measure_camera
from sensorium.recordings.measure.depth_camera import measure_depth_camera
from sensorium.recordings.measure.gnss import measure_gnss
from sensorium.recordings.measure.imu import measure_imu
from sensorium.recordings.measure.radar import measure_radar
from sensorium.recordings.measure.radar_cube import measure_radar_cube
from sensorium.recordings.measure.waveform import measure_waveform
from sensorium.recordings.measurement import Measurement
from sensorium.recordings.readers.emva1288 import read_emva1288
from sensorium.recordings.readers.las_waveforms import read_las_waveforms
from sensorium.recordings.readers.radar_cube import read_radar_cube
from sensorium.recordings.readers.radar_lists import read_radar_list
from sensorium.recordings.readers.realsense import read_realsense
from sensorium.recordings.readers.rinex import read_rinex_observations
from sensorium.recordings.readers.still_poses import read_still_poses
from sensorium.recordings.twins import fit_recording

_NUMBERS = (b"nan", b"-1", b"1e308", b"1e-308", b"0", b"inf", b" ", b"\n", b"99999999999")


def _finite(found: Measurement) -> None:
    for figure in found.figures:
        must_be_finite(**{figure.quantity: [figure.value, figure.low, figure.high]})
    for curve in found.curves:
        must_be_finite(**{curve.quantity: np.concatenate([curve.x, curve.y, curve.low, curve.high])})


def _measured(measure: Callable[[Any], Measurement], recording: Any) -> None:
    """Measure and fit; what can be measured may be too little for a sheet."""
    _finite(measure(recording))
    with suppress(SpecError):
        fit_recording(recording)


# EMVA 1288

_LEVELS = 8


def _flat(k: int, level: int) -> np.ndarray:
    return np.random.default_rng(k).poisson(20 + 30 * level, (6, 8)).clip(0, 240).astype(np.uint8)


def _emva(path: Path) -> None:
    folder = path.parent / "images"
    if not folder.is_dir():
        folder.mkdir()
        for level in range(_LEVELS + 1):
            for k in range(3):
                save_png(folder / f"{level}_{k}.png", _flat(3 * level + k, level))
    _measured(measure_camera, read_emva1288(path))


def _emva_sets(folder: Path) -> list[bytes]:
    pairs = [f"b {1000 * k} {60 * k}\ni images/{k}_0.png\ni images/{k}_1.png\n" for k in range(1, _LEVELS + 1)]
    dark = [f"d {1000 * k}\ni images/0_0.png\ni images/0_1.png\n" for k in range(1, _LEVELS + 1)]
    whole = "v 3.0\nn 8 8 6\n" + "".join(pairs + dark) + "b 4000 240\n"
    whole += "".join(f"i images\\4_{k}.png\n" for k in range(3)) + "d 4000\n"
    return [(whole + "".join(f"i images\\0_{k}.png\n" for k in range(3))).encode()]


# RealSense

_CODES = (2000 + 5 * np.arange(63) + np.random.default_rng(1).integers(0, 9, (42, 63))).astype("<u2")


def _realsense(path: Path) -> None:
    _measured(measure_depth_camera, read_realsense(path))


def _bags(folder: Path) -> list[bytes]:
    store = get_typestore(Stores.ROS1_NOETIC)
    kinds = store.types
    header = kinds["std_msgs/msg/Header"](0, kinds["builtin_interfaces/msg/Time"](0, 0), "")
    region = kinds["sensor_msgs/msg/RegionOfInterest"](0, 0, 0, 0, False)
    K = np.array([390.0, 0, 31, 0, 390.0, 21, 0, 0, 1])
    number, pair = kinds["std_msgs/msg/Float32"], kinds["diagnostic_msgs/msg/KeyValue"]
    info = (header, 42, 63, "", np.zeros(5), K, np.zeros(9), np.zeros(12), 0, 0, region)
    image = kinds["sensor_msgs/msg/Image"](header, 42, 63, "mono16", 0, 126, _CODES.view(np.uint8).reshape(-1))
    messages = {
        "sensor_0/Depth_0/info/camera_info": kinds["sensor_msgs/msg/CameraInfo"](*info),
        "sensor_0/option/Depth Units/value": number(0.001),
        "sensor_0/option/Stereo Baseline/value": number(50.0),
        "info": pair("Name", "Intel RealSense D435"),
        "sensor_0/Depth_0/image/data": image,
    }
    made = []
    for compression in (None, Writer.CompressionFormat.BZ2, Writer.CompressionFormat.LZ4):
        path = folder / f"seed{len(made)}.bag"
        path.unlink(missing_ok=True)
        writer = Writer(path)
        if compression is not None:
            writer.set_compression(compression)
        with writer:
            for topic, message in messages.items():
                kind = message.__msgtype__
                connection = writer.add_connection(f"/device_0/{topic}", kind, typestore=store)
                for k in range(2):
                    writer.write(connection, k, store.serialize_ros1(message, kind))
        made.append(path.read_bytes())
    return made


# LAS waveforms

_PULSES = np.rint(
    20 + 300 * np.exp(-0.5 * ((np.arange(40) - 20 - np.random.default_rng(2).random((40, 1))) / 2) ** 2)
    + np.random.default_rng(3).normal(size=(40, 40))
).astype("<u2")


def _waveforms(path: Path) -> None:
    path.with_suffix(".wdp").write_bytes(bytes(60) + _PULSES.tobytes())
    _measured(measure_waveform, read_las_waveforms(path))


def _las_files(folder: Path) -> list[bytes]:
    made = []
    for kind, at, length in ((9, 30, 59), (10, 38, 67)):
        record = struct.pack("<H16sHH32sBBIIdd", 0, b"LASF_Spec", 100, 26, b"", 16, 0, 40, 1000, 1.0, 0.0)
        head = bytearray(375)
        head[:4], head[24:26] = b"LASF", b"\x01\x04"
        struct.pack_into("<H", head, 6, 4)
        struct.pack_into("<HIIBH", head, 94, 375, 375 + len(record), 1, kind, length)
        struct.pack_into("<Q", head, 247, len(_PULSES))
        points = bytearray(length * len(_PULSES))
        for k in range(len(_PULSES)):
            points[length * k + 14] = 17
            struct.pack_into("<BQIf", points, length * k + at, 1, 60 + 80 * k, 80, 20000.0)
        made.append(bytes(head) + record + bytes(points))
    return made


# Still poses


def _still(path: Path) -> None:
    (path.parent / "log_acc.txt").write_bytes(path.read_bytes())
    (path.parent / "log_gyro.txt").write_text(_log(_tumbled()[1]))
    _measured(measure_imu, read_still_poses(path.parent))


def _still_logs(folder: Path) -> list[bytes]:
    return [_log(_tumbled()[0]).encode()]


@cache
def _tumbled() -> tuple[np.ndarray, np.ndarray]:
    """Forces and rates of an IMU that lies still, is turned for a second, and lies still again."""
    rng, attitude = np.random.default_rng(4), Rotation.identity()
    force, rate = [], []
    for k in range(16):
        still, turn = 60 if k == 0 else 25, Rotation.random(random_state=k).as_rotvec()
        force += [attitude.inv().apply([0, 0, 9.8]) + 0.01 * rng.normal(size=(still, 3)), 9 * rng.normal(size=(10, 3))]
        rate += [0.001 * rng.normal(size=(still, 3)), turn * (0.1 + 0.2 * np.arange(10))[:, None]]
        attitude = attitude * Rotation.from_rotvec(turn)
    return np.concatenate(force), np.concatenate(rate)


def _log(values: np.ndarray) -> str:
    return "\n".join(f"{0.1 * k:.2f} {x:.4f} {y:.4f} {z:.4f}" for k, (x, y, z) in enumerate(values))


# RINEX


def _rinex(path: Path) -> None:
    _finite(measure_gnss(read_rinex_observations(path)))


def _rinex_files(folder: Path) -> list[bytes]:
    rng = np.random.default_rng(5)
    text = f"{'     3.04           OBSERVATION DATA    M':<60}RINEX VERSION / TYPE\n"
    text += f"{'G    3 C1C L1C S1C':<60}SYS / # / OBS TYPES\n{'':<60}END OF HEADER\n"
    for k in range(70):
        text += f"> 2024 06 24 08 {20 + k // 60:2d} {k % 60:10.7f}  0  5\n"
        for satellite in range(5):
            code = 2e7 + 500.0 * k + 0.2 * rng.normal()
            fields = (code, code / 0.190293672798, 35.0 + 2 * satellite)
            text += f"G{satellite + 1:02d}" + "".join(f"{value:14.3f} 7" for value in fields) + "\n"
    return [text.encode()]


# Radar lists


def _radar(path: Path) -> None:
    _measured(measure_radar, read_radar_list(path))


def _radar_lists(folder: Path) -> list[bytes]:
    rng = np.random.default_rng(6)
    text = "header:\n  stamp:\n    sec: 1\n    nanosec: 2\n  frame_id: radar\nv_ambiguous: 21.4\ndetections:\n"
    for azimuth in rng.uniform(-1.0, 1.0, 14):
        rate = -6.0 * np.cos(azimuth) + 0.02 * rng.normal()
        text += f"  - range: {rng.uniform(2, 90):.4f}\n    azimuth_angle: {azimuth:.5f}\n    range_rate: {rate:.5f}\n"
        text += "    invalid_azimuth: false\n    elevation_angle: 0.01\n    range_rate_std: 0.25\n"
    return [text.encode()]


# Raw samples of a radar


def _cube(path: Path) -> None:
    _finite(measure_radar_cube(read_radar_cube(path)))


def _cubes(folder: Path) -> list[bytes]:
    rng, made = np.random.default_rng(7), []
    for shape in ((60, 16), (60, 2, 16)):
        file = io.BytesIO()
        np.save(file, rng.integers(0, 9, shape) + 1j * rng.integers(65500, 65536, shape))
        made.append(file.getvalue())
    return made


READERS = (
    Reader(
        *("radar-cube", ".npy", _cube, (SpecError,), _cubes),
        ("sensorium.recordings.readers.radar_cube", "sensorium.recordings.measure.radar_cube"),
        words=(b"<c16", b"<c8", b"|O", b"(60, 16)", b"True", b"'shape'", b"\xff\xff\xff\xff", b"\x02\x00"),
    ),
    Reader(
        *("radar-list", ".yaml", _radar, (SpecError,), _radar_lists),
        ("sensorium.recordings.readers.radar_lists", "sensorium.recordings.measure.radar"),
        words=(b"\n  - ", b"\n    ", b": ", b"detections:", b"range_rate", b"true", b"azimuth_angle: 0", *_NUMBERS),
    ),
    Reader(
        *("rinex", ".obs", _rinex, (SpecError,), _rinex_files),
        ("sensorium.recordings.readers.rinex", "sensorium.recordings.measure.gnss"),
        words=(b"\n> ", b"G05", b"R01", b"END OF HEADER", b"SYS / # / OBS TYPES", b" 4 99", *_NUMBERS),
    ),
    Reader(
        *("still-poses", ".txt", _still, (SpecError,), _still_logs),
        ("sensorium.recordings.readers.still_poses", "sensorium.recordings.measure.imu_calibration"),
        words=(b"1e300", b"\n", b" ", b"\n0.5 1 2 3", *_NUMBERS),
    ),
    Reader(
        *("las-waveforms", ".las", _waveforms, (SpecError,), _las_files),
        ("sensorium.recordings.readers.las_waveforms", "sensorium.recordings.measure.waveform"),
        words=(b"LASF", b"LASF_Spec", b"\xff\xff\xff\xff", b"\x00\x00\x00\x00", b"\x01\x03", b"\x04\x00"),
    ),
    Reader(
        *("realsense-bag", ".bag", _realsense, (SpecError,), _bags),
        ("sensorium.recordings.readers.rosbag1", "sensorium.recordings.readers.realsense"),
        words=(b"op=\x02", b"op=\x05", b"op=\x07", b"conn=", b"compression=bz2", b"size=", b"\xff\xff\xff\x7f"),
    ),
    Reader(
        *("emva1288", ".txt", _emva, (SpecError,), _emva_sets),
        ("sensorium.recordings.readers.emva1288", "sensorium.recordings.measure.camera"),
        words=(b"\nb ", b"\nd ", b"\ni ", b"\nn ", b"images/1_0.png", b"images\\0_0.png", b"../", b"#", *_NUMBERS),
    ),
)
