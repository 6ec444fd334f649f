"""Records of returns: position, intensity, time, label, what is extra; then ring, cause and return in one word."""

import struct

import numpy as np

from sensorium.record.ros2.pack_points import ReturnWords, pack_points

RETURNS, CHANNELS, COLUMNS = 2, 2, 3
RAYS, ALL = CHANNELS * COLUMNS, RETURNS * CHANNELS * COLUMNS


def test_what_is_kept_is_written_in_order_and_the_rest_is_left():
    rng = np.random.default_rng(3)
    xyz, intensity = rng.random((ALL, 3), np.float32), rng.random(ALL, np.float32)
    time_ns, label = rng.integers(0, 2**32, RAYS, np.uint32), rng.integers(-5, 5, ALL, np.int32)
    width, cause = rng.random((ALL, 1), np.float32), rng.integers(0, 256, ALL, np.uint8)
    keep = rng.random(ALL) < 0.6
    keep[[0, -1]] = True, True
    out = np.full((ALL, 8), 0xAAAAAAAA, np.uint32)
    numbers = (xyz, intensity, label, width)
    returns = ReturnWords(*(array.view(np.uint32) for array in numbers), cause)
    count = pack_points(out, keep, returns, time_ns.reshape(-1, 1), COLUMNS)
    assert count == keep.sum()
    assert (out[count:] == 0xAAAAAAAA).all()
    for record, at in zip(out, np.flatnonzero(keep).tolist(), strict=False):
        x, y, z, shine, t, number, broad, ring, why, which = struct.unpack("<ffffIifHBB", record.tobytes())
        ray = at % RAYS
        assert (x, y, z, shine, broad) == (*xyz[at].tolist(), intensity[at], width[at, 0])
        assert (t, number, why) == (time_ns[ray], label[at], cause[at])
        assert (which, ring) == (at // RAYS, ray // COLUMNS)


def test_numbers_of_eight_bytes_take_two_words():
    xyz = np.array([[1e9 + 0.25, -2.0, 3.5]])
    time_s = np.array([[5.000000001]])
    out = np.zeros((1, 11), np.uint32)
    none = np.zeros(1, np.uint32)
    one = np.ones(1, np.bool_)
    no_extra = np.zeros((1, 0), np.uint32)
    returns = ReturnWords(xyz.view(np.uint32), none, none, no_extra, np.zeros(1, np.uint8))
    pack_points(out, one, returns, time_s.view(np.uint32), 1)
    assert struct.unpack("<dddfdiHBB", out.tobytes()) == (*xyz[0].tolist(), 0.0, 5.000000001, 0, 0, 0, 0)
