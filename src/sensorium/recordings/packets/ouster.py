"""Packets of Ouster lidars: legacy and configurable profiles, and packets of the IMU.

A packet is little-endian: a header of 32 bytes, columns (time stamp, measurement id, status, one pixel a channel), and
a footer of 32 bytes whose last eight are a CRC-64. Legacy packets have neither header nor footer; each of their columns
has the frame id and the encoder's count, and its status at its end. A pixel is some words of 32 bits, and a field is
some bits of one word. Sources: github.com/ouster-lidar/ouster-sdk at 46b7bce (BSD), facts only. Recorded packets of the
legacy and of the RNG15_RFL8_NIR8 profile agree byte by byte; of the others no packets were at hand.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

IMU_PACKET = np.dtype(
    [(name, "<u8") for name in ("time_ns", "accelerometer_ns", "gyroscope_ns")]
    + [("acceleration_g", "<f4", (3,)), ("rate_deg_s", "<f4", (3,))]
)
HEADER = np.dtype(
    [("kind", "<u2"), ("frame", "<u2"), ("session_and_serial", "u1", (8,)), ("alerts", "u1"), ("spare", "u1", (3,))]
    + [("countdowns", "u1", (2,)), ("shutdown", "u1"), ("limiting", "u1"), ("more", "u1", (12,))]
)
FOOTER = np.dtype([("spare", "u1", (24,)), ("crc", "<u8")])
assert (HEADER.itemsize, FOOTER.itemsize, IMU_PACKET.itemsize) == (32, 32, 48)

LIDAR_KIND, VALID_COLUMN = 1, 1
MOST_CHANNELS, MOST_COLUMNS = 256, 4096
LEGACY = "LEGACY"


class Bits(NamedTuple):
    """Where a field of a pixel is.

    Attributes:
        word: Number of the word of 32 bits.
        first: Its lowest bit in the word.
        length: How many bits.
        dropped: Lowest bits of the value that are not sent.
    """

    word: int
    first: int
    length: int
    dropped: int = 0


_RANGE_19 = {"range_mm": Bits(0, 0, 19), "flags": Bits(0, 19, 5)}
_SINGLE = {
    **_RANGE_19,
    **{"spare": Bits(0, 24, 8), "reflectivity": Bits(1, 0, 8), "spare_1": Bits(1, 8, 8), "signal": Bits(1, 16, 16)},
    **{"background": Bits(2, 0, 16), "spare_2": Bits(2, 16, 16)},
}
PROFILES = {
    LEGACY: {
        **{"range_mm": Bits(0, 0, 20), "spare": Bits(0, 20, 8), "flags": Bits(0, 28, 4), "reflectivity": Bits(1, 0, 8)},
        **{"spare_1": Bits(1, 8, 8), "signal": Bits(1, 16, 16), "background": Bits(2, 0, 16)},
        "spare_2": Bits(2, 16, 16),
    },
    "RNG19_RFL8_SIG16_NIR16": _SINGLE,
    "RNG19_RFL8_SIG16_NIR16_DUAL": {
        **_RANGE_19,
        **{"reflectivity": Bits(0, 24, 8), "range_mm_2": Bits(1, 0, 19), "flags_2": Bits(1, 19, 5)},
        **{"reflectivity_2": Bits(1, 24, 8), "signal": Bits(2, 0, 16), "signal_2": Bits(2, 16, 16)},
        **{"background": Bits(3, 0, 16), "spare": Bits(3, 16, 16)},
    },
    "RNG15_RFL8_NIR8": {
        **{"range_mm": Bits(0, 0, 15, 3), "flags": Bits(0, 15, 1), "reflectivity": Bits(0, 16, 8)},
        "background": Bits(0, 24, 8, 4),
    },
    "RNG15_RFL8_NIR8_DUAL": {
        **{"range_mm": Bits(0, 0, 15, 3), "flags": Bits(0, 15, 1), "reflectivity": Bits(0, 16, 8)},
        **{"background": Bits(0, 24, 8, 4), "range_mm_2": Bits(1, 0, 15, 3), "flags_2": Bits(1, 15, 1)},
        **{"reflectivity_2": Bits(1, 16, 8), "spare": Bits(1, 24, 8)},
    },
}
"""Fields of a pixel, by the profile's name in the metadata; together they are every bit of the pixel."""


@cache
def packet_type(profile: str, channels: int, columns: int) -> np.dtype[np.void]:
    """Fields of a lidar packet.

    Args:
        profile: A key of `PROFILES`.
        channels: Pixels of a column.
        columns: Columns of a packet.
    """
    if profile not in PROFILES:
        raise SpecError(f"udp_profile_lidar is {profile!r}; it must be one of {', '.join(PROFILES)}")
    if not (1 <= channels <= MOST_CHANNELS and 1 <= columns <= 64):
        raise SpecError(f"a packet has {columns} columns of {channels} pixels; at most 64 of {MOST_CHANNELS} are read")
    words = 1 + max(bits.word for bits in PROFILES[profile].values())
    pixels, stamps = ("pixels", "<u4", (channels, words)), [("time_ns", "<u8"), ("column", "<u2")]
    if profile == LEGACY:
        return np.dtype(
            [("columns", [*stamps, ("frame", "<u2"), ("encoder", "<u4"), pixels, ("status", "<u4")], (columns,))]
        )
    return np.dtype(
        [("header", HEADER), ("columns", [*stamps, ("status", "<u2"), pixels], (columns,)), ("footer", FOOTER)]
    )


def decode(data: bytes | memoryview, dtype: np.dtype[np.void]) -> NDArray[np.void]:
    """Packets of bytes, one after the other, shape (n,)."""
    if len(data) % dtype.itemsize:
        raise SpecError(f"{len(data)} bytes are no Ouster packets; each has {dtype.itemsize}")
    return np.frombuffer(data, dtype)


def encode(packets: NDArray[np.void]) -> bytes:
    """Bytes of packets, one after the other."""
    return np.ascontiguousarray(packets).tobytes()


def fields_of(words: NDArray[np.uint32], profile: str) -> dict[str, NDArray[np.uint32]]:
    """Fields of pixels, each of the shape of the pixels.

    Args:
        words: Pixels as words, shape (..., words).
        profile: A key of `PROFILES`.
    """
    return {name: _field(words, bits) for name, bits in PROFILES[profile].items()}


def field_of(words: NDArray[np.uint32], profile: str, name: str) -> NDArray[np.uint32]:
    """One field of pixels, shape (...) for words of shape (..., words)."""
    return _field(words, PROFILES[profile][name])


def _field(words: NDArray[np.uint32], bits: Bits) -> NDArray[np.uint32]:
    mask = np.uint32((1 << bits.length) - 1)
    return ((words[..., bits.word] >> np.uint32(bits.first)) & mask) << np.uint32(bits.dropped)


def words_of(fields: dict[str, NDArray[np.uint32]], profile: str) -> NDArray[np.uint32]:
    """Pixels as words, shape (..., words): the inverse of `fields_of`; fields that are missing are 0.

    A value that does not fit its bits raises SpecError; bits that a profile does not send are cut off.
    """
    layout = PROFILES[profile]
    unknown = [name for name in fields if name not in layout]
    if unknown:
        raise SpecError(f"field is {unknown[0]!r}; {profile} has {', '.join(layout)}")
    shape = np.broadcast_shapes(*(np.shape(values) for values in fields.values()))
    words = np.zeros((*shape, 1 + max(bits.word for bits in layout.values())), np.uint32)
    for name, values in fields.items():
        bits = layout[name]
        counts = np.asarray(values, np.uint32) >> np.uint32(bits.dropped)
        if np.any(counts >> np.uint32(bits.length)):
            raise SpecError(f"{name} is up to {np.max(values)}; {profile} has {bits.length + bits.dropped} bits for it")
        words[..., bits.word] |= counts << np.uint32(bits.first)
    return words
