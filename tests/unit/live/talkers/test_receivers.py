"""Satellite receivers: what arrives at a port is what the sensor read."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live.talkers.formats import nmea, ubx
from tests.unit.live.talkers.rig import datagrams, live_threads, run_and_keep, vehicle


def test_nmea_has_every_reading_with_its_time_and_place():
    env = vehicle()
    with datagrams() as (port, received):
        sink = sn.live.open_sink("nmea", port=f"udp:{port}", start_utc="2026-06-01T12:00:00Z", talker="GP")
        kept = run_and_keep(env, [sink], duration_s=2.0)
    sentences = [nmea.decode(data) for data in received]
    assert [one.kind for one in sentences] == ["RMC", "VTG", "GGA", "GSA", "ZDA"] * len(kept["gnss"])
    assert {one.talker for one in sentences} == {"GP"}
    for k, reading in enumerate(kept["gnss"]):
        rmc, _, gga, _, zda = (one.fields for one in sentences[5 * k : 5 * k + 5])
        latitude, longitude, height = reading.geodetic
        assert nmea.degrees_of(gga[1], gga[2]) == pytest.approx(latitude, abs=1e-8)
        assert nmea.degrees_of(rmc[4], rmc[5]) == pytest.approx(longitude, abs=1e-8)
        assert float(gga[8]) + float(gga[10]) == pytest.approx(height, abs=0.0051)
        utc = datetime(2026, 6, 1, 12, tzinfo=UTC) + timedelta(microseconds=reading.time_ns / 1000)
        assert zda[:4] == (f"{utc:%H%M%S}.{utc.microsecond // 10000:02d}", "01", "06", "2026")
    assert sink.state().sent == len(received)
    assert sink.state().dropped == 0
    assert not live_threads()


def test_ubx_has_every_reading_and_its_figures():
    env = vehicle(gnss={"velocity": {"noise": {"std": 0.05}}})
    with datagrams() as (port, received):
        sink = sn.live.open_sink("ubx", port=f"udp:{port}", quality="rtk_fixed", geoid_m=47.5, satellites=20)
        kept = run_and_keep(env, [sink], duration_s=1.0)
    frames = [ubx.decode(data) for data in received]
    assert [one.name for one in frames] == ["NAV-PVT", "NAV-DOP", "NAV-TIMEGPS", "NAV-SAT", "NAV-EOE"] * 5
    for reading, pvt in zip(kept["gnss"], [one.fields for one in frames if one.name == "NAV-PVT"], strict=True):
        assert np.array([pvt["lat"], pvt["lon"]]) / 1e7 == pytest.approx(reading.geodetic[:2], abs=5.1e-8)
        assert pvt["height"] / 1e3 == pytest.approx(reading.geodetic[2], abs=5.1e-4)
        assert pvt["hMSL"] == pytest.approx(pvt["height"] - 47_500, abs=1)
        assert np.array([pvt["velE"], pvt["velN"], -pvt["velD"]]) / 1e3 == pytest.approx(reading.velocity, abs=5.1e-4)
        assert (pvt["numSV"], pvt["flags"]) == (20, 0x83)
        # HDOP and VDOP times an error of 1 m of each range; the noise of the velocity
        assert (pvt["hAcc"], pvt["vAcc"], pvt["sAcc"]) == (1100, 1700, 50)


def test_no_fix_is_sent_as_such():
    env = vehicle(gnss={"extra": (sn.corruption.Dropout(probability=1.0, fill="nan"),)})
    with datagrams() as (port, received):
        run_and_keep(env, [sn.live.open_sink("nmea", port=f"udp:{port}")])
    gga = [one.fields for one in map(nmea.decode, received) if one.kind == "GGA"]
    assert len(gga) == 5
    assert all(fields[5] == "0" for fields in gga)


def test_satellites_are_the_visible_share():
    env = vehicle(gnss={"min_sky_fraction": 0.2})
    with datagrams() as (port, received):
        kept = run_and_keep(env, [sn.live.open_sink("ubx", port=f"udp:{port}", satellites=30)])
    used = [one.fields["numSV"] for one in map(ubx.decode, received) if one.name == "NAV-PVT"]
    assert used == [round(30 * float(reading.sky_fraction)) for reading in kept["gnss"]]


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: vehicle(sensors=("imu",)), {}, "'nmea' needs a sensor of kind 'gnss'; the environment has none"),
        (lambda: vehicle(gnss={"origin": None}), {}, "the sensor 'gnss' has no origin"),
        (vehicle, {"gnss": "gps"}, "names the gnss 'gps'; the sensors of that kind are gnss"),
        (lambda: vehicle(worlds=2), {}, "sends one device; 'gnss' has 2 worlds"),
    ],
)
def test_what_cannot_be_sent_is_refused_before_the_first_step(make, options, message):
    env = make()
    with pytest.raises(SpecError, match=message):
        env.run(1.0, live=[sn.live.open_sink("nmea", port="udp:9", **options)]).finish()
    assert env.time_ns == 0
    assert not live_threads()


def test_several_receivers_must_be_named():
    env = vehicle()
    env.attach(sn.Gnss(origin=(0, 0, 0)), body="car", name="second")
    with pytest.raises(SpecError, match="finds several of kind 'gnss', gnss, second; it must name one"):
        env.run(1.0, live=[sn.live.open_sink("nmea", port="udp:9")]).finish()


@pytest.mark.parametrize(
    "options",
    [{"start_utc": "2026-01-01T00:00:00"}, {"start_utc": "1999-01-01T00:00:00Z"}, {"talker": "gps"}, {"port": "com1"}],
)
def test_wrong_options(options):
    with pytest.raises(SpecError):
        sn.live.open_sink("nmea", **options)
