import numpy as np
import pytest

from sensorium.tracing.embree.packet import BLOCK
from sensorium.tracing.kernels.light import choose
from sensorium.tracing.kernels.light import tables as tb

RAY = 5


def row_of(floats, words, j, ray=RAY):
    """Slot j of a ray as (key, intensity, opl, cause, depth, object, face, mirror)."""
    f = floats.reshape(-1, 3, BLOCK)[j, :, ray]
    w = words.reshape(-1, 5, BLOCK)[j, :, ray]
    return (*map(float, f), *map(int, w))


def random_offers(seed, count=40):
    """Candidates with some equal keys, so that ties are tested too."""
    rng = np.random.default_rng(seed)
    keys = rng.integers(1, 12, count).astype(np.float32)
    opls = rng.permutation(count).astype(np.float32) + 1
    return [(keys[i], keys[i] / 2, opls[i], 1 + i % 4, i % 3, i, 2 * i, i - 1) for i in range(count)]


@pytest.mark.parametrize("ranked", [1, 2, 3, 8])
def test_the_best_are_kept_in_order_and_ties_go_to_the_nearer(ranked):
    for seed in range(5):
        floats, words = choose.new_slots(ranked + 1)
        offers = random_offers(seed)
        for offer in offers:
            choose.offer(floats, words, ranked, RAY, *offer)
        best = sorted(offers, key=lambda o: (-o[0], o[2]))[:ranked]
        assert [row_of(floats, words, j) for j in range(ranked)] == [tuple(map(float, o)) for o in best]
        # nobody else's slots were touched, nor the one beyond
        assert row_of(floats, words, ranked)[0] == -np.inf
        assert (floats.reshape(-1, 3, BLOCK)[:, :, np.arange(BLOCK) != RAY] == -np.inf).all()


def test_candidates_too_weak_to_be_seen_are_not_kept():
    floats, words = choose.new_slots(2)
    choose.offer(floats, words, 2, RAY, choose.NONE, np.float32(0.5), np.float32(3), 1, 0, 0, 0, -1)
    assert (floats[choose.KEY : choose.KEY + BLOCK] == -np.inf).all()


def test_keys():
    strong, weak, near, far, none = (np.float32(x) for x in (0.5, 0.1, 3.0, 9.0, 0.0))

    def key(returns, intensity, opl, threshold=none):
        limits = np.float32([1.0, 0.8]), np.float32([10.0, 12.0])
        return float(choose.key_of.py_func(returns, intensity, opl, threshold, *limits))

    for returns in (tb.STRONGEST, tb.DUAL, tb.ALL):
        assert key(returns, strong, far) > key(returns, weak, near)
    assert key(tb.FIRST, weak, near) > key(tb.FIRST, strong, far)
    assert key(tb.LAST, weak, far) > key(tb.LAST, strong, near)
    for returns in range(5):
        assert key(returns, weak, near, strong) == -np.inf  # below the threshold
        assert key(returns, strong, near, strong) > -np.inf  # at it
        assert key(returns, none, near) == -np.inf  # no light at all
        assert key(returns, strong, np.float32(0.5)) == -np.inf  # nearer than is listened to
        for beyond in (0.9, 11.0):  # where noise may bring it between the limits it ranks behind all others
            assert -np.inf < key(returns, strong, np.float32(beyond)) < key(returns, weak, far)
        assert key(returns, strong, np.float32(13.0)) == -np.inf  # and farther


def test_the_last_is_the_farthest():
    floats, words = choose.new_slots(3)
    for opl in (4.0, 9.0, 2.0, 8.0):
        choose.offer_last(floats, words, 2, RAY, np.float32(opl), np.float32(1 / opl), 1, 0, int(opl), 0, -1)
    assert row_of(floats, words, 2)[2:6] == (9.0, 1, 0, 9)


@pytest.mark.parametrize(
    ("offers", "expected"),
    [
        ([(5, 2)], [5, None]),  # one return: there is no second
        ([(5, 2), (3, 9)], [5, 3]),  # strongest, and last
        ([(5, 9), (3, 2)], [5, 3]),  # the strongest is the last: then the second strongest
        ([(5, 9), (3, 2), (4, 1)], [5, 4]),
        ([(5, 2), (4, 3), (1, 9)], [5, 1]),  # the last, however weak
    ],
)
def test_dual_returns(offers, expected):
    floats, words = choose.new_slots(3)
    for number, (key, opl) in enumerate(offers):
        key, opl = np.float32(key), np.float32(opl)
        choose.offer(floats, words, 2, 0, key, key, opl, 1, 0, number, 0, -1)
        choose.offer_last(floats, words, 2, 0, opl, key, 1, 0, number, 0, -1)
    choose.settle_dual(floats, words, 1)
    rows = [row_of(floats, words, j, 0) for j in (0, 1)]
    assert [None if row[0] == -np.inf else row[1] for row in rows] == expected


@pytest.mark.parametrize("filled", [0, 1, 3, 6])
def test_all_returns_are_sorted_by_distance(filled):
    floats, words = choose.new_slots(7)
    offers = random_offers(filled)[:filled]
    for offer in offers:
        choose.offer(floats, words, 6, RAY, *offer)
    choose.sort_by_distance(floats, words, 6, RAY + 1)
    nearest_first = sorted(offers, key=lambda o: o[2])
    assert [row_of(floats, words, j) for j in range(filled)] == [tuple(map(float, o)) for o in nearest_first]
    assert all(row_of(floats, words, j)[0] == -np.inf for j in range(filled, 6))
