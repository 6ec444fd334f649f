"""Tables of FlatBuffers, packed here by hand after the format's own description."""

import struct

import numpy as np
import pytest

from sensorium.recordings.readers.flatbuffers import root


def buffer(number, text, values):
    """A buffer whose root table has the fields number (u16), none, text and values (u16), in slots 0 to 3."""
    vtable = struct.pack("<HHHHHH", 12, 16, 4, 0, 8, 12)
    table_at = 4 + len(vtable)
    text_at = table_at + 16
    text_bytes = struct.pack("<I", len(text)) + text
    values_at = text_at + len(text_bytes)
    table = struct.pack("<iHHII", table_at - 4, number, 0, text_at - (table_at + 8), values_at - (table_at + 12))
    tail = struct.pack("<I", len(values)) + np.asarray(values, "<u2").tobytes()
    body = struct.pack("<I", table_at) + vtable + table + text_bytes + tail
    return struct.pack("<I", len(body)) + body


def test_fields_come_back_and_a_missing_one_has_its_default():
    data = buffer(513, b"OS-1", [1, 2, 65535])
    table, end = root(memoryview(data))
    assert end == len(data)
    assert table.number(0, "H") == 513
    assert table.number(1, "H", default=7) == table.number(9, "H", default=7) == 7
    assert bytes(table.octets(2)) == b"OS-1"
    assert table.array(3, "<u2").tolist() == [1, 2, 65535]
    assert table.tables(1) == []
    assert table.array(1, "<u2").size == 0


def test_every_buffer_that_is_cut_off_is_refused():
    data = buffer(513, b"OS-1", [1, 2, 65535])
    for length in range(len(data)):
        with pytest.raises((ValueError, struct.error)):
            root(memoryview(data[:length]))


def test_a_vector_beyond_the_end_is_refused_before_it_is_read():
    data = bytearray(buffer(513, b"OS-1", [1, 2, 3]))
    data[-10:-6] = struct.pack("<I", 2**31)
    table, _ = root(memoryview(bytes(data)))
    with pytest.raises(ValueError, match="a vector has 2147483648 items of 2 bytes beyond the buffer's end"):
        table.array(3, "<u2")
