"""NMEA 0183 against pynmea2, which others wrote, and against published sentences."""

import math

import numpy as np
import pytest

from sensorium.live.talkers.formats import nmea
from tests.unit.live.talkers.formats.cases import in_pieces, random_fix

RNG = np.random.default_rng(183)
_QUALITY = {"single": 1, "differential": 2, "rtk_fixed": 4, "rtk_float": 5}


def test_pynmea2_reads_every_sentence_and_the_same_numbers():
    pynmea2 = pytest.importorskip("pynmea2")
    for _ in range(200):
        fix = random_fix(RNG)
        read = {}
        for line in nmea.encode_fix(fix, talker="GP"):
            assert len(line) <= 82
            assert line.endswith(b"\r\n")
            message = pynmea2.parse(line.decode("ascii"), check=True)
            read[message.sentence_type] = message
        assert set(read) == {"GGA", "RMC", "GSA", "VTG", "ZDA"}
        for kind in ("GGA", "RMC"):
            # half of the last digit, 1e-6 minutes
            assert read[kind].latitude == pytest.approx(fix.latitude_deg, abs=1e-8)
            assert read[kind].longitude == pytest.approx(fix.longitude_deg, abs=1e-8)
            assert read[kind].timestamp.replace(tzinfo=None) == fix.utc.time()
        gga = read["GGA"]
        assert gga.gps_qual == _QUALITY[fix.quality]
        assert int(gga.num_sats) == fix.satellites
        assert gga.altitude + float(gga.geo_sep) == pytest.approx(fix.height_m, abs=0.0051)
        assert gga.altitude == pytest.approx(fix.altitude_m, abs=0.06)
        assert float(gga.horizontal_dil) == pytest.approx(fix.hdop, abs=0.0051)
        assert read["RMC"].datestamp == fix.utc.date()
        assert read["RMC"].spd_over_grnd * 1852 / 3600 == pytest.approx(fix.ground_speed_m_s, abs=3e-4)
        assert _angle_between(float(read["VTG"].true_track), fix.course_deg) <= 0.0051
        assert read["VTG"].spd_over_grnd_kmph / 3.6 == pytest.approx(fix.ground_speed_m_s, abs=2e-4)
        gsa = read["GSA"]
        assert gsa.mode_fix_type == "3"
        assert float(gsa.pdop) == pytest.approx(math.hypot(fix.hdop, fix.vdop), abs=0.0051)
        assert sum(bool(getattr(gsa, f"sv_id{k:02d}")) for k in range(1, 13)) == min(fix.satellites, 12)
        assert (read["ZDA"].year, read["ZDA"].month, read["ZDA"].day) == (fix.utc.year, fix.utc.month, fix.utc.day)


def test_without_a_fix_there_is_no_position():
    for _ in range(10):
        lines = [nmea.decode(line) for line in nmea.encode_fix(random_fix(RNG, has_fix=False))]
        of = {line.kind: line.fields for line in lines}
        assert of["RMC"][1] == "V"
        assert of["RMC"][2:8] == ("",) * 6
        assert of["RMC"][-1] == "N"
        assert of["GGA"][1:7] == ("", "", "", "", "0", "00")
        assert of["GSA"][1] == "1"


def test_minutes_never_reach_sixty():
    fix = random_fix(RNG)._replace(latitude_deg=47.99999999999, longitude_deg=-9.99999999999)
    gga = next(one for one in map(nmea.decode, nmea.encode_fix(fix)) if one.kind == "GGA")
    assert gga.fields[1:5] == ("4800.000000", "N", "01000.000000", "W")


def test_seconds_round_into_the_next_day():
    fix = random_fix(RNG)
    fix = fix._replace(utc=fix.utc.replace(month=12, day=31, hour=23, minute=59, second=59, microsecond=996_000))
    zda = next(one for one in map(nmea.decode, nmea.encode_fix(fix)) if one.kind == "ZDA")
    assert zda.fields[:4] == ("000000.00", "01", "01", str(fix.utc.year + 1))


def test_decode_refuses_wrong_checksums_and_other_text():
    line = b"$GPGLL,5057.970,N,00146.110,E,142451,A*27\r\n"
    assert nmea.decode(line) == ("GP", "GLL", ("5057.970", "N", "00146.110", "E", "142451", "A"))
    assert nmea.degrees_of("5057.970", "N") == pytest.approx(50.9661666667)
    for wrong in (line.replace(b"7.9", b"8.9"), b"", b"$", b"$*", b"$GPGLL", b"GP*00", b"$a*zz", b"$\xff*7F"):
        assert nmea.decode(wrong) is None


def test_a_stream_in_any_pieces_gives_the_same_lines():
    data = b"noise$GP" + b"".join(line for _ in range(5) for line in nmea.encode_fix(random_fix(RNG)))
    found = [nmea.decode(line) for line in in_pieces(nmea.split_stream, data, RNG, 60)[0]]
    assert len(found) == 25
    assert None not in found


def _angle_between(a: float, b: float) -> float:
    return abs((a - b + 180.0) % 360.0 - 180.0)
