"""gpsd, as Debian has it, reads the talkers: on a pseudo-terminal, TCP and UDP, killed and started again."""

import json
import math
import shutil
import socket
import subprocess
import threading
import time

import pytest

import sensorium as sn

GPSD = shutil.which("gpsd") or shutil.which("gpsd", path="/usr/sbin:/usr/local/sbin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(GPSD is None, reason="gpsd is not installed (apt-get install gpsd gpsd-clients)"),
]

ORIGIN = (48.1, 11.6, 520.0)
SPEED_M_S, COURSE_DEG = 5.0, math.degrees(math.atan2(3.0, 4.0))


class LiveRun:
    """A run in a thread, until it is stopped."""

    def __init__(self, name, port):
        world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(3, 4, 0))}, step_s=0.05)
        env = sn.Environment(sn.Scene(), world)
        gnss = sn.Gnss(timing=sn.Timing(rate_hz=5.0), origin=ORIGIN, hdop=1.1, vdop=1.7, uere_m=0.0)
        env.attach(gnss, body="car")
        self.sink = sn.live.open_sink(name, port=port, geoid_m=47.0, start_utc="2026-06-01T12:00:00Z")
        self._clock, self._opened = sn.live.RunClock(1.0), threading.Event()
        self._run = env.run(600.0, realtime=self._clock, live=[self.sink])
        self._thread = threading.Thread(target=self._work)
        self._thread.start()
        assert self._opened.wait(60.0)

    def _work(self):
        for _ in self._run:
            self._opened.set()

    def stop(self):
        self._clock.stop()
        self._thread.join()


class Gpsd:
    """A gpsd of its own on loopback, and a client of its JSON socket."""

    def __init__(self, source):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self._port = free.getsockname()[1]
        self._process = subprocess.Popen(
            [GPSD, "-N", "-n", "-b", "-S", str(self._port), source], stderr=subprocess.DEVNULL
        )

    def reports(self, *, until, seconds=30.0):
        """Reports until this is true of them."""
        found, ends_s, buffered = [], time.monotonic() + seconds, b""
        with self._connected(ends_s) as client:
            client.sendall(b'?WATCH={"enable":true,"json":true};\n')
            while time.monotonic() < ends_s and not until(found):
                buffered += client.recv(65536)
                *lines, buffered = buffered.split(b"\n")
                found += [json.loads(line) for line in lines if line.strip()]
        return found

    def _connected(self, ends_s):
        while True:
            try:
                return socket.create_connection(("127.0.0.1", self._port), timeout=10.0)
            except OSError:
                if time.monotonic() > ends_s or self._process.poll() is not None:
                    raise
                time.sleep(0.1)

    def kill(self):
        self._process.kill()
        self._process.wait()


def fixes(found):
    return [one for one in found if one["class"] == "TPV" and one.get("mode") == 3 and "altHAE" in one]


def check(found):
    """Positions on the true path at their own times."""
    assert len(fixes(found)) >= 5
    for fix in fixes(found)[1:]:
        clock = time.strptime(fix["time"][:19], "%Y-%m-%dT%H:%M:%S")
        assert (clock.tm_year, clock.tm_mon, clock.tm_mday, clock.tm_hour) == (2026, 6, 1, 12)
        t = 60 * clock.tm_min + clock.tm_sec + float(fix["time"][19:-1])
        assert (fix["lat"] - ORIGIN[0]) * 111_195 == pytest.approx(4.0 * t, rel=0.01, abs=0.05)
        east_m = (fix["lon"] - ORIGIN[1]) * 111_195 * math.cos(math.radians(ORIGIN[0]))
        assert east_m == pytest.approx(3.0 * t, rel=0.01, abs=0.05)
        assert fix["altHAE"] == pytest.approx(520.0, abs=0.05)
        assert fix["altMSL"] == pytest.approx(473.0, abs=0.06)
        assert fix["speed"] == pytest.approx(SPEED_M_S, abs=0.01)
        assert fix["track"] == pytest.approx(COURSE_DEG, abs=0.02)


@pytest.mark.parametrize(
    ("name", "driver", "way"),
    [("nmea", "NMEA0183", "pty"), ("ubx", "u-blox", "pty"), ("ubx", "u-blox", "tcp"), ("nmea", "NMEA0183", "udp")],
)
def test_gpsd_reads_positions_on_the_true_path(name, driver, way, tmp_path):
    if way == "udp":
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            free.bind(("127.0.0.1", 0))
            number = free.getsockname()[1]
    run = LiveRun(name, {"pty": f"pty:{tmp_path / 'gps'}", "tcp": "tcp:0"}.get(way) or f"udp:{number}")
    source = {"pty": str(tmp_path / "gps")}.get(way) or f"{way}://127.0.0.1:{run.sink.port.port}"
    gpsd = Gpsd(source)
    try:
        found = gpsd.reports(until=lambda found: len(fixes(found)) >= 6)
    finally:
        gpsd.kill()
        run.stop()
    check(found)
    drivers = {one.get("driver") for one in found if one["class"] == "DEVICE"}
    drivers |= {device.get("driver") for one in found if one["class"] == "DEVICES" for device in one["devices"]}
    assert driver in drivers
    if name == "ubx":
        sky = next(one for one in found if one["class"] == "SKY")
        assert (sky["hdop"], sky["vdop"], sky["uSat"]) == (1.1, 1.7, 12)


def test_gpsd_may_be_killed_and_started_again(tmp_path):
    run = LiveRun("nmea", f"pty:{tmp_path / 'gps'}")
    try:
        for _ in range(2):
            gpsd = Gpsd(str(tmp_path / "gps"))
            try:
                check(gpsd.reports(until=lambda found: len(fixes(found)) >= 6))
            finally:
                gpsd.kill()
    finally:
        run.stop()
    assert not (tmp_path / "gps").is_symlink()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("sensorium-live")]
