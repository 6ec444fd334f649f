"""Sentences of NMEA 0183 as a satellite receiver sends them: GGA, RMC, GSA, VTG and ZDA.

A sentence is `$`, the talker (GP for GPS, GN for several systems), its kind, fields between commas, `*`, two
hexadecimal digits that are the exclusive or of all bytes between `$` and `*`, and CR LF; at most 82 characters.
Angles are ddmm.mmmm. Sources: E. S. Raymond, "NMEA Revealed" (gpsd.gitlab.io); u-blox M8 receiver description,
section 31; facts only. Fields follow NMEA 4.10 without the optional ones of 4.11.
"""

from collections.abc import Iterator
from datetime import timedelta
from typing import NamedTuple

from sensorium.live.talkers.formats.checksums import xor_checksum
from sensorium.live.talkers.formats.fix import Fix

M_S_PER_KNOT = 1852.0 / 3600.0
_KM_H_PER_M_S = 3.6
_LONGEST = 82

# Quality of GGA, and the mode indicator of RMC and VTG
_QUALITY = {"single": 1, "differential": 2, "rtk_fixed": 4, "rtk_float": 5}
_MODE = {"single": "A", "differential": "D", "rtk_fixed": "R", "rtk_float": "F"}
_GSA_CHANNELS = 12


class Sentence(NamedTuple):
    """One sentence.

    Attributes:
        talker: Two letters, such as GN.
        kind: Three letters, such as GGA.
        fields: Texts between the commas.
    """

    talker: str
    kind: str
    fields: tuple[str, ...]

    def encode(self) -> bytes:
        """The sentence with checksum, CR and LF."""
        text = ",".join((self.talker + self.kind, *self.fields)).encode("ascii")
        return b"$%s*%02X\r\n" % (text, xor_checksum(text))


def decode(line: bytes) -> Sentence | None:
    """The sentence of a line, or None if it is none, or its checksum is wrong.

    Args:
        line: From `$` on; CR and LF may be missing.
    """
    text, star, checksum = line.strip().removeprefix(b"$").partition(b"*")
    if not (star and line.startswith(b"$") and len(checksum) == 2 and text.isascii()):
        return None
    try:
        if int(checksum, 16) != xor_checksum(text):
            return None
    except ValueError:
        return None
    address, *fields = text.decode("ascii").split(",")
    return Sentence(address[:2], address[2:], tuple(fields))


def split_stream(data: bytes) -> tuple[list[bytes], bytes]:
    """Complete lines of a stream, each from its last `$` on, and the rest that is not complete yet."""
    *lines, rest = data.split(b"\n")
    return [line[line.rfind(b"$") :] for line in lines if b"$" in line], rest[-_LONGEST:]


def encode_fix(fix: Fix, *, talker: str = "GN") -> Iterator[bytes]:
    """The sentences of one epoch, in the order in which receivers send them: RMC, VTG, GGA, GSA, ZDA.

    Without a fix the position's fields are empty and the status says so.
    """
    for kind, fields in _sentences(fix):
        yield Sentence(talker, kind, tuple(fields)).encode()


def _sentences(fix: Fix) -> Iterator[tuple[str, list[str]]]:
    utc = fix.utc + timedelta(milliseconds=5)  # rounded to hundredths as a whole: 59.996 s is the next minute
    clock = f"{utc:%H%M%S}.{utc.microsecond // 10000:02d}"
    place = _place(fix)
    mode = _MODE[fix.quality] if fix.has_fix else "N"
    speed_knots = f"{fix.ground_speed_m_s / M_S_PER_KNOT:.3f}" if fix.has_fix else ""
    speed_km_h = f"{fix.ground_speed_m_s * _KM_H_PER_M_S:.3f}" if fix.has_fix else ""
    course = f"{round(fix.course_deg, 2) % 360.0:.2f}" if fix.has_fix else ""
    dops = [f"{min(dop, 99.99):.2f}" for dop in (fix.pdop, fix.hdop, fix.vdop)] if fix.has_fix else ["99.99"] * 3
    count = fix.satellites if fix.has_fix else 0

    status = "A" if fix.has_fix else "V"
    yield "RMC", [clock, status, *place, speed_knots, course, f"{utc:%d%m%y}", "", "", mode]
    yield "VTG", [course, "T", "", "M", speed_knots, "N", speed_km_h, "K", mode]
    heights = _heights(fix) if fix.has_fix else ["", "M", "", "M"]
    quality = str(_QUALITY[fix.quality]) if fix.has_fix else "0"
    yield "GGA", [clock, *place, quality, f"{min(count, 99):02d}", dops[1], *heights, "", ""]
    used = [f"{number:02d}" for number in range(1, min(count, _GSA_CHANNELS) + 1)]
    yield "GSA", ["A", "3" if fix.has_fix else "1", *used, *[""] * (_GSA_CHANNELS - len(used)), *dops]
    yield "ZDA", [clock, f"{utc:%d}", f"{utc:%m}", f"{utc:%Y}", "00", "00"]


def _place(fix: Fix) -> list[str]:
    if not fix.has_fix:
        return ["", "", "", ""]
    north = "N" if fix.latitude_deg >= 0 else "S"
    east = "E" if fix.longitude_deg >= 0 else "W"
    return [_angle(fix.latitude_deg, 2), north, _angle(fix.longitude_deg, 3), east]


def _angle(degrees: float, digits: int) -> str:
    """Degrees and minutes as one number, dddmm.mmmmmm, rounded as a whole; the last digit is 1.9 mm of latitude."""
    whole, minutes = divmod(round(abs(degrees) * 60e6), 60 * 10**6)
    return f"{whole:0{digits}d}{minutes // 10**6:02d}.{minutes % 10**6:06d}"


def _heights(fix: Fix) -> list[str]:
    """Altitude, and the geoid's height; their sum is the height above the ellipsoid to a centimeter."""
    geoid_m = round(fix.geoid_m, 1)
    return [f"{fix.height_m - geoid_m:.2f}", "M", f"{geoid_m:.1f}", "M"]


def degrees_of(angle: str, hemisphere: str) -> float:
    """Degrees of a field ddmm.mmmm; south and west are negative."""
    point = angle.index(".") if "." in angle else len(angle)
    value = float(angle[: point - 2] or 0) + float(angle[point - 2 :]) / 60.0
    return -value if hemisphere in ("S", "W") else value
