"""Velodyne's position packet: the time since the hour, and a GPRMC sentence.

512 bytes, little-endian: 198 reserved, the time since the full hour [us] as u32, the state of the pulse per second as
u8 (2: locked), 3 reserved, an NMEA 0183 sentence that ends with CR LF, zeros. Source: user manual of the VLP-16
(63-9243), chapter 9, position packet structure.
"""

import math
import struct
from datetime import UTC, datetime, timedelta

from sensorium.live.talkers.formats.nmea import M_S_PER_KNOT, Sentence
from sensorium.recordings.packets.velodyne import HOUR_US
from sensorium.sensors.gnss import GnssReading

_LOCKED, _NO_PULSE = 2, 0


def position_packet(reading: GnssReading, epoch_s: float) -> bytes:
    """The packet of a fix; without one the sentence is marked void.

    Args:
        reading: Of a GNSS with an origin.
        epoch_s: Unix time of simulated time 0 [s].
    """
    time_us = reading.time_ns // 1000 + round(1e6 * epoch_s)
    has_fix = bool(reading.fix)
    sentence = _rmc(reading, time_us).encode()
    head = struct.pack("<198xIB3x", time_us % HOUR_US, _LOCKED if has_fix else _NO_PULSE)
    return (head + sentence).ljust(512, b"\0")


def _rmc(reading: GnssReading, time_us: int) -> Sentence:
    """The sentence as the manual shows it, with ten-thousandths of minutes; void fields are empty.

    Args:
        reading: Of a GNSS with an origin.
        time_us: Unix time [us].
    """
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
    clock, date = f"{at:%H%M%S}.{at.microsecond // 10000:02d}", f"{at:%d%m%y}"
    if not bool(reading.fix):
        return Sentence("GP", "RMC", (clock, "V", "", "", "", "", "", "", date, "", "", "N"))
    east, north = (float(speed) for speed in reading.velocity[:2])
    latitude, longitude = float(reading.latitude_deg), float(reading.longitude_deg)
    place = _angle(latitude, 2), "NS"[latitude < 0.0], _angle(longitude, 3), "EW"[longitude < 0.0]
    course_deg = math.degrees(math.atan2(east, north)) % 360.0
    motion = f"{math.hypot(east, north) / M_S_PER_KNOT:05.1f}", f"{course_deg:05.1f}"
    return Sentence("GP", "RMC", (clock, "A", *place, *motion, date, "", "", "A"))


def _angle(angle_deg: float, digits: int) -> str:
    """Degrees and minutes to a ten-thousandth."""
    degrees, minutes = divmod(round(abs(angle_deg) * 600_000), 600_000)
    return f"{degrees:0{digits}d}{minutes / 10_000:07.4f}"
