"""Both ends as commands: a run that talks, a listener, and what is left when either is killed."""

import contextlib
import os
import signal
import subprocess
import sys
import time

import pytest

pytestmark = pytest.mark.slow

SCENARIO = """
duration_s: 600
world: {kind: kinematic, step_s: 0.02, bodies: {car: {kind: line, velocity: [3, 4, 0]}}}
sensors:
  gnss: {kind: gnss, body: car, origin: [48.1, 11.6, 520.0], timing: {rate_hz: 10}}
  imu: {kind: imu, body: car, timing: {rate_hz: 100}}
live:
  nmea: {port: "pty:LINK/gps", start_utc: "2026-06-01T12:00:00Z"}
  xsens: {port: "pty:LINK/imu"}
"""


def command(*words):
    return [sys.executable, "-m", "sensorium", *map(str, words)]


@pytest.fixture
def run(tmp_path):
    """A function that starts the run, and waits until its terminals are there."""
    (tmp_path / "drive.yaml").write_text(SCENARIO.replace("LINK", str(tmp_path)))
    running = []

    def start():
        for name in ("gps", "imu"):
            (tmp_path / name).unlink(missing_ok=True)
        words = command("run", tmp_path / "drive.yaml", "--out", tmp_path / f"out{len(running)}")
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        running.append(process)
        until_s = time.monotonic() + 120.0
        while not ((tmp_path / "gps").exists() and (tmp_path / "imu").exists()):
            assert process.poll() is None, process.communicate()
            assert time.monotonic() < until_s
            time.sleep(0.05)
        return process

    yield start
    for process in running:
        process.kill()
        process.wait()


def listened(name, source, count):
    words = command("listen", name, "--set", f"source={source}", "--count", count, "--seconds", 60)
    return subprocess.run(words, capture_output=True, text=True, check=True, timeout=120.0).stdout


def test_listen_shows_a_run_and_sigterm_ends_it(run, tmp_path):
    process = run()
    assert listened("nmea", tmp_path / "gps", 50).count(",010626,") == 10  # the date in each RMC
    for _ in range(2):  # one that ended, one that comes later
        assert listened("xsens", tmp_path / "imu", 30).count("MTData2 packet_counter") == 30
    process.send_signal(signal.SIGTERM)
    shown = process.communicate(timeout=60.0)[0]
    assert process.returncode == 143
    assert f"{tmp_path / 'gps'} (/dev/pts/" in shown
    assert not (tmp_path / "gps").is_symlink()
    assert not (tmp_path / "imu").is_symlink()


def test_a_killed_run_ends_its_readers_and_is_started_again(run, tmp_path):
    process = run()
    reader = os.open(tmp_path / "imu", os.O_RDONLY | os.O_NOCTTY)
    assert os.read(reader, 10)
    process.kill()
    process.wait()
    with contextlib.suppress(OSError):
        while os.read(reader, 65536):  # what still waits, then the end of the line
            pass
    os.close(reader)
    run()
    assert "GGA" in listened("nmea", tmp_path / "gps", 5)
