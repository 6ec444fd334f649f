"""Packets of Hesai lidars: Pandar64, Pandar40P, PandarQT64, PandarXT-32 and XT-16, in single and dual return mode.

A packet is little-endian: a header (8 or 12 bytes; none on the 40P), blocks of one azimuth in 0.01 deg (clockwise) and
one pixel a channel (distance, reflectivity, on some confidence), a tail (return mode, motor speed, date, microseconds
of the second), and on most firmware a sequence number. In dual mode each block is followed by its twin of the other
return. Sources: the decoders of github.com/tier4/nebula at 606ac41 (Apache-2.0), facts only. Recorded packets of a
Pandar64, 40P, QT64 and XT-32, all in dual mode, agree byte by byte; of an XT-16 and of single modes none was at hand.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

COUNTS_PER_TURN = 36000
_DATE = [(name, "u1") for name in ("year", "month", "day", "hour", "minute", "second")]
_HEAD_8 = [("start", "<u2"), ("channels", "u1"), ("blocks", "u1"), ("first", "u1"), ("unit_mm", "u1"), ("zero", "<u2")]
_HEAD_12 = [
    *(("start", "<u2"), ("major", "u1"), ("minor", "u1"), ("zero", "<u2"), ("channels", "u1"), ("blocks", "u1")),
    *(("first", "u1"), ("unit_mm", "u1"), ("returns", "u1"), ("flags", "u1")),
]
_PIXEL_3 = [("distance", "<u2"), ("reflectivity", "u1")]
_PIXEL_4 = [*_PIXEL_3, ("confidence", "u1")]
_TAIL_22 = [("status", "u1", (8,)), ("motor_rpm", "<u2"), ("time_us", "<u4"), ("mode", "u1"), ("factory", "u1"), *_DATE]
_TAIL_24 = [
    *(("status", "u1", (10,)), ("motor_rpm", "<u2"), ("time_us", "<u4"), ("mode", "u1"), ("factory", "u1")),
    *_DATE,
]
_TAIL_XT = [
    *(("status", "u1", (10,)), ("mode", "u1"), ("motor_rpm", "<u2")),
    *_DATE,
    *(("time_us", "<u4"), ("factory", "u1")),
]

RETURNS = {
    0x33: ("first",),
    0x34: ("second",),
    0x37: ("strongest",),
    0x38: ("last",),
    0x39: ("last", "strongest"),
    0x3A: ("first", "second"),
    0x3B: ("first", "last"),
    0x3C: ("first", "strongest"),
    0x3E: ("strongest", "second"),
}

# Firing time of each channel within a block [us]
_TIME_40P = (
    *(-42.22, -28.47, -16.04, -3.62, -45.49, -31.74, -47.46, -54.67, -20.62, -33.71, -40.91, -8.19, -20.62, -27.16),
    *(-50.73, -8.19, -14.74, -36.98, -45.49, -52.70, -23.89, -31.74, -38.95, -11.47, -18.65, -25.19, -48.76, -6.23),
    *(-12.77, -35.01, -21.92, -9.50, -43.52, -29.77, -17.35, -4.92, -42.22, -28.47, -16.04, -3.62),
)
# Eight channels 2.057 us apart, then a pause
_TIME_QT64 = tuple(
    round(start + 2.057 * k, 2)
    for start in (12.31, 29.16, 46.61, 63.45, 80.90, 97.75, 115.20, 132.05)
    for k in range(8)
)


class Layout(NamedTuple):
    """The packets of a model.

    Attributes:
        name: Model.
        dtype: Fields of a packet.
        channels: Channels of a block.
        blocks: Blocks of a packet.
        first_block_us: Time of the first block from the packet's stamp [us], for groups g a packet of period p:
            a + b (g - 1) p as (a, b).
        channel_time_us: Time of each channel from its block's [us]; empty where the data sheet has it.
        sheet: Name of its data sheet in the library; "" if there is none.
        elevation_deg: Nominal elevations; empty where the sheet or a calibration file has them.
    """

    name: str
    dtype: np.dtype[np.void]
    channels: int
    blocks: int
    first_block_us: tuple[float, float]
    channel_time_us: tuple[float, ...] = ()
    sheet: str = ""
    elevation_deg: tuple[float, ...] = ()

    def returns(self, mode: int) -> tuple[str, ...]:
        """Name of each return; XT models send the other one first, as their recorded ranges show."""
        return RETURNS[mode][::-1] if "XT" in self.name else RETURNS[mode]


def _fields(head: list[Any], pixel: list[Any], tail: list[Any], channels: int, blocks: int, **more: bool) -> Any:
    start = [("start", "<u2")] if more.get("marked_blocks") else []
    block = np.dtype([*start, ("azimuth", "<u2"), ("pixels", np.dtype(pixel), (channels,))])
    number = [("sequence", "<u4")] if more["numbered"] else []
    return np.dtype([*([("head", np.dtype(head))] if head else []), ("blocks", block, (blocks,)), *tail, *number])


def _layouts() -> dict[int, Layout]:
    made = {}
    for numbered in (True, False):
        for layout in (
            Layout(
                "Pandar64", _fields(_HEAD_8, _PIXEL_3, _TAIL_22, 64, 6, numbered=numbered), 64, 6, (-42.58, -1.0)
            )._replace(sheet="hesai-pandar64"),
            Layout(
                "Pandar40P",
                _fields([], _PIXEL_3, _TAIL_22, 40, 10, numbered=numbered, marked_blocks=True),
                *(40, 10, (-28.58, -1.0), _TIME_40P),
            ),
            Layout(
                "PandarQT64", _fields(_HEAD_12, _PIXEL_4, _TAIL_24, 64, 4, numbered=numbered), 64, 4, (25.71, 0.0)
            )._replace(channel_time_us=_TIME_QT64),
            Layout(
                "PandarXT-32", _fields(_HEAD_12, _PIXEL_4, _TAIL_XT, 32, 8, numbered=numbered), 32, 8, (5.632, -1.0)
            )._replace(sheet="hesai-xt32"),
            Layout(
                "PandarXT-16", _fields(_HEAD_12, _PIXEL_4, _TAIL_XT, 16, 8, numbered=numbered), 16, 8, (5.632, -1.0)
            )._replace(
                channel_time_us=tuple(round(0.368 + 3.024 * k, 3) for k in range(16)),
                elevation_deg=tuple(15.0 - 2.0 * k for k in range(16)),
            ),
        ):
            made[layout.dtype.itemsize] = layout
    return made


LAYOUTS = _layouts()
"""Layout of each size of packet [bytes]."""


class Firings(NamedTuple):
    """Firings of n packets, with f firings of c channels and r returns each.

    Attributes:
        azimuth: Azimuth of each firing [0.01 deg], clockwise, shape (n, f).
        distance: Counts of range, 0 without a return, shape (n, f, c, r).
        reflectivity: Shape (n, f, c, r).
        confidence: Shape (n, f, c, r); None on models without it.
    """

    azimuth: NDArray[np.uint16]
    distance: NDArray[np.uint16]
    reflectivity: NDArray[np.uint8]
    confidence: NDArray[np.uint8] | None


def is_marked(packets: NDArray[np.void], layout: Layout) -> NDArray[np.bool_]:
    """Which packets of the layout's size have its marks, counts and a known return mode, shape (n,)."""
    modes = np.isin(packets["mode"], [*RETURNS])
    if "head" not in (layout.dtype.names or ()):
        return modes & (packets["blocks"]["start"] == 0xEEFF).all(axis=1)
    head = packets["head"]
    counts = (head["channels"] == layout.channels) & (head["blocks"] == layout.blocks)
    return modes & counts & (head["start"] == 0xFFEE)


def decode(data: bytes | memoryview, layout: Layout) -> NDArray[np.void]:
    """Packets of bytes, one after the other, shape (n,)."""
    if len(data) % layout.dtype.itemsize:
        raise SpecError(f"{len(data)} bytes are no {layout.name} packets; each has {layout.dtype.itemsize}")
    return np.frombuffer(data, layout.dtype)


def encode(packets: NDArray[np.void]) -> bytes:
    """Bytes of packets, one after the other."""
    return np.ascontiguousarray(packets).tobytes()


def firings(packets: NDArray[np.void], layout: Layout, mode: int) -> Firings:
    """Firings of packets that all have this mode."""
    returns = len(RETURNS[mode])
    blocks = packets["blocks"].reshape(len(packets), layout.blocks // returns, returns)
    pixels = blocks["pixels"].swapaxes(2, 3)
    return Firings(
        azimuth=blocks["azimuth"][:, :, 0],
        distance=pixels["distance"],
        reflectivity=pixels["reflectivity"],
        confidence=pixels["confidence"] if "confidence" in (pixels.dtype.names or ()) else None,
    )


def packets_of(given: Firings, layout: Layout, mode: int, like: NDArray[np.void]) -> NDArray[np.void]:
    """Packets of firings: the inverse of `firings`.

    Args:
        given: Firings, as many a packet as the layout has.
        layout: Of which model.
        mode: Return mode, a key of `RETURNS`.
        like: Packets whose heads and tails are taken, shape (n,) or (1,): see `blank`.
    """
    returns = len(RETURNS[mode])
    packets = np.zeros(len(given.azimuth), layout.dtype)
    for name in layout.dtype.names or ():
        if name != "blocks":
            packets[name] = like[name]
    packets["mode"] = mode
    blocks = packets["blocks"].reshape(len(packets), layout.blocks // returns, returns)
    blocks["azimuth"] = given.azimuth[:, :, None]
    if "start" in (blocks.dtype.names or ()):
        blocks["start"] = 0xEEFF
    for name in blocks["pixels"].dtype.names or ():
        blocks["pixels"][name] = getattr(given, name).swapaxes(2, 3)
    return packets


def blank(layout: Layout, mode: int) -> NDArray[np.void]:
    """One packet whose head says what it is, with all else zero, shape (1,)."""
    packet = np.zeros(1, layout.dtype)
    packet["mode"] = mode
    if "head" in (layout.dtype.names or ()):
        head = packet["head"]
        head["start"], head["channels"], head["blocks"], head["unit_mm"] = 0xFFEE, layout.channels, layout.blocks, 4
        if "returns" in (head.dtype.names or ()):
            head["major"], head["minor"], head["returns"] = (6 if "XT" in layout.name else 3), 1, len(RETURNS[mode])
    return packet


def time_us(packets: NDArray[np.void]) -> NDArray[np.int64]:
    """Time of each packet since 1970 by the device's clock [us], shape (n,).

    Firmware counts years from 1900 or from 2000; a year of 100 and more is taken for the former.
    """
    year = packets["year"].astype(np.int64)
    months = (np.where(year < 100, year + 2000, year + 1900) - 1970) * 12 + packets["month"].astype(np.int64) - 1
    days = months.astype("M8[M]").astype("M8[D]").astype(np.int64) + packets["day"].astype(np.int64) - 1
    hours = days * 24 + packets["hour"]
    seconds = (hours * 60 + packets["minute"]) * 60 + packets["second"]
    return seconds * 1_000_000 + packets["time_us"]
