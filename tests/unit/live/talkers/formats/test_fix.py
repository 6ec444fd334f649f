"""Times and derived figures of an epoch."""

import math
from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.live.talkers.formats.fix import checked_start_utc, gps_week_and_ms, utc_at
from tests.unit.live.talkers.formats.cases import random_fix


def test_a_gps_week_begins_eighteen_seconds_before_sunday_of_utc():
    sunday = datetime(2026, 3, 1, tzinfo=UTC)
    assert sunday.weekday() == 6
    assert gps_week_and_ms(sunday - timedelta(seconds=18)) == (2408, 0)
    assert gps_week_and_ms(sunday) == (2408, 18_000)
    assert gps_week_and_ms(sunday - timedelta(seconds=18, microseconds=1000)) == (2407, 7 * 86_400_000 - 1)


def test_utc_of_a_time_of_the_run():
    start = datetime(2026, 12, 31, 23, 59, 59, tzinfo=UTC)
    assert utc_at(start, 1_500_000_123) == (datetime(2027, 1, 1, 0, 0, 0, 500_000, tzinfo=UTC), 123)


def test_start_dates_have_a_zone_and_the_leap_seconds_of_now():
    assert checked_start_utc(datetime(2026, 1, 1, 1, tzinfo=timezone(timedelta(hours=1)))) == datetime(
        2026, 1, 1, tzinfo=UTC
    )
    with pytest.raises(SpecError, match="start_utc is 2026-01-01T00:00:00; it must have a zone"):
        checked_start_utc(datetime(2026, 1, 1))
    with pytest.raises(SpecError, match="before 2017"):
        checked_start_utc(datetime(2016, 12, 31, tzinfo=UTC))


def test_course_and_speed():
    rng = np.random.default_rng(2)
    for _ in range(50):
        fix = random_fix(rng)
        east, north, _ = fix.velocity_m_s
        course = math.radians(fix.course_deg)
        assert 0 <= fix.course_deg < 360
        assert fix.ground_speed_m_s * math.sin(course) == pytest.approx(east, abs=1e-9)
        assert fix.ground_speed_m_s * math.cos(course) == pytest.approx(north, abs=1e-9)
