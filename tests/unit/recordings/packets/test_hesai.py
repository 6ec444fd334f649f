"""Hesai packets against bytes that the test packs itself, and against recorded bytes."""

import calendar
import struct

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import hesai
from sensorium.recordings.readers.rosbags import read_bag_packets
from tests.unit.recordings.real import lidar

RNG = np.random.default_rng(28)
DATE = (121, 7, 30, 23, 59, 58)


def packed(layout, mode, azimuth, pixels, time_us, sequence) -> bytes:
    """One packet by struct: azimuth (firings,), pixels (firings, channels, returns, 2 or 3 numbers)."""
    date = bytes(DATE)
    if layout.name == "Pandar40P":
        data, block = b"", b"\xff\xee"
    elif layout.name == "Pandar64":
        data, block = struct.pack("<2s6B", b"\xee\xff", 64, 6, 0, 4, 0, 0), b""
    else:
        protocol = (6, 1) if "XT" in layout.name else (3, 1)
        data = struct.pack(
            "<2s10B", b"\xee\xff", *protocol, 0, 0, layout.channels, layout.blocks, 0, 4, pixels.shape[2], 0
        )
        block = b""
    for firing, count in zip(pixels, azimuth, strict=True):
        for r in range(firing.shape[1]):
            data += block + struct.pack("<H", count)
            data += b"".join(struct.pack("<H" + "B" * (len(each) - 1), *each) for each in firing[:, r].tolist())
    if layout.name in ("Pandar64", "Pandar40P"):
        data += struct.pack("<8xHIBB", 600, time_us, mode, 0x42) + date
    elif layout.name == "PandarQT64":
        data += struct.pack("<10xHIBB", 600, time_us, mode, 0x42) + date
    else:
        data += struct.pack("<10xBH", mode, 600) + date + struct.pack("<IB", time_us, 0x42)
    return data + (struct.pack("<I", sequence) if sequence is not None else b"")


@pytest.mark.parametrize("size", hesai.LAYOUTS)
@pytest.mark.parametrize("mode", [0x37, 0x39])
def test_firings_are_those_that_struct_packs(size, mode):
    layout, n, returns = hesai.LAYOUTS[size], 4, len(hesai.RETURNS[mode])
    is_numbered = "sequence" in layout.dtype.names
    firings, numbers = layout.blocks // returns, 3 if layout.name.startswith(("PandarQT", "PandarXT")) else 2
    azimuth = RNG.integers(0, 36000, (n, firings))
    pixels = RNG.integers(0, 256, (n, firings, layout.channels, returns, numbers))
    pixels[..., 0] = RNG.integers(0, 65536, pixels.shape[:-1])
    times = RNG.integers(0, 1_000_000, n).tolist()
    data = b"".join(
        packed(layout, mode, azimuth[k], pixels[k], times[k], 1000 + k if is_numbered else None) for k in range(n)
    )
    assert len(data) == n * size
    packets = hesai.decode(data, layout)
    assert hesai.encode(packets) == data
    assert hesai.is_marked(packets, layout).all()
    found = hesai.firings(packets, layout, mode)
    np.testing.assert_array_equal(found.azimuth, azimuth)
    np.testing.assert_array_equal(found.distance, pixels[..., 0])
    np.testing.assert_array_equal(found.reflectivity, pixels[..., 1])
    if numbers == 3:
        np.testing.assert_array_equal(found.confidence, pixels[..., 2])
    assert hesai.encode(hesai.packets_of(found, layout, mode, packets)) == data
    expected = [calendar.timegm((2021, *DATE[1:])) * 1_000_000 + each for each in times]
    np.testing.assert_array_equal(hesai.time_us(packets), expected)


@pytest.mark.parametrize("size", hesai.LAYOUTS)
def test_a_blank_packet_is_known_as_its_model(size):
    layout = hesai.LAYOUTS[size]
    fired = hesai.firings(np.zeros(3, layout.dtype), layout, 0x39)
    assert hesai.is_marked(hesai.packets_of(fired, layout, 0x39, hesai.blank(layout, 0x39)), layout).all()


def test_packets_of_another_model_are_not_marked():
    layout = hesai.LAYOUTS[1080]
    assert not hesai.is_marked(np.zeros(2, layout.dtype), layout).any()
    with pytest.raises(SpecError, match="1079 bytes are no PandarXT-32 packets; each has 1080"):
        hesai.decode(bytes(1079), layout)


@pytest.mark.parametrize("name", ["pandar64", "40p", "qt64", "xt32"])
def test_recorded_bytes_decoded_and_encoded_again_are_identical(name):
    payloads = read_bag_packets(lidar(name)[0]).payloads
    data, layout = b"".join(payloads), hesai.LAYOUTS[len(payloads[0])]
    packets = hesai.decode(data, layout)
    assert hesai.encode(packets) == data
    assert hesai.is_marked(packets, layout).all()
    mode = int(packets["mode"][0])
    assert hesai.encode(hesai.packets_of(hesai.firings(packets, layout, mode), layout, mode, packets)) == data
