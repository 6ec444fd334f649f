"""UBX frames against pyubx2, which others wrote."""

import numpy as np
import pytest

from sensorium.live.talkers.formats import ubx
from sensorium.live.talkers.formats.fix import gps_week_and_ms
from tests.unit.live.talkers.formats.cases import in_pieces, random_fix

RNG = np.random.default_rng(5562)
SKY = [(10.0 * k, 80.0 - 7.0 * k) for k in range(9)]


def test_pyubx2_reads_every_frame_and_the_same_numbers():
    pyubx2 = pytest.importorskip("pyubx2")
    for _ in range(100):
        fix = random_fix(RNG)
        frames = ubx.encode_fix(fix, sky=SKY)
        read = {message.identity: message for message in map(pyubx2.UBXReader.parse, frames)}
        assert list(read) == ["NAV-PVT", "NAV-DOP", "NAV-TIMEGPS", "NAV-SAT", "NAV-EOE"]
        assert [read[name].serialize() for name in read] == frames
        pvt = read["NAV-PVT"]
        assert (pvt.lat, pvt.lon) == pytest.approx((fix.latitude_deg, fix.longitude_deg), abs=5.1e-8)
        assert pvt.height / 1e3 == pytest.approx(fix.height_m, abs=5.1e-4)
        assert pvt.hMSL / 1e3 == pytest.approx(fix.altitude_m, abs=5.1e-4)
        east, north, up = fix.velocity_m_s
        assert (pvt.velE / 1e3, pvt.velN / 1e3, -pvt.velD / 1e3) == pytest.approx((east, north, up), abs=5.1e-4)
        assert pvt.headMot == pytest.approx(fix.course_deg, abs=1e-5)
        assert (pvt.fixType, pvt.gnssFixOk, pvt.numSV) == (3, 1, fix.satellites)
        assert pvt.carrSoln == {"rtk_float": 1, "rtk_fixed": 2}.get(fix.quality, 0)
        assert pvt.diffSoln == (fix.quality != "single")
        utc = (pvt.year, pvt.month, pvt.day, pvt.hour, pvt.min, pvt.second, pvt.nano)
        assert utc == (*fix.utc.timetuple()[:6], 1000 * fix.utc.microsecond)
        assert {message.iTOW for message in read.values()} == {gps_week_and_ms(fix.utc)[1]}
        assert (pvt.hAcc / 1e3, pvt.vAcc / 1e3) == pytest.approx(
            (fix.horizontal_std_m, fix.vertical_std_m), abs=5.1e-4
        )
        dop = read["NAV-DOP"]
        assert (dop.hDOP, dop.vDOP, dop.pDOP) == pytest.approx((fix.hdop, fix.vdop, fix.pdop), abs=0.0051)
        assert np.hypot(dop.nDOP, dop.eDOP) == pytest.approx(fix.hdop, abs=0.02)
        sat = read["NAV-SAT"]
        assert sat.numSvs == len(SKY)
        assert [(getattr(sat, f"azim_{k:02d}"), getattr(sat, f"elev_{k:02d}")) for k in range(1, 10)] == SKY
        assert all(getattr(sat, f"svUsed_{k:02d}") for k in range(1, 10))


def test_without_a_fix():
    pvt = ubx.decode(ubx.encode_fix(random_fix(RNG, has_fix=False), sky=[])[0]).fields
    assert (pvt["fixType"], pvt["flags"], pvt["numSV"], pvt["flags3"]) == (0, 0, 0, 1)


def test_decoded_frames_encode_to_the_same_bytes():
    for _ in range(20):
        for frame in ubx.encode_fix(random_fix(RNG), sky=SKY):
            message = ubx.decode(frame)
            assert ubx.encode(message.name, **message.fields) == frame


def test_a_stream_in_any_pieces_with_noise_gives_the_frames():
    frames = [frame for _ in range(6) for frame in ubx.encode_fix(random_fix(RNG), sky=SKY)]
    data = b"\xb5\xb5\x62\x01" + b"\xb5\x62".join([b"".join(frames[:7]), b"".join(frames[7:])])
    assert in_pieces(ubx.split_stream, data, RNG, 90)[0] == frames


def test_broken_frames_are_refused():
    frame = bytearray(ubx.encode_fix(random_fix(RNG), sky=SKY)[0])
    for _ in range(50):
        broken = bytearray(frame)
        broken[RNG.integers(len(frame))] ^= 1 << int(RNG.integers(8))
        assert ubx.decode(bytes(broken)) is None
    assert ubx.decode(b"") is None
    assert ubx.decode(bytes(frame[:-1])) is None
