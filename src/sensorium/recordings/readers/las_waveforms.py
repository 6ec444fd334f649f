"""Full waveforms of LAS 1.3 and 1.4 files: point formats 4, 5, 9 and 10, with samples in a .wdp file or in the file.

The header gives the places of records and points, and a record (a wave packet descriptor) gives bits, number and
spacing of samples; each point gives descriptor, offset and length of its samples, and the time of its return after the
first of them. Layouts of descriptor and .wdp file are those that `record.clouds.las_waves` writes. Ref: ASPRS, LAS
Specification 1.4 R15, 2.4 to 2.7.
"""

import os
import struct
from os import PathLike
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.files.plain_files import open_regular
from sensorium.record.clouds.las_waves import DESCRIPTOR, FIRST_DESCRIPTOR, USER

# Of the header: global encoding; version; software; size of header, place of points, number of records, format, length
_ENCODING, _VERSION, _SOFTWARE = struct.Struct("<H"), struct.Struct("<BB"), slice(58, 90)
_PLACES, _PLACES_AT = struct.Struct("<HIIBH"), 94
_OLD_COUNT, _INTERNAL, _NEW_COUNT = struct.Struct("<I"), struct.Struct("<Q"), struct.Struct("<Q")
_OLD_COUNT_AT, _INTERNAL_AT, _NEW_COUNT_AT = 107, 227, 247
_HEADER_BYTES = {3: 235, 4: 375}
_RECORD = struct.Struct("<H16sHH32s")

# Where a point's wave packet begins, by its format, and which bits of byte 14 are the number of its return
_WAVES_AT = {4: 28, 5: 34, 9: 30, 10: 38}
_RETURN_BITS = {4: 3, 5: 3, 9: 4, 10: 4}
_RETURN_BYTE = 14
_WAVE = [("index", "u1"), ("offset", "<u8"), ("size", "<u4"), ("location_ps", "<f4")]
_PACKED, _IN_FILE, _BESIDE = 0x80, 2, 4
_PS = 1e-12
_LEAST_GAIN, _MOST_GAIN = 1e-30, 1e30


class Waveforms(NamedTuple):
    """Packets of one length, each of one pulse.

    Attributes:
        spacing_s: Between samples [s].
        bits: Of a sample.
        samples: Values, gain times sample plus offset, shape (packets, bins).
        returns: Number of returns of the pulse, shape (packets,).
        location_s: Of the first return in the file after the first sample [s], shape (packets,).
        top: Value of the highest sample that the digitizer has.
    """

    spacing_s: float
    bits: int
    samples: NDArray[np.float64]
    returns: NDArray[np.int64]
    location_s: NDArray[np.float64]
    top: float


class WaveformRecording(NamedTuple):
    """Waveforms of a file.

    Attributes:
        path: The file of the points.
        software: That wrote it.
        groups: Packets by descriptor.
        points: Number of points.
    """

    path: Path
    software: str
    groups: tuple[Waveforms, ...]
    points: int


def read_las_waveforms(path: str | PathLike[str]) -> WaveformRecording:
    """Read the wave packets of a file.

    Raises:
        SpecError: It is no LAS file of a format with waveforms, is compressed, has no descriptor for a packet, or a
            packet leads out of the file.
    """
    path = Path(path)
    try:
        with open_regular(path) as file:
            return _read(path, file, os.fstat(file.fileno()).st_size)
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror or error}") from None
    except struct.error:
        raise SpecError(f"{path.name!r} is no whole LAS file; a record is cut off") from None


def _read(path: Path, file: IO[bytes], size: int) -> WaveformRecording:
    head = file.read(_HEADER_BYTES[4])
    if head[:4] != b"LASF" or len(head) < _HEADER_BYTES[3]:
        raise SpecError(f"{path.name!r} is no LAS file; it must begin with 'LASF' and a header")
    major, minor = _VERSION.unpack_from(head, 24)
    if major != 1 or minor not in _HEADER_BYTES or len(head) < _HEADER_BYTES[minor]:
        raise SpecError(f"{path.name!r} is LAS {major}.{minor}; waveforms are in 1.3 and 1.4")
    header_bytes, points_at, records, kind, length = _PLACES.unpack_from(head, _PLACES_AT)
    if kind & _PACKED:
        raise SpecError(f"{path.name!r} is compressed (LAZ); it must be LAS")
    if kind not in _WAVES_AT:
        raise SpecError(f"{path.name!r} has points of format {kind}; waveforms are in 4, 5, 9 and 10")
    least = _WAVES_AT[kind] + np.dtype(_WAVE).itemsize + 12
    counted, counted_at = (_NEW_COUNT, _NEW_COUNT_AT) if minor == 4 else (_OLD_COUNT, _OLD_COUNT_AT)
    (count,) = counted.unpack_from(head, counted_at)
    if length < least or points_at + count * length > size:
        what = f"{count} points of {length} bytes from byte {points_at} on"
        raise SpecError(f"{path.name!r} has {size} bytes and {what}; they must fit, with {least} bytes each")
    descriptors = _descriptors(path, file, header_bytes, records, size)
    file.seek(points_at)
    layout = np.dtype(
        {
            "names": ["returns", *(name for name, _ in _WAVE)],
            "formats": ["u1", *(form for _, form in _WAVE)],
            "offsets": [_RETURN_BYTE, *(_WAVES_AT[kind] + place for place in (0, 1, 9, 13))],
            "itemsize": length,
        }
    )
    points = np.frombuffer(file.read(count * length), layout)
    (encoding,) = _ENCODING.unpack_from(head, 6)
    if encoding & _BESIDE or not encoding & _IN_FILE:
        packets, begin = path.with_suffix(".wdp"), 0
        with open_regular(packets) as beside:
            groups = _groups(path, beside, begin, points, descriptors, _RETURN_BITS[kind])
    else:
        begin = _INTERNAL.unpack_from(head, _INTERNAL_AT)[0]
        groups = _groups(path, file, begin, points, descriptors, _RETURN_BITS[kind])
    software = head[_SOFTWARE].partition(b"\0")[0].decode("ascii", "replace").strip()
    return WaveformRecording(path, software, groups, count)


def _descriptors(path: Path, file: IO[bytes], at: int, records: int, size: int) -> dict[int, tuple[float, ...]]:
    """Wave packet descriptors by index: bits, packing, samples, spacing [ps], gain, offset."""
    found = {}
    for _ in range(records):
        if at + _RECORD.size > size:
            raise SpecError(f"{path.name!r} claims {records} records, which do not fit into {size} bytes")
        file.seek(at)
        _, user, number, length, _ = _RECORD.unpack(file.read(_RECORD.size))
        index = number - FIRST_DESCRIPTOR + 1
        if user.rstrip(b"\0") == USER and 1 <= index <= 255 and length == DESCRIPTOR.size:
            found[index] = DESCRIPTOR.unpack(file.read(length))
        at += _RECORD.size + length
    return found


def _groups(
    path: Path,
    file: IO[bytes],
    begin: int,
    points: NDArray[np.void],
    descriptors: dict[int, tuple[float, ...]],
    return_bits: int,
) -> tuple[Waveforms, ...]:
    """Packets of each descriptor that points use, each packet once."""
    size = os.fstat(file.fileno()).st_size
    groups = []
    for index in np.unique(points["index"]):
        if index == 0:  # a point without samples
            continue
        if int(index) not in descriptors:
            raise SpecError(f"{path.name!r} has packets of descriptor {index}; it has no such descriptor")
        bits, packing, bins, spacing_ps, gain, offset = descriptors[int(index)]
        bins = int(bins)
        is_plain = bits in (8, 16) and not packing and bins >= 1 and spacing_ps >= 1
        if not is_plain or not _LEAST_GAIN < gain < _MOST_GAIN or not abs(offset) < _MOST_GAIN:
            what = f"{bits} bits, packing {packing}, {bins} samples of {spacing_ps} ps, gain {gain}, offset {offset}"
            rule = "it must have 8 or 16 bits, unpacked, and a gain"
            raise SpecError(f"descriptor {index} of {path.name!r} has {what}; {rule}")
        own = points[points["index"] == index]
        places, first = np.unique(own["offset"], return_index=True)
        own, length = own[first], bins * int(bits) // 8
        if places.size and (int(places[-1]) + begin + length > size or len(places) * length > size):
            raise SpecError(f"packets of descriptor {index} of {path.name!r} lie beyond the end or over each other")
        samples = np.empty((len(places), bins))
        for row, place in enumerate(places):
            file.seek(begin + int(place))
            samples[row] = np.frombuffer(file.read(length), "u1" if bits == 8 else "<u2")
        with np.errstate(invalid="ignore"):  # a file may hold numbers that are none
            location = own["location_ps"].astype(np.float64)
        returns = (own["returns"].astype(np.int64) >> return_bits) & (2**return_bits - 1)
        top = gain * (2**bits - 1) + offset
        groups.append(
            Waveforms(
                *(spacing_ps * _PS, int(bits), gain * samples + offset, returns),
                *(np.where(np.isfinite(location), location, 0.0) * _PS, float(top)),
            )
        )
    if not groups:
        raise SpecError(f"{path.name!r} has no point with samples")
    return tuple(groups)
