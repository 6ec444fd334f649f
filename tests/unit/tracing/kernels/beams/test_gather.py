"""What arrives along the rays of a beam, where there is room and where there is not."""

import numpy as np

from sensorium.tracing.kernels.beams import gather
from sensorium.tracing.kernels.light import choose


def test_without_room_the_strongest_stay():
    rng = np.random.default_rng(0)
    for _ in range(50):
        light, kept, filled = rng.permutation(40).astype(np.float32) + 1.0, np.zeros(12, np.float32), 0
        for value in light:
            at = gather._place(kept, filled, value)
            if at >= 0:
                kept[at], filled = value, max(filled, at + 1)
        assert sorted(kept.tolist()) == sorted(light.tolist())[-12:]


def test_air_arrives_with_its_share_of_the_beam_and_no_object():
    arrivals = gather.new_arrivals(3, 10)
    air_f, air_i, _ = gather.new_air()
    for ray, strength in ((4, 2.0), (5, 6.0)):
        choose.offer(
            air_f, air_i, 8, np.int32(ray), np.float32(strength), np.float32(strength), np.float32(7.5), np.int32(4),
            np.int32(1), choose.NOBODY, choose.NOBODY, np.int32(3),
        )  # fmt: skip
    weight, pulse = np.full(512, 0.25, np.float32), np.full(512, 1, np.int32)
    gather.add_air(air_f, air_i, arrivals, weight, pulse, np.int64(1), 6)
    assert arrivals.filled.tolist() == [0, 0, 2]
    np.testing.assert_allclose(arrivals.light[2, :2], [0.5, 1.5])
    np.testing.assert_allclose(arrivals.opl[2, :2], 7.5)
    assert gather.told_of.py_func(arrivals.sender[2, 0]) == (choose.NOBODY, 3, 1)
    assert arrivals.face[2, 0] == -1
