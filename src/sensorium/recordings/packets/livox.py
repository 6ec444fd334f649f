"""Packets of Livox lidars: points and IMU samples.

Little-endian. The first protocol (Mid-40, Mid-70, Avia, Horizon, Tele-15) has a header of 18 bytes (version, slot, id,
status, kind of time, kind of data, time stamp), the second (Mid-360, HAP) one of 36 (version, length, duration,
counts, kind of data, kind of time, CRC-32 of stamp and data, time stamp). Points are in millimeters in the lidar's
frame, (0, 0, 0) without a return. The packet's stamp is that of its first point; the others follow at even times.
Sources: github.com/Livox-SDK/Livox-SDK at 9306596 and Livox-SDK2 at 08f523c (MIT), livox_def.h and livox_lidar_def.h,
and their wikis' communication protocols, facts only. No recorded packets were at hand.
"""

import zlib
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

HEADER_1 = np.dtype(
    [("version", "u1"), ("slot", "u1"), ("id", "u1"), ("spare", "u1"), ("status", "<u4")]
    + [("time_kind", "u1"), ("kind", "u1"), ("time_ns", "<u8")]
)
HEADER_2 = np.dtype(
    [("version", "u1"), ("length", "<u2"), ("duration_100ns", "<u2"), ("points", "<u2"), ("count", "<u2")]
    + [("frame", "u1"), ("kind", "u1"), ("time_kind", "u1"), ("spare", "u1", (12,)), ("crc", "<u4"), ("time_ns", "<u8")]
)
assert (HEADER_1.itemsize, HEADER_2.itemsize) == (18, 36)

_XYZ = [(name, "<i4") for name in ("x_mm", "y_mm", "z_mm")]
PLAIN = np.dtype([*_XYZ, ("reflectivity", "u1")])
TAGGED = np.dtype([*_XYZ, ("reflectivity", "u1"), ("tag", "u1")])
IMU = np.dtype([("rate_rad_s", "<f4", (3,)), ("acceleration_g", "<f4", (3,))])
_CRC_FROM = HEADER_2.fields["time_ns"][1] if HEADER_2.fields else 0


class Layout(NamedTuple):
    """One kind of packet.

    Attributes:
        protocol: 1 or 2.
        kind: Number of the kind of data in the header.
        points: Pulses of a packet; 1 for an IMU sample.
        returns: Returns of a pulse; 0 for an IMU sample.
        dtype: Fields of a packet.
    """

    protocol: int
    kind: int
    points: int
    returns: int
    dtype: np.dtype[np.void]


def _layout(protocol: int, kind: int, points: int, returns: int, point: np.dtype[np.void]) -> Layout:
    head = HEADER_1 if protocol == 1 else HEADER_2
    shape = (points, returns) if returns else (points,)
    return Layout(protocol, kind, points, returns, np.dtype([("head", head), ("data", point, shape)]))


LAYOUTS = {
    (each.protocol, each.kind): each
    for each in (
        _layout(1, 0, 100, 1, PLAIN),
        _layout(1, 2, 96, 1, TAGGED),
        _layout(1, 4, 48, 2, TAGGED),
        _layout(1, 6, 1, 0, IMU),
        _layout(1, 7, 30, 3, TAGGED),
        _layout(2, 0, 1, 0, IMU),
        _layout(2, 1, 96, 1, TAGGED),
    )
}
"""Layouts by protocol and kind of data: points in Cartesian coordinates and IMU samples."""


class Model(NamedTuple):
    """What differs between models.

    Attributes:
        name: As printed on the device.
        sheet: Name of its data sheet in the library.
        protocol: 1 or 2.
        kinds: Kind of data with one, two and three returns, as far as it has them.
        imu_kind: Kind of data of an IMU sample; None without an IMU.
    """

    name: str
    sheet: str
    protocol: int
    kinds: tuple[int, ...]
    imu_kind: int | None


MODELS = {
    model.name: model
    for model in (
        Model("Mid-40", "livox-mid40", 1, (0,), None),
        Model("Mid-70", "livox-mid70", 1, (2, 4), None),
        Model("Avia", "livox-avia", 1, (2, 4, 7), 6),
        Model("Horizon", "livox-horizon", 1, (2, 4), 6),
        Model("Tele-15", "livox-tele15", 1, (2, 4), 6),
        Model("Mid-360", "livox-mid360", 2, (1,), 0),
        Model("HAP", "livox-hap", 2, (1,), None),
    )
}


def layout_of(data: bytes | memoryview) -> Layout | None:
    """The layout whose size and header a packet has; None if it is none of them."""
    for layout in LAYOUTS.values():
        if len(data) == layout.dtype.itemsize:
            head = np.frombuffer(data, layout.dtype)["head"][0]
            if head["kind"] == layout.kind and (layout.protocol == 1 or head["length"] == len(data)):
                return layout
    return None


def decode(data: bytes | memoryview, layout: Layout) -> NDArray[np.void]:
    """Packets of bytes, one after the other, shape (n,)."""
    if len(data) % layout.dtype.itemsize:
        size = layout.dtype.itemsize
        raise SpecError(f"{len(data)} bytes are no Livox packets of kind {layout.kind}; each has {size}")
    return np.frombuffer(data, layout.dtype)


def encode(packets: NDArray[np.void]) -> bytes:
    """Bytes of packets, one after the other."""
    return np.ascontiguousarray(packets).tobytes()


def blank(layout: Layout, n: int) -> NDArray[np.void]:
    """Packets whose heads say what they are, with all else zero, shape (n,)."""
    packets = np.zeros(n, layout.dtype)
    head = packets["head"]
    head["kind"] = layout.kind
    if layout.protocol == 1:
        head["version"], head["slot"], head["id"] = 5, 1, 1
    else:
        head["length"], head["points"] = layout.dtype.itemsize, layout.points
    return packets


def sign(packets: NDArray[np.void]) -> None:
    """Write the CRC-32 of stamp and data into the headers of the second protocol."""
    rows = packets.view(np.uint8).reshape(len(packets), packets.dtype.itemsize)
    packets["head"]["crc"] = [zlib.crc32(row[_CRC_FROM:].tobytes()) for row in rows]
