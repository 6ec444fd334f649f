"""Frames of u-blox receivers, UBX: NAV-PVT, -DOP, -TIMEGPS, -SAT and -EOE, encoded and decoded by one table.

A frame is B5 62, class, identifier, length u16, payload, and two checksum bytes over all but the mark and themselves;
little-endian. Source: u-blox M8 receiver description (UBX-13003221), section 32; NAV-EOE ends an epoch.
"""

import math
from typing import Any, NamedTuple

import numpy as np

from sensorium.live.talkers.formats.checksums import fletcher_checksum
from sensorium.live.talkers.formats.fix import GPS_AHEAD_OF_UTC_S, Fix, gps_week_and_ms

MARK = b"\xb5\x62"
_HEAD, _TAIL = 6, 2
_MOST_BYTES = 8 + 12 * 255

_PVT = np.dtype(
    [
        *(("iTOW", "<u4"), ("year", "<u2"), ("month", "u1"), ("day", "u1"), ("hour", "u1"), ("min", "u1")),
        *(("sec", "u1"), ("valid", "u1"), ("tAcc", "<u4"), ("nano", "<i4"), ("fixType", "u1"), ("flags", "u1")),
        *(("flags2", "u1"), ("numSV", "u1"), ("lon", "<i4"), ("lat", "<i4"), ("height", "<i4"), ("hMSL", "<i4")),
        *(("hAcc", "<u4"), ("vAcc", "<u4"), ("velN", "<i4"), ("velE", "<i4"), ("velD", "<i4"), ("gSpeed", "<i4")),
        *(("headMot", "<i4"), ("sAcc", "<u4"), ("headAcc", "<u4"), ("pDOP", "<u2"), ("flags3", "<u2")),
        *(("reserved", "<u4"), ("headVeh", "<i4"), ("magDec", "<i2"), ("magAcc", "<u2")),
    ]
)
_DILUTIONS = ("gDOP", "pDOP", "tDOP", "vDOP", "hDOP", "nDOP", "eDOP")
_DOP = np.dtype([("iTOW", "<u4"), *((name, "<u2") for name in _DILUTIONS)])
_SAT = np.dtype([("iTOW", "<u4"), ("version", "u1"), ("numSvs", "u1"), ("reserved", "<u2")])
_SATELLITE = np.dtype(
    [
        *(("gnssId", "u1"), ("svId", "u1"), ("cno", "u1"), ("elev", "i1"), ("azim", "<i2"), ("prRes", "<i2")),
        ("flags", "<u4"),
    ]
)
_TIMEGPS = np.dtype(
    [("iTOW", "<u4"), ("fTOW", "<i4"), ("week", "<i2"), ("leapS", "i1"), ("valid", "u1"), ("tAcc", "<u4")]
)
_EOE = np.dtype([("iTOW", "<u4")])

# Class and identifier of each message, its head, and what repeats after it
MESSAGES = {
    "NAV-TIMEGPS": (0x01, 0x20, _TIMEGPS, None),
    "NAV-PVT": (0x01, 0x07, _PVT, None),
    "NAV-DOP": (0x01, 0x04, _DOP, None),
    "NAV-SAT": (0x01, 0x35, _SAT, _SATELLITE),
    "NAV-EOE": (0x01, 0x61, _EOE, None),
}
_NAMES = {(group, identifier): name for name, (group, identifier, _, _) in MESSAGES.items()}

# Valid: date, time, fully resolved (NAV-PVT), or time, week, leap seconds (NAV-TIMEGPS)
# Flags of NAV-PVT: fix OK, differential, carrier solution float or fixed
_VALID = 0b0111
_FLAGS = {"single": 0x01, "differential": 0x03, "rtk_float": 0x43, "rtk_fixed": 0x83}
_FIX_3D, _NO_FIX = 3, 0
_TIME_ACCURACY_NS = 20

# NAV-SAT flags: code and carrier locked (7), used, healthy, ephemeris known
_USED = 0x7 | 0x8 | 0x10 | 0x800
_CARRIER_TO_NOISE_DB_HZ = 42


class Frame(NamedTuple):
    """One message.

    Attributes:
        name: Such as NAV-PVT; class and identifier in hexadecimal digits for messages without a layout here.
        fields: Numbers by name, in the units of the protocol; of NAV-SAT also `satellites`, one dictionary each.
    """

    name: str
    fields: dict[str, Any]


def encode(name: str, **fields: Any) -> bytes:
    """A frame of one of `MESSAGES`; numbers are in the protocol's units, and fields that are not given are zero."""
    group, identifier, head, repeated = MESSAGES[name]
    satellites = fields.pop("satellites", ())
    payload = _packed(head, fields)
    if repeated is not None:
        payload += b"".join(_packed(repeated, one) for one in satellites)
    body = bytes((group, identifier)) + len(payload).to_bytes(2, "little") + payload
    return MARK + body + fletcher_checksum(body)


def decode(frame: bytes) -> Frame | None:
    """The message of a complete frame; None if its checksum or length is wrong."""
    if frame[:2] != MARK or len(frame) < _HEAD + _TAIL or fletcher_checksum(frame[2:-2]) != frame[-2:]:
        return None
    name = _NAMES.get((frame[2], frame[3]), f"{frame[2]:02X}-{frame[3]:02X}")
    payload = frame[_HEAD:-_TAIL]
    if len(payload) != int.from_bytes(frame[4:6], "little"):
        return None
    if name not in MESSAGES:
        return Frame(name, {})
    _, _, head, repeated = MESSAGES[name]
    more = len(payload) - head.itemsize
    if more < 0 or (more if repeated is None else more % repeated.itemsize):
        return None
    fields = _unpacked(head, payload)
    if repeated is not None:
        blocks = range(head.itemsize, len(payload), repeated.itemsize)
        fields["satellites"] = [_unpacked(repeated, payload[at : at + repeated.itemsize]) for at in blocks]
    return Frame(name, fields)


def split_stream(data: bytes) -> tuple[list[bytes], bytes]:
    """Frames of a stream with right checksums, and the rest that is not complete yet."""
    frames: list[bytes] = []
    at = data.find(MARK)
    while at >= 0:
        if len(data) < at + _HEAD:
            return frames, data[at:]
        length = int.from_bytes(data[at + 4 : at + 6], "little")
        end = at + _HEAD + length + _TAIL
        if length <= _MOST_BYTES and end > len(data):
            return frames, data[at:]
        is_frame = length <= _MOST_BYTES and decode(data[at:end]) is not None
        if is_frame:
            frames.append(data[at:end])
        at = data.find(MARK, end if is_frame else at + 1)
    return frames, data[-1:] if data[-1:] == MARK[:1] else b""


def encode_fix(fix: Fix, *, sky: list[tuple[float, float]]) -> list[bytes]:
    """The frames of one epoch: NAV-PVT, NAV-DOP, NAV-TIMEGPS, NAV-SAT, NAV-EOE.

    Args:
        fix: The epoch.
        sky: Azimuth, clockwise from north, and elevation of each satellite in use [deg].
    """
    week, time_of_week_ms = gps_week_and_ms(fix.utc)
    time = {"week": week, "leapS": GPS_AHEAD_OF_UTC_S, "valid": _VALID, "tAcc": _TIME_ACCURACY_NS}
    dops = {name: _dop(value) for name, value in _dops(fix).items()}
    satellites = [
        {
            **{"gnssId": 0, "svId": number, "cno": _CARRIER_TO_NOISE_DB_HZ, "flags": _USED},
            **{"elev": round(elevation), "azim": round(azimuth) % 360},
        }
        for number, (azimuth, elevation) in enumerate(sky, start=1)
    ]
    return [
        encode("NAV-PVT", iTOW=time_of_week_ms, **_pvt(fix), pDOP=dops["pDOP"]),
        encode("NAV-DOP", iTOW=time_of_week_ms, **dops),
        encode("NAV-TIMEGPS", iTOW=time_of_week_ms, **time),
        encode("NAV-SAT", iTOW=time_of_week_ms, version=1, numSvs=len(satellites), satellites=satellites),
        encode("NAV-EOE", iTOW=time_of_week_ms),
    ]


def _pvt(fix: Fix) -> dict[str, int]:
    utc = fix.utc
    fields = {
        **{"year": utc.year, "month": utc.month, "day": utc.day, "hour": utc.hour, "min": utc.minute},
        **{"sec": utc.second, "valid": _VALID, "tAcc": _TIME_ACCURACY_NS},
        "nano": 1000 * utc.microsecond + fix.nanosecond,
        "flags3": 0 if fix.has_fix else 1,
    }
    if not fix.has_fix:
        return {**fields, "fixType": _NO_FIX, "hAcc": 2**32 - 1, "vAcc": 2**32 - 1, "sAcc": 2**32 - 1}
    east, north, up = fix.velocity_m_s
    return {
        **fields,
        **{"fixType": _FIX_3D, "flags": _FLAGS[fix.quality], "numSV": min(fix.satellites, 255)},
        **{"lon": round(fix.longitude_deg * 1e7), "lat": round(fix.latitude_deg * 1e7)},
        **{"height": round(fix.height_m * 1e3), "hMSL": round(fix.altitude_m * 1e3)},
        **{"hAcc": round(fix.horizontal_std_m * 1e3), "vAcc": round(fix.vertical_std_m * 1e3)},
        **{"velN": round(north * 1e3), "velE": round(east * 1e3), "velD": round(-up * 1e3)},
        **{"gSpeed": round(fix.ground_speed_m_s * 1e3), "headMot": round(fix.course_deg * 1e5)},
        **{"sAcc": round(fix.speed_std_m_s * 1e3), "headAcc": round(_course_std_deg(fix) * 1e5)},
    }


def _course_std_deg(fix: Fix) -> float:
    """Standard deviation of the course: that of the speed across over the speed, at most 180 degrees."""
    return min(math.degrees(fix.speed_std_m_s / max(fix.ground_speed_m_s, 1e-3)), 180.0)


def _dops(fix: Fix) -> dict[str, float]:
    """Dilutions; those of time and of both horizontal axes follow the model that favors none of them."""
    if not fix.has_fix:
        return dict.fromkeys(_DILUTIONS, 99.99)
    axis = fix.hdop / math.sqrt(2.0)
    time = fix.pdop / math.sqrt(3.0)
    return {
        **{"gDOP": math.hypot(fix.pdop, time), "pDOP": fix.pdop, "tDOP": time, "vDOP": fix.vdop},
        **{"hDOP": fix.hdop, "nDOP": axis, "eDOP": axis},
    }


def _dop(value: float) -> int:
    return round(100.0 * min(value, 99.99))


def _packed(dtype: np.dtype[np.void], fields: dict[str, Any]) -> bytes:
    one = np.zeros((), dtype)
    for name, value in fields.items():
        one[name] = value
    return one.tobytes()


def _unpacked(dtype: np.dtype[np.void], data: bytes) -> dict[str, Any]:
    one = np.frombuffer(data, dtype, count=1)[0]
    return {name: one[name].item() for name in dtype.names or ()}
