"""OSF files of Ouster's tools: scans whose fields are packed as PNG or, by newer tools, as ZPNG.

A file is a header, chunks of messages and metadata, each a FlatBuffer with its size before and a CRC-32 behind it. A
PNG is destaggered: its row k is shifted by the sensor's `pixel_shift_by_row`, which is undone here. ZPNG is a header of
eight bytes and a Zstandard frame of differences along rows, of each byte by itself; the bytes of 32-bit values are
planes, and the first three of them are b, g - b and g - r.
"""

import io
import json
import struct
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SensoriumError, SpecError, in_one_line
from sensorium.files.plain_files import read_whole
from sensorium.recordings.packets import ouster
from sensorium.recordings.readers.flatbuffers import Table, root
from sensorium.recordings.readers.ouster import Metadata, metadata_of
from sensorium.recordings.scans import FULL_TURN, LidarRecording

MARK = b"OSF$"
_MOST_BYTES = 1 << 32
_SENSOR, _SCANS = b"ouster/v1/os_sensor/LidarSensor", b"ouster/v1/os_sensor/LidarScanStream"
_FIELDS = {
    1: "range_mm",
    2: "range_mm_2",
    3: "signal",
    4: "signal_2",
    5: "reflectivity",
    6: "reflectivity_2",
    7: "background",
}
_CRC_BYTES = 4
_ZPNG = b"\xf8\xfb"

# Pixels that all scans may unpack to, and how many more a byte of the file
_SMALL_PIXELS, _PIXELS_A_BYTE = 1 << 24, 64


class _Scan(NamedTuple):
    """One turn: times, ids and statuses of its columns, and fields of shape (columns, channels)."""

    time_ns: NDArray[Any]
    column: NDArray[Any]
    status: NDArray[Any]
    fields: dict[str, NDArray[np.uint32]]


def is_osf(start: bytes) -> bool:
    """Whether a file that begins with these bytes is an OSF file."""
    return start[8:12] == MARK


def read_osf(path: str | PathLike[str]) -> LidarRecording:
    """Columns of the one sensor of a file."""
    path = Path(path)
    content = read_whole(path, _MOST_BYTES, "an OSF file")
    if not is_osf(content[:12]):
        raise SpecError(f"{str(path)!r} is no OSF file")
    try:
        return _recording(memoryview(content), path.name)
    except (SensoriumError, MemoryError):
        raise
    except (struct.error, ValueError, KeyError, TypeError, AttributeError, OverflowError, IndexError) as error:
        raise SpecError(f"{path.name!r} is no whole OSF file: {in_one_line(error)}") from None


def _recording(view: memoryview, name: str) -> LidarRecording:
    head, at = root(view)
    end = head.number(2, "Q")
    about, _ = root(view, end)
    metadata, shifts, scans = _sensor(about, name)
    found, left = list[_Scan](), _SMALL_PIXELS + _PIXELS_A_BYTE * len(view)
    at += _CRC_BYTES
    while at < end:
        chunk, at = root(view, at)
        at += _CRC_BYTES
        for message in chunk.tables(0):
            if message.number(1, "I") in scans:
                scan = _scan(root(message.octets(2))[0], metadata, shifts, name)
                left -= sum(values.size for values in scan.fields.values())
                if left < 0:
                    raise SpecError(f"{name!r} unpacks to more pixels than a file of its size may")
                found.append(scan)
    if not found:
        raise SpecError(f"{name!r} has no scans of {metadata.device}")
    return _joined(found, metadata, name)


def _sensor(about: Table, name: str) -> tuple[Metadata, NDArray[np.int64], set[int]]:
    """Metadata and shifts of the sensor, and numbers of the streams of its scans."""
    entries = [(each.number(0, "I"), bytes(each.octets(1)), each.octets(2)) for each in about.tables(4)]
    sensors = [root(data)[0].octets(0) for _, kind, data in entries if kind == _SENSOR]
    if len(sensors) != 1:
        raise SpecError(f"{name!r} has {len(sensors)} sensors; files of one sensor are read")
    given = json.loads(bytes(sensors[0]))
    metadata = metadata_of(given)
    form = given.get("data_format", given.get("lidar_data_format", {}))
    shifts = np.asarray(form["pixel_shift_by_row"], np.int64)
    if shifts.shape != (metadata.channels,):
        raise SpecError(f"{name!r} has shifts of {shifts.size} rows; the sensor has {metadata.channels}")
    return metadata, shifts, {number for number, kind, _ in entries if kind == _SCANS}


def _scan(message: Table, metadata: Metadata, shifts: NDArray[np.int64], name: str) -> _Scan:
    columns = metadata.columns_per_turn
    kinds = message.array(1, "<u2")  # two bytes each: field and type
    source = (np.arange(columns)[None] + shifts[:, None]) % columns
    fields = {}
    for kind, channel in zip(kinds.tolist(), message.tables(0), strict=True):
        field = _FIELDS.get(kind & 0xFF)
        if field is not None:
            data, size = channel.octets(0), (columns, metadata.channels)
            is_zpng = bytes(data[:2]) == _ZPNG
            image = _zpng_image(data, size, name) if is_zpng else _png_image(data, size, name)
            fields[field] = (image if is_zpng else np.take_along_axis(image, source, axis=1)).T
    if "range_mm" not in fields or "reflectivity" not in fields:
        raise SpecError(f"{name!r} has a scan without ranges and reflectivities")
    headers = message.array(2, "<u8"), message.array(3, "<u2"), message.array(4, "<u4")
    if any(len(values) != columns for values in headers):
        raise SpecError(f"{name!r} has a scan without times of its {columns} columns")
    return _Scan(*headers, fields)


def _png_image(data: memoryview, size: tuple[int, int], name: str) -> NDArray[np.uint32]:
    """Counts of a PNG of 8, 16, 24 or 32 bits, shape (channels, columns)."""
    from PIL import Image

    if bytes(data[:4]) != b"\x89PNG":
        raise SpecError(f"{name!r} has fields that are packed neither as PNG nor as ZPNG")
    try:
        with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
            if image.size != size:
                raise SpecError(f"{name!r} has an image of {image.size} pixels; the sensor has {size}")
            values = np.asarray(image, np.uint32)
    except (SensoriumError, MemoryError):
        raise
    except Exception as error:  # Pillow raises many kinds for broken images
        raise SpecError(f"{name!r} has an image that cannot be unpacked: {in_one_line(error)}") from None
    if values.ndim == 3:
        values = np.sum(values << (8 * np.arange(values.shape[2], dtype=np.uint32)), axis=2, dtype=np.uint32)
    return values


def _zpng_image(data: memoryview, size: tuple[int, int], name: str) -> NDArray[np.uint32]:
    """Counts of a ZPNG of 8, 16 or 32 bits, shape (channels, columns)."""
    import zstandard

    _, width, height, planes, width_bytes = struct.unpack_from("<HHHBB", data)
    pixel = planes * width_bytes
    if (width, height) != size or pixel not in (1, 2, 4):
        raise SpecError(f"{name!r} has an image of {(width, height)} pixels of {pixel} bytes; the sensor has {size}")
    most = width * height * pixel
    try:
        with zstandard.ZstdDecompressor(max_window_size=1 << 27).stream_reader(data[8:]) as stream:
            content = stream.read(most)
    except zstandard.ZstdError as error:
        raise SpecError(f"{name!r} has an image that cannot be unpacked: {in_one_line(error)}") from None
    if len(content) != most:
        raise SpecError(f"{name!r} has an image of {len(content)} bytes; it must have {most}")
    steps = np.frombuffer(content, np.uint8)
    if planes == 4:
        blue, green, red, alpha = steps.reshape(4, height, width)
        green = green + blue
        steps = np.stack([green - red, green, blue, alpha], axis=-1)
    values = np.cumsum(steps.reshape(height, width, pixel), axis=1, dtype=np.uint8).astype(np.uint32)
    return np.sum(values << (8 * np.arange(pixel, dtype=np.uint32)), axis=2, dtype=np.uint32)


def _joined(scans: list[_Scan], metadata: Metadata, name: str) -> LidarRecording:
    """Valid columns of all scans, in the order of time."""
    time_ns, column, status = (np.concatenate(each) for each in list(zip(*scans, strict=True))[:3])
    turn = np.repeat(np.arange(len(scans), dtype=np.int32), metadata.columns_per_turn)
    valid = (status & ouster.VALID_COLUMN).astype(np.bool_) & (column < metadata.columns_per_turn) & (time_ns < 2**63)
    order = np.flatnonzero(valid)[np.argsort(time_ns[valid], kind="stable")]
    if not len(order):
        raise SpecError(f"{name!r} has no valid column of {metadata.device}")
    names = [field for field in _FIELDS.values() if all(field in scan.fields for scan in scans)]
    fields = {field: np.concatenate([scan.fields[field] for scan in scans])[order] for field in names}
    ends = ("", "_2") if "range_mm_2" in fields else ("",)

    def stacked(field: str) -> NDArray[np.uint32]:
        return np.stack([fields.get(field + end, np.zeros_like(fields["range_mm"])) for end in ends], axis=-1)

    profile = ouster.PROFILES.get(metadata.profile)
    return LidarRecording(
        device=metadata.device,
        source=name,
        is_clockwise=True,
        time_ns=time_ns[order].astype(np.int64),
        is_stamped=np.ones(len(order), np.bool_),
        azimuth=column[order] * (FULL_TURN / metadata.columns_per_turn),
        turn=turn[order],
        range_m=stacked("range_mm").astype(np.float32) * np.float32(1e-3),
        reflectivity=stacked("reflectivity").astype(np.uint8),
        signal=stacked("signal").astype(np.uint16) if "signal" in fields else None,
        background=fields["background"].astype(np.uint16) if "background" in fields else None,
        returns=("strongest", "second")[: len(ends)],
        range_unit_m=1e-3 * (1 << (profile["range_mm"].dropped if profile else 0)),
        elevation=metadata.beams.elevation,
        azimuth_offset=metadata.beams.azimuth_offset,
        channel_time_s=metadata.beams.time_s,
        columns_per_turn=metadata.columns_per_turn,
    )
