"""Runs that go on in a thread while a test talks to them."""

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import sensorium as sn
from sensorium.environment import Environment
from sensorium.live.sink import LiveSink

RECEIVERS = Path(__file__).parent / "receivers"


def free_port() -> int:
    """A TCP port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def car(step_s: float = 0.02) -> Environment:
    """A commanded car with a plane lidar, an IMU that may get stuck, and a range finder."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(80.0, 60.0, 20.0), label="walls")
    env = sn.Environment(scene, sn.worlds.Commanded({"car": sn.Pose()}, step_s=step_s), seed=3)
    flat = sn.patterns.Spinning(elevation_deg=(0.0,), columns=90, rate_hz=10.0)
    ray = sn.patterns.Table(azimuth_deg=(0,), elevation_deg=(0,), time_s=(0,), rate_hz=10)
    stuck = sn.corruption.Fault(sn.corruption.Stuck(mode="present"), start_s=1e6, name="stuck")
    imu = sn.Imu(timing=sn.Timing(rate_hz=50.0), faults=sn.corruption.FaultSchedule(faults=[stuck]))
    env.attach(sn.Lidar(pattern=flat), body="car", name="flat")
    env.attach(imu, body="car", pose=sn.Pose((0.1, 0.0, 0.5)))
    env.attach(sn.Lidar(pattern=ray), body="car", name="ray")
    return env


class Running:
    """A run in real time, in a thread, until it is left."""

    def __init__(self, env: Environment, *sinks: LiveSink, clock: Any = None) -> None:
        self.env, self.sinks = env, sinks
        self.clock = sn.live.RunClock(1.0) if clock is None else clock
        self.error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Running":
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self.clock.stop()
        self._thread.join(10.0)
        assert not self._thread.is_alive(), "the run does not end"
        if self.error is not None:
            raise self.error

    def stands_still(self, seconds: float) -> bool:
        """Whether less than 0.7 of this real time passes in the run meanwhile."""
        began_ns, began_s = self.env.time_ns, time.monotonic()
        time.sleep(seconds)
        return (self.env.time_ns - began_ns) * 1e-9 < 0.7 * (time.monotonic() - began_s)

    def stops_within(self, seconds: float) -> bool:
        """Whether the run ends in this time."""
        self.clock.stop()
        self._thread.join(seconds)
        return not self._thread.is_alive()

    def _run(self) -> None:
        try:
            self.env.run(600.0, realtime=self.clock, live=list(self.sinks)).finish()
        except BaseException as error:
            self.error = error


def eventually(condition: Callable[[], Any], timeout_s: float = 15.0) -> Any:
    """The first true value of a condition, within a time."""
    end_s = time.monotonic() + timeout_s
    while time.monotonic() < end_s:
        if value := condition():
            return value
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def open_sockets() -> int:
    """Sockets of this process."""
    count = 0
    for fd in os.listdir("/proc/self/fd"):
        try:
            count += os.readlink(f"/proc/self/fd/{fd}").startswith("socket:")
        except OSError:
            continue
    return count


def live_threads() -> list[str]:
    """Threads of sinks and of callbacks from Zenoh in this process."""
    names = [thread.name for thread in threading.enumerate()]
    return [name for name in names if "live" in name or "pyo3" in name]


class Counting:
    """A process that counts what it receives."""

    def __init__(self, stack: ExitStack, script: str, *arguments: object) -> None:
        command = [sys.executable, str(RECEIVERS / script), *map(str, arguments)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        stack.callback(self._end)
        assert self.process.stdout is not None
        assert self.process.stdout.readline().strip() == "ready"
        self.count = 0
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.count = int(line)

    def _end(self) -> None:
        self.process.kill()
        self.process.wait(10.0)
        self._thread.join(10.0)
        assert self.process.stdout is not None
        self.process.stdout.close()
