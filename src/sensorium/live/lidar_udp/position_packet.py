"""Velodyne's position packet: the time since the hour, and a GPRMC sentence.

512 bytes, little-endian: 198 reserved, the time since the full hour [us] as u32, the state of the pulse per second as
u8 (2: locked), 3 reserved, an NMEA 0183 sentence that ends with CR LF, zeros. Source: user manual of the VLP-16
(63-9243), chapter 9, position packet structure.
"""

import math
import struct
from datetime import UTC, datetime, timedelta

from sensorium.recordings.packets.velodyne import HOUR_US
from sensorium.sensors.gnss import GnssReading

_KNOTS_PER_M_S = 3600.0 / 1852.0
_LOCKED, _NO_PULSE = 2, 0


def position_packet(reading: GnssReading, epoch_s: float) -> bytes:
    """The packet of a fix; without one the sentence is marked void.

    Args:
        reading: Of a GNSS with an origin.
        epoch_s: Unix time of simulated time 0 [s].
    """
    time_us = reading.time_ns // 1000 + round(1e6 * epoch_s)
    has_fix = bool(reading.fix)
    sentence = rmc_sentence(reading, time_us).encode("ascii")
    head = struct.pack("<198xIB3x", time_us % HOUR_US, _LOCKED if has_fix else _NO_PULSE)
    return (head + sentence).ljust(512, b"\0")


def rmc_sentence(reading: GnssReading, time_us: int) -> str:
    """$GPRMC with its checksum and CR LF; void fields are empty.

    Args:
        reading: Of a GNSS with an origin.
        time_us: Unix time [us].
    """
    at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(microseconds=time_us)
    clock, date = at.strftime("%H%M%S") + f".{at.microsecond // 10000:02d}", at.strftime("%d%m%y")
    if bool(reading.fix):
        east, north = (float(speed) for speed in reading.velocity[:2])
        place = f"A,{_angle(float(reading.latitude_deg), 2, 'NS')},{_angle(float(reading.longitude_deg), 3, 'EW')}"
        course_deg = math.degrees(math.atan2(east, north)) % 360.0
        motion = f"{math.hypot(east, north) * _KNOTS_PER_M_S:05.1f},{course_deg:05.1f}"
    else:
        place, motion = "V,,,,", ","
    text = f"GPRMC,{clock},{place},{motion},{date},,,{'A' if bool(reading.fix) else 'N'}"
    checksum = 0
    for letter in text:
        checksum ^= ord(letter)
    return f"${text}*{checksum:02X}\r\n"


def _angle(angle_deg: float, digits: int, signs: str) -> str:
    """Degrees and minutes to a ten-thousandth, and the hemisphere."""
    counts = round(abs(angle_deg) * 600_000)
    degrees, minutes = divmod(counts, 600_000)
    return f"{degrees:0{digits}d}{minutes / 10_000:07.4f},{signs[angle_deg < 0.0]}"
