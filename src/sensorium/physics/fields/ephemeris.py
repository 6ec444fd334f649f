"""Position of the sun, by the low-accuracy theory of Meeus, Astronomical Algorithms (2nd ed., chapters 12, 22, 25).

Good to 0.01 degrees from 1900 to 2100. Left out: the planets' pull on the Earth, the difference of dynamical and
universal time (a minute, 0.001 degrees), parallax (0.0024 degrees), and refraction, which lifts the sun by 0.5
degrees at the horizon and by 0.02 at 45 degrees.
"""

import math
from dataclasses import dataclass
from datetime import UTC, datetime

from sensorium.core.errors import SpecError

_J2000 = datetime(2000, 1, 1, 12, tzinfo=UTC)
_DAYS_PER_CENTURY = 36525.0
_FIRST_YEAR, _LAST_YEAR = 1900, 2100


@dataclass(frozen=True)
class SolarPosition:
    """The sun seen from the center of the Earth, for the true equator of date.

    Attributes:
        right_ascension_rad: Right ascension [rad].
        declination_rad: Declination [rad].
        distance_au: Distance [astronomical units].
        sidereal_rad: Mean sidereal time at Greenwich [rad].
    """

    right_ascension_rad: float
    declination_rad: float
    distance_au: float
    sidereal_rad: float


def solar_position(time: datetime) -> SolarPosition:
    """The sun at an instant.

    Args:
        time: An instant with its time zone, 1900 to 2100.
    """
    if time.utcoffset() is None:
        raise SpecError(f"time is {time}; it must carry a time zone, for example tzinfo=datetime.UTC")
    if not _FIRST_YEAR <= time.year <= _LAST_YEAR:
        raise SpecError(f"time is {time}; the theory of the sun holds from {_FIRST_YEAR} to {_LAST_YEAR}")
    days = (time - _J2000).total_seconds() / 86400.0
    t = days / _DAYS_PER_CENTURY

    # Orbit: mean longitude, mean anomaly, eccentricity, equation of the center
    mean_longitude = 280.46646 + 36000.76983 * t + 0.0003032 * t**2
    anomaly = math.radians(357.52911 + 35999.05029 * t - 0.0001537 * t**2)
    eccentricity = 0.016708634 - 0.000042037 * t - 0.0000001267 * t**2
    center = (
        (1.914602 - 0.004817 * t - 0.000014 * t**2) * math.sin(anomaly)
        + (0.019993 - 0.000101 * t) * math.sin(2.0 * anomaly)
        + 0.000289 * math.sin(3.0 * anomaly)
    )
    distance_au = (
        1.000001018 * (1.0 - eccentricity**2) / (1.0 + eccentricity * math.cos(anomaly + math.radians(center)))
    )

    # Apparent longitude and obliquity: aberration, and nutation by the Moon's node
    node = math.radians(125.04 - 1934.136 * t)
    longitude = math.radians(mean_longitude + center - 0.00569 - 0.00478 * math.sin(node))
    obliquity_deg = 23.4392911 - 0.0130042 * t - 1.64e-7 * t**2 + 5.04e-7 * t**3
    obliquity = math.radians(obliquity_deg + 0.00256 * math.cos(node))

    sidereal_deg = 280.46061837 + 360.98564736629 * days + 0.000387933 * t**2 - t**3 / 38710000.0
    return SolarPosition(
        right_ascension_rad=math.atan2(math.cos(obliquity) * math.sin(longitude), math.cos(longitude)) % math.tau,
        declination_rad=math.asin(math.sin(obliquity) * math.sin(longitude)),
        distance_au=distance_au,
        sidereal_rad=math.radians(sidereal_deg % 360.0),
    )


def sun_from_place(position: SolarPosition, latitude_rad: float, longitude_rad: float) -> tuple[float, float, float]:
    """Unit vector towards the sun in the axes east, north, up of a place.

    Args:
        position: The sun at the instant.
        latitude_rad: Geographic latitude, positive north [rad].
        longitude_rad: Longitude, positive east [rad].
    """
    hour_angle = position.sidereal_rad + longitude_rad - position.right_ascension_rad
    sin_d, cos_d = math.sin(position.declination_rad), math.cos(position.declination_rad)
    sin_l, cos_l = math.sin(latitude_rad), math.cos(latitude_rad)
    east = -cos_d * math.sin(hour_angle)
    north = cos_l * sin_d - sin_l * cos_d * math.cos(hour_angle)
    up = sin_l * sin_d + cos_l * cos_d * math.cos(hour_angle)
    return east, north, up
