"""What travels between processes: rays in columns that are no longer than they need be, and hits without misses."""

import numpy as np

from sensorium.tracing.partitioned.messages import AT_ONCE, Met, Sent, packed
from sensorium.tracing.rays import RawHits


def columns(count):
    """Origins, directions, times and limits, each ray its own."""
    rng = np.random.default_rng(count)
    numbers = [rng.uniform(0, 1, shape).astype(np.float32) for shape in ((count, 3), (count, 3), count, count)]
    return numbers[0].astype(np.float64), *numbers[1:]


def test_a_column_is_packed_where_all_rows_are_the_same():
    assert packed(np.full(5, np.inf)).shape == (1,)
    assert packed(np.tile([1.0, 2.0, 3.0], (4, 1))).tolist() == [[1, 2, 3]]
    for other in ([1.0, 1, 2, 1], [1.0, 1, 1, 2], [2.0, 1, 1, 1]):
        assert packed(np.array(other)).tolist() == other
    assert packed(np.array([[1.0, 2, 3], [1, 2, 4], [1, 2, 3]])).shape == (3, 3)
    assert packed(np.zeros(0)).shape == (0,)


def test_rays_arrive_as_they_were_sent():
    count = 1500
    for alike in range(16):  # each set of columns that all rays share
        given = [np.repeat(c[:1], count, axis=0) if alike >> k & 1 else c for k, c in enumerate(columns(count))]
        sent = Sent.of(*given)
        assert [len(sent.origin) == 1, len(sent.time) == 1, len(sent.t_max) == 1] == [
            bool(alike >> k & 1) for k in (0, 2, 3)
        ]
        assert len(sent.direction) == count
        assert sent.clear_m.tolist() == AT_ONCE.tolist()
        rays = sent.rays()
        for found, expected in zip(rays, given, strict=False):
            assert found.tobytes() == expected.tobytes()
        assert not rays.world.any()
        some = sent.part(slice(100, 110)).rays()
        for found, expected in zip(some, given, strict=False):
            assert found.tobytes() == expected[100:110].tobytes()


def test_misses_are_left_out_and_come_back():
    rng = np.random.default_rng(0)
    hits = RawHits(
        rng.uniform(1, 2, 3).astype(np.float32),
        rng.normal(size=(3, 3)).astype(np.float32),
        np.arange(3, dtype=np.int32),
        np.arange(3, dtype=np.int32) + 10,
        np.arange(3, dtype=np.int32) + 20,
        rng.uniform(0, 1, (3, 2)).astype(np.float32),
    )
    whole = Met(np.array([1, 4, 5], np.int32), hits).of_all(7)
    assert whole.range_m[[1, 4, 5]].tolist() == hits.range_m.tolist()
    assert whole.normal[4].tolist() == hits.normal[1].tolist()
    assert whole.range_m[[0, 2, 3, 6]].tolist() == [np.inf] * 4
    assert whole.object_id.tolist() == [-1, 0, -1, -1, 1, 2, -1]
    assert whole.face_id.tolist() == [-1, 10, -1, -1, 11, 12, -1]
    assert not whole.barycentric[[0, 2, 3, 6]].any()
