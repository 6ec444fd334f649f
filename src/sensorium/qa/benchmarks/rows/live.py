"""What a live sink with a receiver in another process adds to a run's steps: clouds of 131,072 points at 20 Hz."""

import subprocess
import sys
import time
from collections.abc import Callable
from statistics import median
from threading import Thread
from typing import Any, NamedTuple, Self

import numpy as np

import sensorium as sn
from sensorium.record.ros2.step_messages import StepMessages

CHANNELS, COLUMNS, RATE_HZ = 128, 1024, 20.0

# Steps before those that count: kernels are compiled and memory is touched with them
_FIRST = 10

# Time for messages on their way to arrive [s]
_SETTLES_S = 1.0

_TOPIC = "/lidar/points"


class Path(NamedTuple):
    """One way to send clouds, and a receiver of them."""

    sink: Callable[[], Any]
    """Makes the sink."""
    argument: Callable[[Any], str]
    """What the receiver needs to find the sink once it is open."""
    receive: Callable[[str], None]
    """Receives in a process of its own, and prints a line for each cloud."""


class Added(NamedTuple):
    """Time that a sink adds to a step [s]: the difference of quantiles with and without it."""

    p99_s: float
    median_s: float
    send_cpu_p99_s: float
    """CPU time of the run's thread in `send` alone, which other load of the machine does not change."""
    received: float
    """Share of the clouds that the receiver got [1]."""


def room() -> sn.Environment:
    """A lidar that drives in a closed room, one sweep a step: every ray returns."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(80.0, 60.0, 20.0), label="walls")
    world = sn.worlds.Kinematic({"car": sn.paths.Circle((0, 0, 0), radius=5.0, rate=0.5)}, step_s=1.0 / RATE_HZ)
    env = sn.Environment(scene, world)
    elevation = tuple(22.5 - 45.0 * k / (CHANNELS - 1) for k in range(CHANNELS))
    env.attach(
        sn.Lidar(pattern=sn.patterns.Spinning(elevation_deg=elevation, columns=COLUMNS, rate_hz=RATE_HZ)), body="car"
    )
    return env


def added(name: str, *, steps: int = 200, rounds: int = 4) -> Added:
    """Time steps at 20 Hz with a sink and its receiver, and without, in turn.

    Args:
        name: Of `PATHS`.
        steps: Steps of each kind.
        rounds: How often the two take turns, so that other load of the machine affects both.
    """
    path, env, maker = PATHS[name], room(), StepMessages()
    with_s: list[float] = []
    without_s: list[float] = []
    send_s: list[float] = []
    sink = path.sink()
    sink.open(env, sn.live.RunClock())
    try:
        _timed(env, _FIRST, sink, maker)  # topics become known
        with _Receiver(name, path.argument(sink)) as receiver:
            while not receiver.clouds:
                _timed(env, 1, sink, maker)
            time.sleep(_SETTLES_S)
            before = receiver.clouds
            for _ in range(rounds):
                whole_s, of_send_s = _timed(env, steps // rounds, sink, maker)
                with_s += whole_s
                send_s += of_send_s
                without_s += _timed(env, steps // rounds, None, maker)[0]
            time.sleep(_SETTLES_S)
            received = (receiver.clouds - before) / len(with_s)
    finally:
        sink.close()
    p99_s = float(np.quantile(with_s, 0.99) - np.quantile(without_s, 0.99))
    return Added(p99_s, median(with_s) - median(without_s), float(np.quantile(send_s, 0.99)), received)


def _timed(env: sn.Environment, steps: int, sink: Any, maker: StepMessages) -> tuple[list[float], list[float]]:
    """Times of steps with what is sent of them, and CPU times of sending alone [s]; paced at 20 Hz."""
    whole_s, send_s = [], []
    next_s = time.perf_counter()
    for _ in range(steps):
        next_s += 1.0 / RATE_HZ
        began_s = time.perf_counter()
        env.step()
        stepped_s = time.thread_time()
        if sink is not None:
            sink.send(sn.live.LiveStep(env, maker))
        send_s.append(time.thread_time() - stepped_s)
        whole_s.append(time.perf_counter() - began_s)
        time.sleep(max(0.0, next_s - time.perf_counter()))
    return whole_s, send_s


class _Receiver:
    """A receiver in a process of its own, and how many clouds it has."""

    def __init__(self, name: str, argument: str) -> None:
        command = [sys.executable, "-m", __name__, name, argument]
        self._process = subprocess.Popen(command, stdout=subprocess.PIPE)
        self._thread = Thread(target=self._count, daemon=True)
        self.clouds = 0

    def _count(self) -> None:
        assert self._process.stdout is not None
        for _ in self._process.stdout:
            self.clouds += 1

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *error: object) -> None:
        self._process.kill()
        self._process.wait()
        self._thread.join()


def _receive_foxglove(port: str) -> None:
    from sensorium.live.listen.foxglove import FoxgloveListening, FoxgloveReceiver

    with FoxgloveReceiver(FoxgloveListening(port=int(port), topics=(_TOPIC,))) as receiver:
        while True:
            if receiver.receive(1.0) is not None:
                print("a cloud", flush=True)


PATHS = {
    "Foxglove": Path(
        lambda: sn.live.open_sink("foxglove", port=0), lambda sink: str(sink.port), _receive_foxglove
    ),
}


if __name__ == "__main__":
    PATHS[sys.argv[1]].receive(sys.argv[2])
