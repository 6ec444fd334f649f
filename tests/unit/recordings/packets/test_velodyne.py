"""Velodyne packets against bytes that the test packs itself, and against recorded bytes."""

import struct

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import velodyne
from sensorium.recordings.readers.rosbags import read_bag_packets
from tests.unit.recordings.real import lidar

RNG = np.random.default_rng(28)


def packed(model, mode, azimuth, distance, reflectivity, time_us) -> bytes:
    """One packet by struct: distance and reflectivity have shape (firings, channels, returns)."""
    returns, blocks = len(velodyne.RETURNS[mode]), []
    if model.name == "VLS-128":
        for group in range(1 if returns == 2 else 3):
            for bank, flag in enumerate((0xEEFF, 0xDDFF, 0xCCFF, 0xBBFF)):
                for r in range(returns):
                    pixels = [
                        (distance[group, 32 * bank + k, r], reflectivity[group, 32 * bank + k, r]) for k in range(32)
                    ]
                    blocks.append((flag, azimuth[group], pixels))
    else:
        per_block = 2 if model.name == "VLP-16" else 1
        for group in range(12 // returns):
            for r in range(returns):
                pixels = [
                    (distance[group * per_block + f, k, r], reflectivity[group * per_block + f, k, r])
                    for f in range(per_block)
                    for k in range(32 // per_block)
                ]
                blocks.append((0xEEFF, azimuth[group], pixels))
    data = b""
    for flag, count, pixels in blocks:
        data += struct.pack("<HH", flag, count) + b"".join(struct.pack("<HB", d, i) for d, i in pixels)
    return data.ljust(1200, b"\0") + struct.pack("<IBB", time_us, mode, model.product)


@pytest.mark.parametrize("model", velodyne.MODELS.values(), ids=lambda model: model.name)
@pytest.mark.parametrize("mode", velodyne.RETURNS)
def test_firings_are_those_that_struct_packs(model, mode):
    n, (groups, _) = 5, velodyne.layout_of(model, mode)
    shape = (n, groups * model.firings_per_block, model.channels, len(velodyne.RETURNS[mode]))
    azimuth = RNG.integers(0, 36000, (n, groups))
    distance, reflectivity = RNG.integers(0, 65536, shape), RNG.integers(0, 256, shape)
    time_us = RNG.integers(0, 3_600_000_000, n)
    data = b"".join(
        packed(model, mode, *of) for of in zip(azimuth, distance, reflectivity, time_us.tolist(), strict=True)
    )
    packets = velodyne.decode(data)
    assert velodyne.encode(packets) == data
    found = velodyne.firings(packets, model, mode)
    np.testing.assert_array_equal(found.azimuth, azimuth)
    np.testing.assert_array_equal(found.distance, distance)
    np.testing.assert_array_equal(found.reflectivity, reflectivity)
    np.testing.assert_array_equal(packets["time_us"], time_us)
    assert velodyne.encode(velodyne.packets_of(found, time_us, model, mode)) == data


def test_bytes_of_another_length_are_refused():
    with pytest.raises(SpecError, match="1205 bytes are no Velodyne packets"):
        velodyne.decode(bytes(1205))


@pytest.mark.parametrize("name", ["vlp16", "vls128"])
def test_recorded_bytes_decoded_and_encoded_again_are_identical(name):
    payloads = read_bag_packets(lidar(name)[0]).payloads
    data = b"".join(payloads)
    packets = velodyne.decode(data)
    assert velodyne.encode(packets) == data
    model, mode = velodyne.MODELS[int(packets["product"][0])], int(packets["mode"][0])
    fired = velodyne.firings(packets, model, mode)
    assert velodyne.encode(velodyne.packets_of(fired, packets["time_us"], model, mode)) == data
    assert len(payloads) == {"vlp16": 603, "vls128": 2193}[name]
