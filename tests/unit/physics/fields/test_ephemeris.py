"""The sun's place against published worked examples and against the seasons."""

import math
from datetime import UTC, datetime, timedelta, timezone

import pytest

from sensorium.core.errors import SpecError
from sensorium.physics.fields.ephemeris import solar_position, sun_from_place


def test_worked_example_of_meeus():
    # Astronomical Algorithms, example 25.a: 1992 October 13, 0h
    position = solar_position(datetime(1992, 10, 13, tzinfo=UTC))
    assert math.degrees(position.right_ascension_rad) == pytest.approx(198.38083, abs=2e-5)
    assert math.degrees(position.declination_rad) == pytest.approx(-7.78507, abs=2e-5)
    assert position.distance_au == pytest.approx(0.99766, abs=5e-6)


def test_sidereal_time_of_meeus():
    # Example 12.b: 1987 April 10, 19h 21m UT, 128.7378734 degrees
    position = solar_position(datetime(1987, 4, 10, 19, 21, tzinfo=UTC))
    assert math.degrees(position.sidereal_rad) == pytest.approx(128.7378734, abs=1e-6)


def test_worked_example_of_the_nrel_algorithm():
    # Reda and Andreas 2004, appendix: Golden, Colorado; elevation before refraction 39.872046, azimuth 194.340241
    time = datetime(2003, 10, 17, 12, 30, 30, tzinfo=timezone(timedelta(hours=-7)))
    east, north, up = sun_from_place(solar_position(time), math.radians(39.742476), math.radians(-105.1786))
    assert math.degrees(math.asin(up)) == pytest.approx(39.872046, abs=5e-3)
    assert math.degrees(math.atan2(east, north)) % 360.0 == pytest.approx(194.340241, abs=5e-3)


@pytest.mark.parametrize(
    ("time", "declination_deg"),
    [
        # Equinoxes and solstices of 2024, to the minute of the almanac
        (datetime(2024, 3, 20, 3, 6, tzinfo=UTC), 0.0),
        (datetime(2024, 6, 20, 20, 51, tzinfo=UTC), 23.438),
        (datetime(2024, 9, 22, 12, 44, tzinfo=UTC), 0.0),
        (datetime(2024, 12, 21, 9, 21, tzinfo=UTC), -23.438),
    ],
)
def test_seasons(time, declination_deg):
    assert math.degrees(solar_position(time).declination_rad) == pytest.approx(declination_deg, abs=5e-3)


def test_the_earth_is_nearest_in_january():
    near = solar_position(datetime(2024, 1, 3, tzinfo=UTC)).distance_au
    far = solar_position(datetime(2024, 7, 5, tzinfo=UTC)).distance_au
    # The Moon alone moves the Earth by 3e-5 units, which this theory leaves out
    assert near == pytest.approx(0.98331, abs=5e-5)
    assert far == pytest.approx(1.01673, abs=5e-5)


def test_the_direction_is_a_unit_vector_everywhere():
    position = solar_position(datetime(2030, 5, 6, 7, 8, tzinfo=UTC))
    for latitude in (-90.0, -30.0, 0.0, 60.0, 90.0):
        for longitude in (-180.0, 0.0, 77.0):
            assert math.hypot(*sun_from_place(position, math.radians(latitude), math.radians(longitude))) == (
                pytest.approx(1.0, abs=1e-14)
            )


def test_a_time_without_zone_or_out_of_range_is_refused():
    with pytest.raises(SpecError, match="must carry a time zone"):
        solar_position(datetime(2024, 1, 1))
    with pytest.raises(SpecError, match="1900 to 2100"):
        solar_position(datetime(2200, 1, 1, tzinfo=UTC))
