"""sensor_msgs/NavSatFix, geometry_msgs/PointStamped and TwistStamped, byte by byte."""

import math

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.ros2.satellite import satellite
from sensorium.sensors.common.sampled import Sample
from sensorium.sensors.gnss import GnssReading

ORIGIN = (48.0, 11.0, 500.0)
TIME_NS = 7 * 10**9 + 1

# Of sensor_msgs: no fix, fix; covariance unknown, of the diagonal; GPS
NO_FIX, FIX, UNKNOWN, DIAGONAL, GPS = -1, 0, 0, 2, 1


def messages_of(attached, spec, x, **options):
    sensor, source = attached(spec, body="car", name="gnss", **options)
    x = np.atleast_2d(np.array(x, float))
    reading = GnssReading(Sample(TIME_NS, 0.1, x, x, np.ones(len(x), np.bool_)), sensor.rig, sensor.spec)
    return satellite(reading, source)


def nav_sat_fix(reader) -> dict:
    """Fields of the message, in the order of its definition."""
    found = {"header": reader.header()}
    found["status"], found["service"] = reader.take("b", "H")
    found["place"] = reader.take("d", "d", "d")
    found["covariance"] = reader.take(*"d" * 9)
    (found["covariance_type"],) = reader.take("B")
    assert reader.bytes_left() == 0
    return found


def test_a_fix_at_the_origin_is_the_origin(attached, decoded):
    spec = sn.Gnss(origin=ORIGIN, position={"noise": {"std": (0.5, 0.5, 2.0)}})
    (_, first, fix), (_, second, velocity) = messages_of(attached, spec, [0, 0, 0, 1, -2, 3])
    assert (first, second) == ("fix", "vel")
    told = nav_sat_fix(decoded(fix))
    assert told["header"] == (TIME_NS, "gnss")
    assert told["place"] == pytest.approx(ORIGIN, abs=1e-9)
    assert (told["status"], told["service"]) == (FIX, GPS)
    assert told["covariance"] == [0.25, 0, 0, 0, 0.25, 0, 0, 0, 4.0]
    assert told["covariance_type"] == DIAGONAL
    reader = decoded(velocity)
    assert reader.header() == (TIME_NS, "world")
    assert reader.take(*"d" * 6) == [1.0, -2.0, 3.0, 0.0, 0.0, 0.0]
    assert reader.bytes_left() == 0


def test_north_and_east_go_where_the_ellipsoid_says(attached, decoded):
    """A thousand meters are so many degrees by the radii of curvature of WGS 84 at this latitude and height."""
    a, e2 = 6378137.0, 0.00669437999014
    latitude, height_m = math.radians(ORIGIN[0]), ORIGIN[2]
    root = math.sqrt(1 - e2 * math.sin(latitude) ** 2)
    meridian_m, prime_vertical_m = a * (1 - e2) / root**3, a / root
    for x, axis, degrees in (
        ([0, 1000, 0, 0, 0, 0], 0, math.degrees(1000 / (meridian_m + height_m))),
        ([1000, 0, 0, 0, 0, 0], 1, math.degrees(1000 / ((prime_vertical_m + height_m) * math.cos(latitude)))),
    ):
        told = nav_sat_fix(decoded(messages_of(attached, sn.Gnss(origin=ORIGIN), x)[0][2]))
        assert told["place"][axis] - ORIGIN[axis] == pytest.approx(degrees, rel=2e-4)
        assert told["covariance_type"] == UNKNOWN
        assert not any(told["covariance"])


def test_without_a_fix_the_status_says_so_and_numbers_are_nan(attached, decoded):
    (_, _, fix), _ = messages_of(attached, sn.Gnss(origin=ORIGIN), [np.nan] * 6)
    told = nav_sat_fix(decoded(fix))
    assert told["status"] == NO_FIX
    assert all(map(math.isnan, told["place"]))


def test_without_an_origin_the_place_in_the_world_stands_for_it(attached, decoded):
    found = messages_of(attached, sn.Gnss(), [[1, 2, 3, 0, 0, 0], [4, 5, 6, 0, 0, 0]], worlds=2)
    assert [(row, topic) for row, topic, _ in found] == [(0, "position"), (0, "vel"), (1, "position"), (1, "vel")]
    reader = decoded(found[2][2])
    assert reader.header() == (TIME_NS, "world_1/world")
    assert reader.take("d", "d", "d") == [4.0, 5.0, 6.0]
    assert reader.bytes_left() == 0
