"""Checksums of serial messages."""

from functools import reduce
from operator import xor

_CRC_16_POLYNOMIAL = 0x1021


def xor_checksum(text: bytes) -> int:
    """All bytes combined by exclusive or, as between $ and * of a sentence of NMEA 0183; 0 to 255."""
    return reduce(xor, text, 0)


def fletcher_checksum(data: bytes) -> bytes:
    """The two sums of Fletcher's algorithm in 8 bits, as at the end of a UBX frame.

    a_i = a_(i-1) + x_i, b_i = b_(i-1) + a_i, both modulo 256. Ref: RFC 1145; u-blox M8 receiver description, 32.4.
    """
    a = b = 0
    for byte in data:
        a = (a + byte) & 0xFF
        b = (b + a) & 0xFF
    return bytes((a, b))


def negative_sum(data: bytes) -> int:
    """The byte that makes the sum of all bytes zero modulo 256, as at the end of an Xsens message."""
    return -sum(data) & 0xFF


def _crc_16_of_byte(byte: int) -> int:
    value = byte << 8
    for _ in range(8):
        value = (value << 1) ^ (_CRC_16_POLYNOMIAL if value & 0x8000 else 0)
    return value & 0xFFFF


_CRC_16 = tuple(_crc_16_of_byte(byte) for byte in range(256))


def crc_16(data: bytes) -> int:
    """Cyclic redundancy check of 16 bits, x^16 + x^12 + x^5 + 1 from zero, highest bit first ("XMODEM").

    b"123456789" gives 0x31C3. VectorNav sends the high byte first, so that the check over message and CRC is zero.
    """
    value = 0
    for byte in data:
        value = ((value << 8) & 0xFFFF) ^ _CRC_16[(value >> 8) ^ byte]
    return value
