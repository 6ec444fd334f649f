"""What a receiver knows at one epoch, before it is written as NMEA 0183, UBX or MAVLink."""

import math
from datetime import UTC, datetime, timedelta
from typing import Literal, NamedTuple

from sensorium.core.errors import SpecError

FixQuality = Literal["single", "differential", "rtk_float", "rtk_fixed"]

# GPS time runs without leap seconds; since 2017 it is this far ahead of UTC
GPS_AHEAD_OF_UTC_S = 18
_LEAP_SECONDS_SINCE = datetime(2017, 1, 1, tzinfo=UTC)
_GPS_ZERO = datetime(1980, 1, 6, tzinfo=UTC)
_MS_PER_WEEK = 7 * 86_400_000


class Fix(NamedTuple):
    """One epoch of a receiver.

    Attributes:
        utc: Time of the fix, of the zone UTC.
        nanosecond: Nanoseconds beyond the microseconds of `utc`, 0 to 999.
        has_fix: Whether there is a position; without one the numbers below are ignored.
        latitude_deg: Geodetic latitude, WGS 84, positive north [deg].
        longitude_deg: Longitude, positive east [deg].
        height_m: Height above the ellipsoid [m].
        geoid_m: Height of the geoid, which stands for the mean sea, above the ellipsoid [m].
        velocity_m_s: East, north and up [m/s].
        hdop: Horizontal dilution of precision [1].
        vdop: Vertical dilution of precision [1].
        horizontal_std_m: Standard deviation of the horizontal position, both axes together [m].
        vertical_std_m: Standard deviation of the height [m].
        speed_std_m_s: Standard deviation of the speed [m/s].
        satellites: Number of satellites in use.
        quality: Kind of solution.
    """

    utc: datetime
    nanosecond: int
    has_fix: bool
    latitude_deg: float
    longitude_deg: float
    height_m: float
    geoid_m: float
    velocity_m_s: tuple[float, float, float]
    hdop: float
    vdop: float
    horizontal_std_m: float
    vertical_std_m: float
    speed_std_m_s: float
    satellites: int
    quality: FixQuality

    @property
    def pdop(self) -> float:
        """Dilution of precision of the position, sqrt(HDOP^2 + VDOP^2) [1]."""
        return math.hypot(self.hdop, self.vdop)

    @property
    def altitude_m(self) -> float:
        """Height above the mean sea [m]."""
        return self.height_m - self.geoid_m

    @property
    def ground_speed_m_s(self) -> float:
        """Horizontal speed [m/s]."""
        return math.hypot(self.velocity_m_s[0], self.velocity_m_s[1])

    @property
    def course_deg(self) -> float:
        """Direction of motion over ground, clockwise from north, 0 to 360 [deg]; 0 at rest."""
        return math.degrees(math.atan2(self.velocity_m_s[0], self.velocity_m_s[1])) % 360.0


def checked_start_utc(start_utc: datetime) -> datetime:
    """A start date with a zone, in UTC, from 2017 on, since when GPS time is 18 s ahead of UTC."""
    if start_utc.tzinfo is None:
        raise SpecError(f"start_utc is {start_utc.isoformat()}; it must have a zone, such as 2026-06-01T12:00:00Z")
    start_utc = start_utc.astimezone(UTC)
    if start_utc < _LEAP_SECONDS_SINCE:
        raise SpecError(f"start_utc is {start_utc.isoformat()}; it must not be before 2017, when leap seconds changed")
    return start_utc


def utc_at(start_utc: datetime, time_ns: int) -> tuple[datetime, int]:
    """The date at a time of the run, and the nanoseconds beyond its microseconds.

    Args:
        start_utc: The date at time zero.
        time_ns: Time of the run [ns].
    """
    microseconds, nanosecond = divmod(time_ns, 1000)
    return start_utc + timedelta(microseconds=microseconds), nanosecond


def gps_week_and_ms(utc: datetime) -> tuple[int, int]:
    """Number of the GPS week, which begins on Sunday at 0 h of GPS time, and the time of it, rounded [ms]."""
    since = utc + timedelta(seconds=GPS_AHEAD_OF_UTC_S) - _GPS_ZERO
    return divmod(round(since / timedelta(milliseconds=1)), _MS_PER_WEEK)
