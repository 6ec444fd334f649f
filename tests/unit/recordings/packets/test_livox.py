"""Livox packets against bytes that the test packs itself."""

import struct
import zlib

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import livox

RNG = np.random.default_rng(29)


@pytest.mark.parametrize("layout", livox.LAYOUTS.values(), ids=lambda each: f"{each.protocol}-{each.kind}")
def test_packets_are_those_that_struct_packs(layout):
    time_ns = 10**18 + 12345
    if layout.returns:
        shape = (layout.points, layout.returns)
        xyz = RNG.integers(-200_000, 200_000, (*shape, 3))
        reflectivity = RNG.integers(0, 256, shape)
        tag = b"" if layout.kind == 0 else b"\0"
        data = b"".join(struct.pack("<3iB", *xyz[at].tolist(), reflectivity[at]) + tag for at in np.ndindex(*shape))
    else:
        values = RNG.normal(size=6).astype(np.float32)
        data = struct.pack("<6f", *values)
    stamp = struct.pack("<Q", time_ns)
    if layout.protocol == 1:
        head = struct.pack("<4BIBB", 5, 1, 1, 0, 0, 0, layout.kind) + stamp
    else:
        length = 36 + len(data)
        counts = struct.pack("<BHHHHBBB12x", 0, length, 0, layout.points, 7, 0, layout.kind, 0)
        head = counts + struct.pack("<I", zlib.crc32(stamp + data)) + stamp

    packets = livox.blank(layout, 1)
    packets["head"]["time_ns"] = time_ns
    if layout.returns:
        for axis, name in enumerate(("x_mm", "y_mm", "z_mm")):
            packets["data"][name] = xyz[..., axis]
        packets["data"]["reflectivity"] = reflectivity
    else:
        packets["data"]["rate_rad_s"], packets["data"]["acceleration_g"] = values[:3], values[3:]
    if layout.protocol == 2:
        packets["head"]["count"] = 7
        livox.sign(packets)
    assert livox.encode(packets) == head + data
    assert livox.layout_of(head + data) == layout
    assert livox.encode(livox.decode(head + data, layout)) == head + data


def test_other_bytes_are_no_packets():
    assert livox.layout_of(bytes(1362)) is None
    assert livox.layout_of(bytes(10)) is None
    with pytest.raises(SpecError, match="100 bytes are no Livox packets of kind 2; each has 1362"):
        livox.decode(bytes(100), livox.LAYOUTS[1, 2])
