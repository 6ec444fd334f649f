"""Recordings of real lidars: captures, bags and OSF files, read and measured."""

import json
from pathlib import Path

import numpy as np

from fuzz import captures, osf_files
from fuzz.reader import Reader, must_be_finite
from sensorium.core.errors import SpecError
from sensorium.recordings.measure.lidar import measure_lidar
from sensorium.recordings.measurement import checked, load_measurement
from sensorium.recordings.packets import hesai, ouster, velodyne
from sensorium.recordings.readers.calibration import read_angles
from sensorium.recordings.readers.lidar import read_lidar

_MODULES = (
    *(f"sensorium.recordings.readers.{name}" for name in ("pcap", "rosbag1", "rosbags", "osf", "flatbuffers", "lidar")),
    *(f"sensorium.recordings.readers.{name}" for name in ("columns", "velodyne", "hesai", "ouster")),
    *(f"sensorium.recordings.measure.{name}" for name in ("lidar", "lidar_rays", "lidar_noise", "lidar_bias")),
)
_WORDS = (b"\xff\xee", b"\xee\xff", b"\x37\x22", b"\x39\x22", b"\x37\xa1", b"op=", b"conn=", b"size=", b"\x45", b"\x60")
_METADATA = {
    "prod_line": "OS-1-8",
    "data_format": {
        **{"columns_per_frame": 64, "columns_per_packet": 16, "pixels_per_column": 8},
        **{"udp_profile_lidar": "RNG19_RFL8_SIG16_NIR16", "pixel_shift_by_row": [0, 3] * 4},
    },
    "beam_altitude_angles": [7, 5, 3, 1, -1, -3, -5, -7],
    "beam_azimuth_angles": [1, -1] * 4,
}


def _measured(path: Path, calibration: Path | None = None) -> None:
    """A recording, as far as `sensorium measure` goes."""
    recording = read_lidar(path, calibration=calibration)
    must_be_finite(azimuth=recording.azimuth, range=recording.range_m, time=recording.time_ns)
    if recording.elevation is not None:
        must_be_finite(points=recording.points_S())
    found = checked(measure_lidar(recording))
    must_be_finite(**{f"figure {k}": figure[1] for k, figure in enumerate(found.figures)})


def _ouster(path: Path) -> None:
    (path.parent / "metadata.json").write_text(json.dumps(_METADATA))
    _measured(path, path.parent / "metadata.json")


def _metadata(path: Path) -> None:
    capture = path.parent / "ouster.pcap"
    if not capture.exists():
        capture.write_bytes(_ouster_capture())
    _measured(capture, path)


def _vlp16(count: int, mode: int) -> list[bytes]:
    """Packets of a head that turns 15 times as fast as a real one, in a room of 4 m."""
    rng, model = np.random.default_rng(count), velodyne.MODELS[0x22]
    groups, _ = velodyne.layout_of(model, mode)
    shape = (count, groups * 2, 16, len(velodyne.RETURNS[mode]))
    fired = velodyne.Firings(
        (600 * np.arange(count * groups).reshape(count, groups) % 36000).astype(np.uint16),
        (2000 + rng.integers(0, 9, shape)).astype(np.uint16),
        rng.integers(0, 256, shape).astype(np.uint8),
    )
    packets = velodyne.packets_of(fired, 1327 * np.arange(count), model, mode)
    return [velodyne.encode(packets[k : k + 1]) for k in range(count)]


def _hesai(size: int, count: int) -> list[bytes]:
    layout = hesai.LAYOUTS[size]
    fired = hesai.firings(np.zeros(count, layout.dtype), layout, 0x39)
    steps = np.arange(fired.azimuth.size).reshape(fired.azimuth.shape)
    fired = fired._replace(azimuth=(900 * steps % 36000).astype(np.uint16), distance=np.full_like(fired.distance, 900))
    packets = hesai.packets_of(fired, layout, 0x39, hesai.blank(layout, 0x39))
    packets["time_us"], packets["month"], packets["day"] = 200 * np.arange(count), 1, 1
    return [hesai.encode(packets[k : k + 1]) for k in range(count)]


def _ouster_capture() -> bytes:
    packets = np.zeros(16, ouster.packet_type("RNG19_RFL8_SIG16_NIR16", 8, 16))
    column = np.arange(16 * 16).reshape(16, 16)
    packets["header"]["kind"], packets["header"]["frame"] = 1, column[:, 0] // 64
    packets["columns"]["time_ns"], packets["columns"]["column"] = 97_656 * column, column % 64
    packets["columns"]["status"] = 1
    words = {"range_mm": 4000 + column % 7, "signal": 300 + column % 5, "reflectivity": 40 + column % 3}
    packets["columns"]["pixels"] = ouster.words_of(words, "RNG19_RFL8_SIG16_NIR16")[:, :, None]
    whole = [ouster.encode(packets[k : k + 1]) for k in range(16)]
    parts = [part for k, each in enumerate(whole) for part in captures.fragments(each, 1480, number=k)]
    return captures.pcap([captures.ethernet(part) for part in parts])


def lidar_captures(folder: Path) -> list[bytes]:
    """Captures of a VLP-16, single and dual, an XT-32 and a 40P, and two in other forms."""
    frames = [[captures.ethernet(captures.udp(each)) for each in _vlp16(20, mode)] for mode in (0x37, 0x39)]
    frames += [[captures.ethernet(captures.udp(each)) for each in _hesai(size, 20)] for size in (1080, 1262)]
    return [captures.pcap(each) for each in frames] + [captures.pcapng(frames[0]), captures.pcap(frames[1], order=">")]


def _bags(folder: Path) -> list[bytes]:
    kinds = {"velodyne_msgs/VelodyneScan": _vlp16(20, 0x39), "pandar_msgs/PandarScan": _hesai(1072, 16)}
    made = []
    for kind, packets in kinds.items():
        message = captures.scan_message(kind, packets, is_ros1=True)
        made += [captures.rosbag1(kind, [message], packing=packing) for packing in ("none", "bz2", "lz4")]
    for kind, packets in kinds.items():
        path = folder / "seed.db3"
        path.unlink(missing_ok=True)
        kind = kind.replace("/", "/msg/")
        made.append(captures.sqlite_bag(path, kind, [captures.scan_message(kind, packets)]).read_bytes())
    return made


def _osf(folder: Path) -> list[bytes]:
    rng, scans = np.random.default_rng(1), []
    for k in range(3):
        fields = {
            1: (4000 + rng.integers(0, 9, (8, 64))).astype(np.uint32),
            3: rng.integers(0, 900, (8, 64)).astype(np.uint16),
            5: rng.integers(0, 256, (8, 64)).astype(np.uint8),
        }
        time_ns = 97_656 * (np.arange(64) + 64 * k)
        scans.append({"fields": fields, "time_ns": time_ns, "column": np.arange(64), "status": np.ones(64)})
    return [osf_files.osf(_METADATA, scans, packed=packed) for packed in (osf_files.png, osf_files.zpng)]


def _angles(path: Path) -> None:
    elevation, azimuth = read_angles(path, 4)
    must_be_finite(elevation=elevation, azimuth=azimuth)


def _angle_files(folder: Path) -> list[bytes]:
    rows = "".join(f"{k + 1},{10 - k},{0.5 * k}\n" for k in range(4))
    return [f"Laser id,Elevation,Azimuth\n{rows}".encode()]


def _laser_files(folder: Path) -> list[bytes]:
    rows = "".join(f"- {{laser_id: {k}, rot_correction: 0.1, vert_correction: -0.{k}}}\n" for k in range(4))
    return [f"lasers:\n{rows}".encode()]


def _load(path: Path) -> None:
    found = load_measurement(path)
    for curve in found.curves:
        must_be_finite(x=curve.x, y=curve.y, low=curve.low, high=curve.high)


def _measurements(folder: Path) -> list[bytes]:
    path = folder / "seed.pcap"
    path.write_bytes(lidar_captures(folder)[0])
    measure_lidar(read_lidar(path)).save(folder / "seed.json")
    return [(folder / "seed.json").read_bytes()]


READERS = (
    Reader("lidar-capture", ".pcap", _measured, (SpecError,), lidar_captures, _MODULES, words=_WORDS),
    Reader(
        *("lidar-fragments", ".pcap", _ouster, (SpecError,), lambda folder: [_ouster_capture()], _MODULES),
        words=_WORDS,
    ),
    Reader("lidar-bag", ".bag", _measured, (SpecError,), _bags, _MODULES, words=_WORDS),
    Reader("lidar-osf", ".osf", _measured, (SpecError,), _osf, _MODULES, words=(b"\x89PNG", b"OSF$", b"IHDR")),
    Reader(
        *("lidar-metadata", ".json", _metadata, (SpecError,)),
        lambda folder: [json.dumps(_METADATA).encode()],
        _MODULES,
        words=(b"columns_per_frame", b"LEGACY", b"RNG15_RFL8_NIR8", b"data_format", b"[]", b"{}", b"1e9"),
    ),
    Reader(
        *("lidar-angles-csv", ".csv", _angles, (SpecError,), _angle_files),
        ("sensorium.recordings.readers.calibration",),
        words=(b"nan", b",", b"\n"),
    ),
    Reader(
        *("lidar-angles-yaml", ".yaml", _angles, (SpecError,), _laser_files),
        ("sensorium.recordings.readers.calibration",),
        words=(b"laser_id:", b"- ", b"rot_correction: "),
    ),
    Reader(
        *("measurement", ".json", _load, (SpecError,), _measurements, ("sensorium.recordings.measurement",)),
        words=(b"figures", b"value", b"NaN", b"1e400", b"[]", b"null"),
    ),
)
