"""OSF files, with a small writer of FlatBuffers, as tests and the fuzzer need them."""

import io
import json
import struct

import numpy as np
from PIL import Image


def table(*fields) -> bytes:
    """A table that begins after its vtable: fields are bytes of a number, ("vector", bytes with length), or None.

    Returned are the bytes and where the table begins in them.
    """
    return b"".join(_parts(fields)[0])


def _parts(fields):
    inline, later, slots = b"", [], []
    for field in fields:
        if field is None:
            slots.append(0)
            continue
        inline += bytes(-(4 + len(inline)) % 8)
        slots.append(4 + len(inline))
        if isinstance(field, tuple):
            later.append((len(inline), field[1]))
            inline += bytes(4)
        else:
            inline += field
    vtable = struct.pack(f"<HH{len(slots)}H", 4 + 2 * len(slots), 4 + len(inline), *slots)
    body, rest = bytearray(inline), b""
    for at, vector in later:
        struct.pack_into("<I", body, at, len(inline) - at + len(rest))
        rest += vector
    return [vtable, struct.pack("<i", len(vtable)), bytes(body), rest], len(vtable)


def table_start(fields) -> int:
    return _parts(fields)[1]


def octets(data: bytes):
    return ("vector", struct.pack("<I", len(data)) + data)


def numbers(values, kind: str):
    data = np.asarray(values).astype(kind)
    return ("vector", struct.pack("<I", len(data)) + data.tobytes())


def tables(rows):
    """A vector of tables, each a list of fields."""
    bodies, offsets, at = b"", [], 4 * len(rows)
    for k, fields in enumerate(rows):
        offsets.append(at + len(bodies) + table_start(fields) - 4 * k)
        bodies += table(*fields)
    return ("vector", struct.pack("<I", len(rows)) + struct.pack(f"<{len(rows)}I", *offsets) + bodies)


def buffer(*fields, mark: bytes = b"") -> bytes:
    """A buffer with its size before it."""
    head = 4 + len(mark)
    body = struct.pack("<I", head + table_start(fields)) + mark + table(*fields)
    return struct.pack("<I", len(body)) + body


def png(values: np.ndarray) -> bytes:
    """An image of 8, 16 or 32 bits."""
    if values.dtype == np.uint32:
        image = Image.fromarray(values.astype("<u4").view(np.uint8).reshape(*values.shape, 4), "RGBA")
    else:
        image = Image.fromarray(values)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def zpng(values: np.ndarray) -> bytes:
    """An image of 8, 16 or 32 bits, by loops."""
    import zstandard

    height, width = values.shape
    pixel = values.dtype.itemsize
    content = values.astype(values.dtype.newbyteorder("<")).view(np.uint8).reshape(height, width, pixel).astype(int)
    steps = np.diff(content, axis=1, prepend=0)
    if pixel == 4:
        red, green, blue, alpha = np.moveaxis(steps, -1, 0)
        steps = np.stack([blue, green - blue, green - red, alpha])
    head = struct.pack("<HHHBB", 0xFBF8, width, height, *{1: (1, 1), 2: (1, 2), 4: (4, 1)}[pixel])
    return head + zstandard.compress((steps % 256).astype(np.uint8).tobytes())


def osf(metadata: dict, scans: list[dict], *, sensors: int = 1, packed=png) -> bytes:
    """A file of scans, each with `time_ns`, `column`, `status`, and fields of shape (channels, columns) by number."""
    shifts = np.array(metadata["data_format"]["pixel_shift_by_row"])
    messages = []
    for scan in scans:
        channels, kinds = [], []
        for kind, values in scan["fields"].items():
            shifted = np.stack([np.roll(row, shift) for row, shift in zip(values, shifts, strict=True)])
            channels.append([octets(packed(values if packed is zpng else shifted))])
            kinds.append(kind | {1: 1, 2: 2, 4: 3}[values.dtype.itemsize] << 8)
        headers = numbers(scan["time_ns"], "<u8"), numbers(scan["column"], "<u2"), numbers(scan["status"], "<u4")
        message = buffer(tables(channels), numbers(kinds, "<u2"), *headers)
        messages.append([struct.pack("<Q", 1), struct.pack("<I", 2), octets(message)])
    chunk = buffer(tables(messages), mark=b"OSF!") + bytes(4)
    entries = [
        [
            struct.pack("<I", 1),
            octets(b"ouster/v1/os_sensor/LidarSensor"),
            octets(buffer(octets(json.dumps(metadata).encode()))),
        ]
    ] * sensors
    entries += [
        [struct.pack("<I", 2), octets(b"ouster/v1/os_sensor/LidarScanStream"), octets(buffer(struct.pack("<I", 1)))]
    ]
    about = buffer(None, None, None, None, tables(entries), mark=b"OSF#") + bytes(4)

    def head(offset: int) -> bytes:
        fields = struct.pack("<Q", 21), b"\2", struct.pack("<Q", offset), struct.pack("<Q", offset + len(about))
        return buffer(*fields, mark=b"OSF$") + bytes(4)

    return head(len(head(0)) + len(chunk)) + chunk + about
