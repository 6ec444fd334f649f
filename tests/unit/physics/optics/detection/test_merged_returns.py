import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.physics import optics
from sensorium.physics.optics.detection.merged_returns import end_of_return, sort_by_range


def test_nearer_than_the_separation_is_one_return_at_the_centroid():
    ranges, powers = optics.merged_returns([20.3, 20.0], [1.0, 3.0], separation_m=0.75)
    np.testing.assert_allclose(ranges, [20.075], rtol=1e-12)
    np.testing.assert_allclose(powers, [4.0])
    ranges, powers = optics.merged_returns([21.0, 20.0], [1.0, 3.0], separation_m=0.75)
    np.testing.assert_allclose(ranges, [20.0, 21.0])
    np.testing.assert_allclose(powers, [3.0, 1.0])
    assert optics.merged_returns([20.0, 20.75], [1.0, 1.0], separation_m=0.75)[0].size == 2


def test_power_and_its_moment_are_kept():
    rng = np.random.default_rng(0)
    for _ in range(100):
        count = rng.integers(1, 40)
        r, p = rng.uniform(5.0, 15.0, count), rng.uniform(0.1, 1.0, count)
        ranges, powers = optics.merged_returns(r, p, separation_m=rng.uniform(0.0, 1.0))
        assert powers.sum() == pytest.approx(p.sum())
        assert ranges @ powers == pytest.approx(r @ p)
        assert (np.diff(ranges) > 0.0).all()


def test_bad_input():
    with pytest.raises(SpecError, match=r"power is 0; it must be finite and above 0"):
        optics.merged_returns([1.0], [0.0], separation_m=0.1)
    with pytest.raises(SpecError, match=r"range_m has shape \(2,\) and power \(1,\); both must be \(arrivals,\)"):
        optics.merged_returns([1.0, 2.0], [1.0], separation_m=0.1)
    assert optics.merged_returns([], [], separation_m=0.1)[0].size == 0


@pytest.mark.parametrize("count", [0, 1, 2, 19, 400, 3000])
def test_sorting(count):
    ranges = np.random.default_rng(count).integers(0, 50, count).astype(np.float32)
    order = np.arange(count)
    sort_by_range(ranges, order, count)
    assert sorted(order.tolist()) == list(range(count))
    assert (np.diff(ranges[order]) >= 0.0).all()


def split_by_hand(ranges, slack, sender, separation):
    """Sets of arrivals: a cut is where no pair across it is nearer than the separation, slack of one sender counted."""
    apart = np.abs(ranges[:, None] - ranges)
    filled = np.where(sender[:, None] == sender, slack[:, None] + slack, 0.0)
    linked = apart - filled < separation
    order = np.argsort(ranges, kind="stable")
    linked = linked[np.ix_(order, order)]
    cuts = [i for i in range(1, len(order)) if not linked[:i, i:].any()]
    return [set(part.tolist()) for part in np.split(order, cuts)]


def test_returns_end_where_no_pair_of_arrivals_is_near_enough():
    rng, several = np.random.default_rng(1), 0
    for _ in range(400):
        count = rng.integers(1, 30)
        ranges = rng.uniform(0.0, 10.0, count).astype(np.float32)
        slack = rng.choice([0.0, 0.05, 0.6], count).astype(np.float32)
        sender = rng.integers(0, 3, count)
        order, found, start = np.arange(count), [], 0
        sort_by_range(ranges, order, count)
        while start < count:
            end = end_of_return(ranges, slack, sender, order, start, count, np.float32(0.4))
            found.append(set(order[start:end].tolist()))
            start = end
        assert found == split_by_hand(ranges, slack, sender, 0.4)
        several += len(found) > 1
    assert several > 200
