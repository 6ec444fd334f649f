"""Messages MTData2 of Xsens' MTi series: packets of data, each with an identifier, in one message.

A message is FA, bus FF, message identifier 36, a length u8 (FF: then a length u16), packets, and a checksum that makes
the sum of all bytes after the first zero; big-endian. A packet is an identifier u16, a length u8 and its numbers, here
of 32 bits. Axes are the housing's: x forward, y left, z up. Source: Xsens MT Low Level Communication Protocol
Documentation (MT0101P).
"""

from typing import NamedTuple

import numpy as np

from sensorium.live.talkers.formats.checksums import negative_sum

PREAMBLE = 0xFA
_BUS, _MT_DATA_2, _EXTENDED = 0xFF, 0x36, 0xFF
_MOST_BYTES = 2048

SAMPLE_TIMES_PER_S = 10_000


class Item(NamedTuple):
    """One kind of data.

    Attributes:
        identifier: Number of the data, with the bits for 32-bit floats and axes of east, north and up zero.
        name: Name with unit; the magnetic field is in units of the field where the device was calibrated.
        dtype: Its numbers.
    """

    identifier: int
    name: str
    dtype: np.dtype[np.generic]


def _floats(count: int) -> np.dtype[np.generic]:
    return np.dtype((">f4", (count,)))


ITEMS = (
    Item(0x0810, "temperature_C", np.dtype(">f4")),
    Item(0x1020, "packet_counter", np.dtype(">u2")),
    Item(0x1060, "sample_time_fine", np.dtype(">u4")),
    Item(0x2010, "quaternion_wxyz", _floats(4)),
    Item(0x3010, "pressure_Pa", np.dtype(">u4")),
    Item(0x4010, "delta_velocity", _floats(3)),
    Item(0x4020, "acceleration", _floats(3)),
    Item(0x4030, "free_acceleration", _floats(3)),
    Item(0x8020, "rate_of_turn", _floats(3)),
    Item(0x8030, "delta_quaternion_wxyz", _floats(4)),
    Item(0xC020, "magnetic_field", _floats(3)),
    Item(0xE020, "status_word", np.dtype(">u4")),
)
_BY_NAME = {item.name: item for item in ITEMS}
_BY_IDENTIFIER = {item.identifier: item for item in ITEMS}

Value = int | float | tuple[float, ...]


def encode(items: dict[str, Value]) -> bytes:
    """A message with these of `ITEMS`, in the given order."""
    payload = b""
    for name, value in items.items():
        item = _BY_NAME[name]
        payload += item.identifier.to_bytes(2, "big") + bytes((item.dtype.itemsize,))
        payload += np.array(value, item.dtype.base).tobytes()
    length = bytes((len(payload),)) if len(payload) < _EXTENDED else b"\xff" + len(payload).to_bytes(2, "big")
    body = bytes((_BUS, _MT_DATA_2)) + length + payload
    return bytes((PREAMBLE,)) + body + bytes((negative_sum(body),))


def decode(message: bytes) -> dict[str, Value] | None:
    """The items of a complete message, those unknown here left out; None if it is no whole MTData2 message."""
    span = _payload_span(message)
    if span is None or message[2] != _MT_DATA_2 or len(message) != span[1] + 1 or sum(message[1:]) & 0xFF:
        return None
    items: dict[str, Value] = {}
    at, end = span
    while at < end:
        item = _BY_IDENTIFIER.get(int.from_bytes(message[at : at + 2], "big"))
        length = message[at + 2] if at + 2 < end else end
        if at + 3 + length > end or (item is not None and length != item.dtype.itemsize):
            return None
        if item is not None:
            value = np.frombuffer(message, item.dtype, count=1, offset=at + 3)[0]
            items[item.name] = tuple(value.tolist()) if item.dtype.shape else value.item()
        at += 3 + length
    return items


def split_stream(data: bytes) -> tuple[list[bytes], bytes]:
    """MTData2 messages of a stream with right checksums, and the rest that is not complete yet."""
    messages: list[bytes] = []
    at = data.find(PREAMBLE)
    while at >= 0:
        span = _payload_span(data[at : at + 6])
        if span is None and len(data) - at < 6 and data[at + 1 : at + 2] in (b"", bytes((_BUS,))):
            return messages, data[at:]
        end = at if span is None else at + span[1] + 1
        if span is not None and span[1] <= _MOST_BYTES and end > len(data):
            return messages, data[at:]
        is_message = decode(data[at:end]) is not None
        if is_message:
            messages.append(data[at:end])
        at = data.find(PREAMBLE, end if is_message else at + 1)
    return messages, b""


def _payload_span(message: bytes) -> tuple[int, int] | None:
    """Where the payload of a message begins and ends; None if that is not known yet, or never."""
    if len(message) < 4 or message[0] != PREAMBLE or message[1] != _BUS:
        return None
    if message[3] != _EXTENDED:
        return 4, 4 + message[3]
    return None if len(message) < 6 else (6, 6 + int.from_bytes(message[4:6], "big"))
