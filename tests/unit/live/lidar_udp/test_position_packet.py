"""Position packets against NMEA's rules."""

import struct

import pytest

import sensorium as sn
from sensorium.live.lidar_udp.position_packet import position_packet


def reading(**fields):
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(3.0, 4.0, 0))}, step_s=0.5)
    env = sn.Environment(sn.Scene(), world)
    gnss = env.attach(sn.Gnss(timing={"rate_hz": 2}, **fields), body="car", name="gnss")
    env.step()
    return gnss.read()


@pytest.mark.parametrize(("latitude", "longitude"), [(48.137, 11.575), (-33.8688, 151.2093), (0.5, -179.999)])
def test_sentence_has_place_motion_time_and_checksum(latitude, longitude):
    packet = position_packet(reading(origin=(latitude, longitude, 100.0)), 946_684_800.0 + 3723.0)
    assert len(packet) == 512
    time_us, pulse = struct.unpack_from("<IB", packet, 198)
    assert time_us == 123_500_000
    assert pulse == 2
    sentence = packet[206:].split(b"\r\n")[0].decode()
    text, _, checksum = sentence[1:].partition("*")
    parity = 0
    for letter in text.encode():
        parity ^= letter
    assert sentence[0] == "$"
    assert int(checksum, 16) == parity
    kind, clock, status, lat, north, lon, east, knots, course, date, *_ = text.split(",")
    assert (kind, clock, status, date) == ("GPRMC", "010203.50", "A", "010100")
    found = [int(lat[:2]) + float(lat[2:]) / 60.0, int(lon[:3]) + float(lon[3:]) / 60.0]
    assert found[0] * (1 if north == "N" else -1) == pytest.approx(latitude, abs=1e-4)
    assert found[1] * (1 if east == "E" else -1) == pytest.approx(longitude, abs=1e-4)
    assert float(knots) == pytest.approx(5.0 * 3600 / 1852, abs=0.06)
    assert float(course) == pytest.approx(36.9, abs=0.06)


def test_without_a_fix_the_sentence_is_void():
    outage = sn.corruption.Dropout(probability=1.0, fill="nan")
    packet = position_packet(reading(origin=(48.0, 11.0, 0.0), extra=(outage,)), 0.0)
    assert packet[202] == 0
    assert packet[206:].startswith(b"$GPRMC,000000.50,V,,,,,,,010170,,,N*")
