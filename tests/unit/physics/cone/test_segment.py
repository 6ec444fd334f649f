"""Pieces of line in the cone: the reference values, the thesis's mistakes, and 3,000 of them against samples."""

import math

import numpy as np
import pytest

from sensorium.physics.cone import clipped_segment, is_inside, nearest_on_segment

A_POINT = math.inf, 0.0, 0.0, 0.0


def of_thesis(point):
    """A point of the thesis's frame (x right, y up, z forward) in the sensor's (x forward, y left, z up)."""
    x, y, z = point
    return z, -x, y


def to_thesis(point):
    x, y, z = point
    return -y, z, x


def clipped(start, end, *, a=1.0, b=1.0, reach=5.0, spherical=False):
    q, e = np.array(of_thesis(start), float), np.array(of_thesis(end), float)
    return clipped_segment(*q, *(e - q), a, b, reach, spherical)


def nearest(start, end, *, a=1.0, b=1.0, reach=5.0, spherical=False, within=math.inf):
    """Distance and point, in the thesis's frame; None where nothing is inside."""
    q, e = np.array(of_thesis(start), float), np.array(of_thesis(end), float)
    distance2, *point = nearest_on_segment(*q, *(e - q), a, b, reach, spherical, within)
    return None if distance2 == math.inf else (math.sqrt(distance2), to_thesis(point))


# --- reference values of physics.md 8.1 (a = b = 1, r = 5) ------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "end", "low", "high", "point"),
    [
        ((-3, 0, 2), (3, 0, 2), 1 / 6, 5 / 6, (0, 0, 2)),
        ((-3, 1, 2), (3, 1, 2), 0.211325, 0.788675, (0, 1, 2)),
        ((0.5, 0, -1), (0.5, 0, 10), 0.136364, 0.545455, (0.5, 0, 0.5)),
        ((-4, 0, 4.5), (4, 0, 5.5), 0.0, 0.5, (-0.615385, 0, 4.923077)),
    ],
)
def test_reference_stretches_and_their_nearest_points(start, end, low, high, point):
    assert clipped(start, end) == pytest.approx((low, high), abs=5e-7)
    distance, found = nearest(start, end)
    assert found == pytest.approx(point, abs=5e-7)
    assert distance == pytest.approx(math.dist((0, 0, 0), found), abs=1e-15)


def test_reference_distance_and_the_segment_that_misses():
    assert nearest((-3, 1, 2), (3, 1, 2))[0] == pytest.approx(2.236068, abs=5e-7)
    low, high = clipped((2, 0, 1), (0, 2, 1))
    assert low > high
    assert nearest((2, 0, 1), (0, 2, 1)) is None


# --- mistakes of the thesis -------------------------------------------------------------------------------------------


def test_two_roots_beyond_the_front_are_no_hit():
    # E-21: both roots of this line lie beyond r, and slid to z = r they would be one point outside the cone
    assert nearest((-3, 0, 3), (3, 0, 3), reach=2.0) is None
    low, high = clipped((-3, 0, 3), (3, 0, 3), reach=2.0)
    assert low > high


def test_the_mirrored_cone_behind_the_sensor_is_not_seen():
    # E-22: this line crosses the nappe of z < 0 and no other
    assert nearest((-3, 0, -2), (3, 0, -2)) is None

    # One that goes through both: only what is in front counts, where (3.3) with a root behind would fail
    distance, point = nearest((0.5, 0, -3), (0.5, 0, 3))
    assert point == pytest.approx((0.5, 0, 0.5))
    assert distance == pytest.approx(math.sqrt(0.5))


# --- particular lines -------------------------------------------------------------------------------------------------


def test_a_line_along_a_generator_and_one_parallel_to_it():
    assert clipped((0, 0, 0), (4, 0, 4)) == pytest.approx((0.0, 1.0))
    low, high = clipped((1, 0, 0), (5, 0, 4))
    assert low > high
    assert clipped((-1, 0, 0), (3, 0, 4)) == pytest.approx((0.125, 1.0))


def test_a_line_that_only_touches_the_apex():
    distance, point = nearest((-2, 0, 0), (2, 0, 0))
    assert distance == 0.0
    assert point == pytest.approx((0, 0, 0))


def test_a_point_is_a_piece_of_line_too():
    assert nearest((0.1, 0.2, 1), (0.1, 0.2, 1))[1] == pytest.approx((0.1, 0.2, 1))
    assert nearest((2, 0, 1), (2, 0, 1)) is None
    assert clipped((0.1, 0.2, 1), (0.1, 0.2, 1), spherical=True) == (0.0, 1.0)


def test_a_spherical_front_limits_the_distance_a_flat_one_the_depth():
    assert nearest((2, 0, 4.9), (3, 0, 4.9)) is not None
    assert nearest((2, 0, 4.9), (3, 0, 4.9), spherical=True) is None
    assert clipped((-6, 0, 4), (6, 0, 4), spherical=True) == pytest.approx((0.25, 0.75))
    assert clipped((-6, 0, 4), (6, 0, 4)) == pytest.approx((1 / 6, 5 / 6))


def test_what_is_no_nearer_than_asked_for_is_not_given():
    assert nearest((-3, 0, 2), (3, 0, 2), within=4.0) is None
    assert nearest((-3, 0, 2), (3, 0, 2), within=4.0 + 1e-12) is not None


# --- brute force ------------------------------------------------------------------------------------------------------


def inside(points, a, b, reach, spherical):
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    far = (points**2).sum(axis=-1) <= reach**2 if spherical else x <= reach
    return (x >= 0.0) & ((y / a) ** 2 + (z / b) ** 2 <= x**2) & far


def test_3000_random_segments_agree_with_4001_samples_of_each():
    random = np.random.default_rng(9)
    t = np.linspace(0.0, 1.0, 4001)
    hits = {False: 0, True: 0}
    for number in range(3000):
        a, b = random.uniform(0.2, 2.0, 2)
        reach, spherical = random.uniform(1.0, 6.0), bool(number % 2)
        start, end = random.uniform((-3, -6, -6), (7, 6, 6), (2, 3))
        way = end - start
        points = start + t[:, None] * way
        seen = inside(points, a, b, reach, spherical)

        # The stretch: every sample inside is in it, every sample outside is not
        low, high = clipped_segment(*start, *way, a, b, reach, spherical)
        assert (seen == ((t >= low) & (t <= high)))[np.minimum(abs(t - low), abs(t - high)) > 1e-9].all()

        # The nearest point: none of the samples is nearer, and one is as near as samples lie close
        distance2, *point = nearest_on_segment(*start, *way, a, b, reach, spherical, math.inf)
        if not seen.any():
            assert distance2 == math.inf or high - low < t[1]
            continue
        hits[spherical] += 1
        distances = np.linalg.norm(points[seen], axis=1)
        assert math.sqrt(distance2) <= distances.min() + 1e-12
        assert math.sqrt(distance2) >= distances.min() - np.linalg.norm(way) * t[1]
        assert inside(np.array(point) * (1 - 1e-12), a * (1 + 1e-9), b * (1 + 1e-9), reach * (1 + 1e-12), spherical)
    assert min(hits.values()) > 300


def test_in_the_cone_is_told_by_the_definition_alone():
    random = np.random.default_rng(3)
    for _ in range(500):
        a, b = random.uniform(0.2, 2.0, 2)
        point, spherical = random.uniform(-3, 3, 3), bool(random.integers(2))
        assert is_inside(*point, a, b, 2.0, spherical) == inside(point, a, b, 2.0, spherical)
