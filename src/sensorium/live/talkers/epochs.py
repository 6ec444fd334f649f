"""Epochs of a receiver from the readings of a satellite navigation sensor."""

import math
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.live.talkers.choice import numbers
from sensorium.live.talkers.formats.fix import Fix, FixQuality, utc_at
from sensorium.record.ros2.message import white_variance
from sensorium.record.ros2.satellite import position_variances
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.common.sampled import required_rate_hz
from sensorium.sensors.gnss import Gnss, GnssReading, sky_directions

# Dilutions of a good constellation, for sensors that have none of their own
_HDOP, _VDOP = 1.0, 1.5
_FEWEST = 4


class Epochs:
    """Makes epochs of one sensor's readings."""

    def __init__(
        self,
        sensor: AttachedSensor[Any],
        *,
        start_utc: datetime = datetime(1970, 1, 1, tzinfo=UTC),
        quality: FixQuality = "single",
        satellites: int,
        geoid_m: float,
    ) -> None:
        """Take a sensor with an origin; the rest is as in `ReceiverOptions`."""
        spec = sensor.spec
        assert isinstance(spec, Gnss)
        if spec.origin is None:
            raise SpecError(f"the sensor {sensor.name!r} has no origin; latitude and longitude need one")
        self._start_utc, self._quality, self._geoid_m = start_utc, quality, geoid_m
        self._satellites = satellites
        self._dops = (_HDOP if spec.hdop is None else spec.hdop, _VDOP if spec.vdop is None else spec.vdop)
        period_s = 1.0 / required_rate_hz(spec.timing)
        east, north, up = position_variances(spec, period_s).tolist()
        self._std_m = math.sqrt(east + north), math.sqrt(up)
        self._speed_std_m_s = math.sqrt(float(np.mean(white_variance(spec.velocity.noise, width=3, period_s=period_s))))
        self._looks_up = spec.min_sky_fraction is not None

    def of(self, reading: GnssReading) -> Fix:
        """The epoch of a reading."""
        has_fix = bool(np.all(reading.fix))
        latitude_deg, longitude_deg, height_m = numbers(reading.geodetic)
        utc, nanosecond = utc_at(self._start_utc, reading.time_ns)
        return Fix(
            utc=utc,
            nanosecond=nanosecond,
            has_fix=has_fix,
            latitude_deg=latitude_deg,
            longitude_deg=longitude_deg,
            height_m=height_m,
            geoid_m=self._geoid_m,
            velocity_m_s=numbers(reading.velocity),  # type: ignore[arg-type]
            hdop=self._dops[0],
            vdop=self._dops[1],
            horizontal_std_m=self._std_m[0],
            vertical_std_m=self._std_m[1],
            speed_std_m_s=self._speed_std_m_s,
            satellites=self._in_use(reading) if has_fix else 0,
            quality=self._quality,
        )

    def _in_use(self, reading: GnssReading) -> int:
        if not self._looks_up:
            return self._satellites
        share = float(np.ravel(reading.sky_fraction)[0])
        return max(_FEWEST, round(self._satellites * share)) if math.isfinite(share) else _FEWEST


def sky_of(satellites: int) -> list[tuple[float, float]]:
    """Azimuth, clockwise from north, and elevation of satellites that are evenly spread over the sky [deg].

    They stand for a constellation, which is not simulated.
    """
    return [
        (math.degrees(math.atan2(east, north)) % 360.0, math.degrees(math.asin(up)))
        for east, north, up in sky_directions(satellites).tolist()
    ]
