"""Lines over faces: where they lie, and the thesis's Tables 2 and 3."""

import math

import numpy as np
import pytest

from sensorium.physics.cone import (
    elevation,
    lines_for_error,
    nearest_on_lines,
    nearest_on_parallel_lines,
    quad_line,
    worst_angle_error,
)

FRONT = np.array([(0.99999, 0.5, -0.5), (0.99999, -0.5, -0.5), (0.99999, -0.5, 0.5), (0.99999, 0.5, 0.5)])
SLOPE = math.tan(math.radians(45.0))


def test_lines_begin_and_end_on_the_two_sides():
    corners = np.array([(0, 0, 0), (4, 0, 0), (4, 2, 0), (0, 1, 0)], float)
    assert quad_line(corners, 0, 5) == (0, 0, 0, 4, 0, 0)
    assert quad_line(corners, 2, 5) == (0, 0.5, 0, 4, 0.5, 0)

    # E-23: the last line of Table 1 runs from v3 to v2, as its interpolation says, not from v2 to v3
    x, y, z, dx, dy, dz = quad_line(corners, 4, 5)
    assert (x, y, z) == (0, 1, 0)
    assert (x + dx, y + dy, z + dz) == (4, 2, 0)


# --- Table 2 ----------------------------------------------------------------------------------------------------------


def digits(value, printed):
    """A value as the thesis prints it: with as many digits behind the point as its own."""
    return f"{value:.{len(printed.partition('.')[2])}f}"


@pytest.mark.parametrize(
    ("lines", "range_m", "elevation_deg", "exact_range_m", "exact_elevation_deg", "tangent"),
    [
        (2, "1.118025", "26.56528", 1.1180250, 26.565280, 0.500005),
        (3, "0.99999", "0", 0.9999900, 0.0, 0.0),
        (10, "1.001532", "3.179862", 1.0015320, 3.179862, 0.0555561),
        (100, "1.000003", "0.2893734", 1.0000028, 0.289373, 0.00505056),
        (1000, "0.99999", "0.02867683", 0.9999901, 0.0286769, 0.000500506),
    ],
)
def test_table_2_with_its_face_where_the_thesis_has_it(
    lines, range_m, elevation_deg, exact_range_m, exact_elevation_deg, tangent
):
    distance2, *point = nearest_on_lines(FRONT, lines, SLOPE, SLOPE, 10.0, False, math.inf)
    found_m, found_deg = math.sqrt(distance2), abs(math.degrees(elevation(np.array(point))))
    assert found_m == pytest.approx(exact_range_m, abs=5.1e-8)
    assert found_deg == pytest.approx(exact_elevation_deg, abs=5.1e-7)
    assert math.tan(math.radians(found_deg)) == pytest.approx(tangent, rel=2e-6, abs=1e-12)
    assert point[1] == 0.0

    # Ranges to every printed digit; elevations too, with the height of that line in single precision, as in Unity
    assert digits(found_m, range_m) == range_m
    single = np.float32
    k = round((point[2] + 0.5) * (lines - 1))
    height = single(-0.5) + single(1.0) / single(lines - 1) * single(k)
    angle = single(math.atan(single(abs(height) / single(0.99999)))) * single(57.29578)
    assert digits(angle, elevation_deg) == elevation_deg
    assert height == pytest.approx(point[2], abs=3.1e-8)


def test_the_box_is_as_thick_as_twice_what_the_thesis_says():
    # E-25: 1.118025 is the distance to a face 1e-5 before the middle; of a box 1e-5 thick it would be 1.1180295
    assert math.hypot(0.5, 0.99999) == pytest.approx(1.118025, abs=5e-7)
    assert math.hypot(0.5, 1.0 - 0.5e-5) == pytest.approx(1.1180295, abs=5e-8)
    assert f"{math.hypot(0.5, 1.0 - 0.5e-5):.6f}" != "1.118025"
    assert f"{math.sqrt(1.25):.7f}" == "1.1180340"


def test_two_lines_need_more_than_53_degrees():
    narrow, wide = math.tan(math.radians(53.0 / 2)), math.tan(math.radians(53.2 / 2))
    assert nearest_on_lines(FRONT, 2, SLOPE, narrow, 10.0, False, math.inf)[0] == math.inf
    assert nearest_on_lines(FRONT, 2, SLOPE, wide, 10.0, False, math.inf)[0] < math.inf


# --- Table 3, eq. 4.1 -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("lines", "printed", "exact_deg"),
    [(2, "2.862", 2.862405), (10, "0.318", 0.318307), (100, "0.0289", 0.0289373), (1000, "0.00287", 0.00286766)],
)
def test_table_3(lines, printed, exact_deg):
    # E-26: the discussion quotes 0.029 degrees at 10 m from Table 2; it is in Table 3
    error_deg = math.degrees(worst_angle_error(1.0, lines, 10.0))
    assert error_deg == pytest.approx(exact_deg, rel=2e-6)
    assert digits(error_deg, printed) == printed


def test_no_place_is_off_by_more_than_the_worst_error():
    random = np.random.default_rng(2)
    for _ in range(200):
        lines, distance, up = int(random.integers(2, 40)), random.uniform(1.0, 20.0), random.uniform(-0.49, 0.49)
        corners = FRONT + np.array([distance - 0.99999, 0.0, up])
        _, *point = nearest_on_lines(corners, lines, SLOPE, SLOPE, 50.0, False, math.inf)
        assert abs(elevation(np.array(point))) <= worst_angle_error(1.0, lines, distance) + 1e-12


def test_lines_for_an_error_are_the_fewest_that_keep_it():
    for error in (0.2, 0.01, 0.0003):
        for distance in (0.7, 3.0, 41.0):
            lines = lines_for_error(1.3, error, distance, 100_000)
            assert worst_angle_error(1.3, lines, distance) <= error
            assert lines == 2 or worst_angle_error(1.3, lines - 1, distance) > error
    assert lines_for_error(1.0, 0.01, 0.0, 1000) == 1000
    assert lines_for_error(1.0, 1e-6, 1.0, 1000) == 1000


# --- two lines instead of all ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["rectangle", "trapezium", "triangle"])
def test_the_two_lines_beside_the_nearest_point_are_enough(kind):
    random = np.random.default_rng(6)
    hits = 0
    for number in range(400):
        start, along, across = random.uniform((-1, -4, -4), (6, 4, 4)), *random.uniform(-4.0, 4.0, (2, 3))
        if kind == "rectangle":
            across -= (across @ along) / (along @ along) * along
        end = {"rectangle": 1.0, "trapezium": random.uniform(0.1, 2.0), "triangle": 0.0}[kind]
        corners = np.array([start, start + along, start + across + end * along, start + across])
        a, b, reach = *random.uniform(0.3, 1.5, 2), random.uniform(2.0, 6.0)
        count, spherical = int(random.integers(2, 60)), bool(number % 2)
        every = nearest_on_lines(corners, count, a, b, reach, spherical, math.inf)
        two = nearest_on_parallel_lines(corners, count, a, b, reach, spherical, math.inf)
        assert two[0] == pytest.approx(every[0], rel=1e-12)
        if every[0] < math.inf:
            hits += 1
            assert nearest_on_parallel_lines(corners, count, a, b, reach, spherical, every[0])[0] == math.inf
    assert hits > 80


# --- lone triangles ---------------------------------------------------------------------------------------------------


def test_lines_of_a_lone_triangle_shrink_to_its_corner():
    corners = np.array([(2, -1, 0), (2, 1, 0), (2, 0, 1), (2, 0, 1)], float)
    assert quad_line(corners, 2, 3) == (2, 0, 1, 0, 0, 0)
    assert quad_line(corners, 1, 3) == (2, -0.5, 0.5, 0, 1, 0)
    distance2, *point = nearest_on_lines(corners, 3, 1.0, 1.0, 10.0, False, math.inf)
    assert distance2 == 4.0
    assert point == [2.0, 0.0, 0.0]
