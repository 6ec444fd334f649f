"""CRC-64 against its published check value, and against bits shifted one by one."""

import numpy as np
import pytest

from sensorium.recordings.packets.crc64 import crc64


def bitwise(data: bytes) -> int:
    """The definition: the polynomial divided bit by bit."""
    state = (1 << 64) - 1
    for byte in data:
        state ^= byte
        for _ in range(8):
            state = state >> 1 ^ (0xC96C5795D7870F42 if state & 1 else 0)
    return state ^ (1 << 64) - 1


def test_crc_is_that_of_xz():
    rows = np.frombuffer(b"123456789123456788", np.uint8).reshape(2, 9)
    crc = crc64(rows)
    assert int(crc[0]) == 0x995DC9BBDF1939FA
    assert crc[0] != crc[1]


@pytest.mark.parametrize("length", [0, 1, 7, 8, 9, 16, 61])
def test_rows_of_any_length_have_the_crc_of_the_definition(length):
    rows = np.random.default_rng(length).integers(0, 256, (3, length), np.uint8)
    assert crc64(rows).tolist() == [bitwise(row.tobytes()) for row in rows]
