"""Returns in the units of bytes, against loops over rays."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.packets import (
    Returns,
    by_strength,
    check_lidar,
    counts_of,
    last_and_strongest,
    returns_of,
)
from tests.unit.live.lidar_udp.rooms import room, small_ouster, sweeps

RNG = np.random.default_rng(29)


def drawn(returns: int) -> Returns:
    """Random returns, nearest first, some missing, some twice."""
    range_m = np.sort(RNG.uniform(1.0, 50.0, (returns, 6, 40)), axis=0).astype(np.float32)
    range_m[RNG.random(range_m.shape) < 0.3] = 0.0
    if returns > 1:
        range_m[1] = np.where(RNG.random((6, 40)) < 0.2, range_m[0], range_m[1])
    intensity = np.where(range_m > 0.0, RNG.permutation(range_m.size).reshape(range_m.shape) + 1.0, 0.0)
    return Returns(range_m, (intensity % 256).astype(np.uint8), intensity.astype(np.float32))


def distinct(given: Returns, at: tuple[int, int]) -> list[tuple[float, float, int]]:
    """Strength, range and byte of the returns of a ray, each once, strongest first."""
    found: dict[float, tuple[float, float, int]] = {}
    for k in range(len(given.range_m)):
        distance = float(given.range_m[k][at])
        if distance > 0.0 and distance not in found:
            found[distance] = float(given.intensity[k][at]), distance, int(given.reflectivity[k][at])
    return sorted(found.values(), reverse=True)


@pytest.mark.parametrize("returns", [2, 3])
def test_the_two_strongest_returns_come_first(returns):
    given = drawn(returns)
    strong = by_strength(given)
    for at in np.ndindex(6, 40):
        expected = (distinct(given, at) + 2 * [(0.0, 0.0, 0)])[:2]
        assert [float(strong.range_m[k][at]) for k in range(2)] == [each[1] for each in expected]
        assert [int(strong.reflectivity[k][at]) for k in range(2)] == [each[2] for each in expected]


@pytest.mark.parametrize("returns", [2, 3])
def test_dual_packets_have_the_last_return_and_the_strongest_other(returns):
    given = drawn(returns)
    found = last_and_strongest(given)
    for at in np.ndindex(6, 40):
        rays = distinct(given, at)
        last = max((each[1] for each in rays), default=0.0)
        others = [each[1] for each in rays if each[1] != last]
        strongest = rays[0][1] if rays else 0.0
        assert float(found.range_m[0][at]) == last
        assert float(found.range_m[1][at]) == (others[0] if strongest == last and others else strongest)


def test_ranges_in_counts_are_rounded_and_those_that_do_not_fit_are_none():
    range_m = np.array([0.0, 0.0009, 0.0011, 1.0, 524.2, 524.3], np.float32)
    assert counts_of(range_m, 0.001, 0.0, 19).tolist() == [0, 1, 1, 1000, 524200, 0]
    assert counts_of(np.float32([1.0, 0.0]), 0.001, 0.0167, 19).tolist() == [1017, 0]
    assert counts_of(np.float32([1.003, 1.005]), 0.008, 0.0, 15).tolist() == [125, 126]


def test_reflectivity_is_a_byte_in_every_mode():
    geometric = room(**small_ouster())
    assert set(np.unique(returns_of(sweeps(geometric, 1)[0], geometric.sensors["top"].spec).reflectivity)) == {100}
    calibrated = room(**small_ouster(mode="relative", intensity={"kind": "reflectivity"}))
    scan = sweeps(calibrated, 1)[0]
    found = returns_of(scan, calibrated.sensors["top"].spec).reflectivity
    np.testing.assert_array_equal(found[0], scan.intensity)
    watts = sn.Lidar(**small_ouster(mode="radiometric"))
    with pytest.raises(SpecError, match=r"intensity\.kind is 'raw' with mode 'radiometric'"):
        returns_of(scan, watts)


def test_lidars_without_firing_times_are_refused():
    with pytest.raises(SpecError, match="motion 'snapshot'"):
        check_lidar(sn.Lidar(**small_ouster(motion="snapshot")), "top")
    with pytest.raises(SpecError, match="publish 'slices'"):
        check_lidar(sn.Lidar(**small_ouster(publish="slices")), "top")
