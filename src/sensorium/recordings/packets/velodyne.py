"""Packets of Velodyne lidars: VLP-16, VLP-32C, HDL-32E and VLS-128, in single and dual return mode.

A packet has 1206 bytes, little-endian: 12 blocks of 100 bytes (flag, azimuth in 0.01 deg clockwise, 32 pixels of
distance and reflectivity), the time since the full hour in microseconds, the return mode and the product.

A group is the set of blocks that share one azimuth: one block, or the four banks of a VLS-128 (flags EEFF, DDFF, CCFF,
BBFF); in dual mode each block is followed by its twin of the other return. A block of a VLP-16 holds two firings.
Sources: the decoders of github.com/tier4/nebula at 606ac41 (Apache-2.0), facts only. Recorded packets of a VLP-16 in
dual and a VLS-128 in single mode agree byte by byte; of the other models and modes no recording was at hand.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

BYTES = 1206
PIXEL = np.dtype([("distance", "<u2"), ("reflectivity", "u1")])
BLOCK = np.dtype([("flag", "<u2"), ("azimuth", "<u2"), ("pixels", PIXEL, (32,))])
PACKET = np.dtype([("blocks", BLOCK, (12,)), ("time_us", "<u4"), ("mode", "u1"), ("product", "u1")])
assert PACKET.itemsize == BYTES

BLOCKS, FLAGS = 12, (0xEEFF, 0xDDFF, 0xCCFF, 0xBBFF)
STRONGEST, LAST, DUAL = 0x37, 0x38, 0x39
RETURNS = {STRONGEST: ("strongest",), LAST: ("last",), DUAL: ("last", "strongest")}
COUNTS_PER_TURN = 36000
HOUR_US = 3_600_000_000


class Model(NamedTuple):
    """What differs between models.

    Attributes:
        name: As printed on the device.
        product: The last byte of its packets.
        channels: Channels of a firing.
        range_unit_m: Range of one count [m].
        sheet: Name of its data sheet in the library, which has its angles and times.
        firings_per_block: Firings in one block.
        banks: Blocks of one firing.
    """

    name: str
    product: int
    channels: int
    range_unit_m: float
    sheet: str
    firings_per_block: int = 1
    banks: int = 1


MODELS = {
    model.product: model
    for model in (
        Model("HDL-32E", 0x21, 32, 0.002, "velodyne-hdl32e"),
        Model("VLP-16", 0x22, 16, 0.002, "velodyne-vlp16", firings_per_block=2),
        Model("VLP-32C", 0x28, 32, 0.004, "velodyne-vlp32c"),
        Model("VLS-128", 0xA1, 128, 0.004, "velodyne-vls128", banks=4),
    )
}


class Firings(NamedTuple):
    """Firings of n packets, with g groups and f firings of c channels and r returns each.

    Attributes:
        azimuth: Azimuth of each group [0.01 deg], clockwise, shape (n, g).
        distance: Counts of range, 0 without a return, shape (n, f, c, r).
        reflectivity: Shape (n, f, c, r).
    """

    azimuth: NDArray[np.uint16]
    distance: NDArray[np.uint16]
    reflectivity: NDArray[np.uint8]


def decode(data: bytes | memoryview) -> NDArray[np.void]:
    """Packets of bytes, one after the other, shape (n,) of `PACKET`."""
    if len(data) % BYTES:
        raise SpecError(f"{len(data)} bytes are no Velodyne packets; they must be a multiple of {BYTES}")
    return np.frombuffer(data, PACKET)


def encode(packets: NDArray[np.void]) -> bytes:
    """Bytes of packets, one after the other."""
    return np.ascontiguousarray(packets, PACKET).tobytes()


def layout_of(model: Model, mode: int) -> tuple[int, int]:
    """Groups of a packet, and blocks of a group."""
    blocks = model.banks * len(RETURNS[mode])
    return BLOCKS // blocks, blocks


def firings(packets: NDArray[np.void], model: Model, mode: int) -> Firings:
    """Firings of packets that all have this model and mode; blocks that fill no group are left out."""
    n, returns = len(packets), len(RETURNS[mode])
    groups, blocks = layout_of(model, mode)
    used = packets["blocks"][:, : groups * blocks].reshape(n, groups, model.banks, returns)
    # Axes: packet, group, bank, return, firing of the block, channel of the bank
    shape = (n, groups, model.banks, returns, model.firings_per_block, 32 // model.firings_per_block)
    order, out = (0, 1, 4, 2, 5, 3), (n, groups * model.firings_per_block, model.channels, returns)
    return Firings(
        azimuth=used["azimuth"][:, :, 0, 0],
        distance=used["pixels"]["distance"].reshape(shape).transpose(order).reshape(out),
        reflectivity=used["pixels"]["reflectivity"].reshape(shape).transpose(order).reshape(out),
    )


def packets_of(given: Firings, time_us: NDArray[np.integer], model: Model, mode: int) -> NDArray[np.void]:
    """Packets of firings: the inverse of `firings`; blocks that fill no group are zero.

    Args:
        given: Firings, as many a packet as the layout has.
        time_us: Time since the full hour of each packet [us], shape (n,).
        model: Of which device.
        mode: Return mode, a key of `RETURNS`.
    """
    n, returns = len(time_us), len(RETURNS[mode])
    groups, blocks = layout_of(model, mode)
    packets = np.zeros(n, PACKET)
    packets["time_us"], packets["mode"], packets["product"] = time_us, mode, model.product
    shape = (n, groups, model.firings_per_block, model.banks, 32 // model.firings_per_block, returns)
    used = np.zeros((n, groups, model.banks, returns), BLOCK)
    used["flag"] = np.array(FLAGS[: model.banks], np.uint16)[:, None]
    used["azimuth"] = given.azimuth[:, :, None, None]
    for name, values in (("distance", given.distance), ("reflectivity", given.reflectivity)):
        pixels = values.reshape(shape).transpose(0, 1, 3, 5, 2, 4)
        used["pixels"][name] = pixels.reshape(n, groups, model.banks, returns, 32)
    packets["blocks"][:, : groups * blocks] = used.reshape(n, groups * blocks)
    return packets
