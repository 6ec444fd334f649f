"""CRC-64 of rows of bytes (ECMA-182, reflected, as in XZ), eight bytes at a time."""

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit

_POLYNOMIAL = 0xC96C5795D7870F42
_BYTE, _EIGHT = np.uint64(0xFF), np.uint64(8)


def crc64(data: NDArray[np.uint8]) -> NDArray[np.uint64]:
    """CRC-64 of rows of bytes.

    Args:
        data: Bytes, shape (n, length).

    Returns:
        Shape (n,).
    """
    crc = np.empty(len(data), np.uint64)
    _crc_rows(data, _tables(), crc)
    return crc


@jit.kernel
def _crc_rows(data: Any, tables: Any, crc: Any) -> None:
    """The state after eight bytes is the sum (XOR) of what each of them, eight to one places from the end, makes."""
    n, length = data.shape
    whole = length - length % 8
    for row in range(n):
        state = ~np.uint64(0)
        for at in range(0, whole, 8):
            after = np.uint64(0)
            for k in range(8):
                after ^= tables[7 - k, (state ^ np.uint64(data[row, at + k])) & _BYTE]
                state >>= _EIGHT
            state = after
        for at in range(whole, length):
            state = tables[0, (state ^ np.uint64(data[row, at])) & _BYTE] ^ (state >> _EIGHT)
        crc[row] = ~state


@cache
def _tables() -> NDArray[np.uint64]:
    """CRC of a byte that 0 to 7 zeros follow, shape (8, 256)."""
    one = np.arange(256, dtype=np.uint64)
    for _ in range(8):
        odd = (one & np.uint64(1)).astype(bool)
        one = (one >> np.uint64(1)) ^ np.where(odd, np.uint64(_POLYNOMIAL), np.uint64(0))
    tables = [one]
    for _ in range(7):
        tables.append(one[tables[-1] & _BYTE] ^ (tables[-1] >> _EIGHT))
    return np.stack(tables)
