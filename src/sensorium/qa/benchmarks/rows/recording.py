"""Delay of a run by recording, and the amount written: clouds of 262,144 points."""

import tempfile
import time
from pathlib import Path
from statistics import median
from typing import NamedTuple

import sensorium as sn
from sensorium.qa.benchmarks.rows.sweep import CHANNELS, COLUMNS
from sensorium.qa.benchmarks.timing import seconds

_PERIOD_S = 0.1

# Clouds before those that count: kernels are compiled and memory is touched with them
_FIRST = 3


class Held(NamedTuple):
    """Time of `record` for one cloud [s]."""

    worst_s: float
    median_s: float


def room(*, channels: int = CHANNELS, columns: int = COLUMNS) -> sn.Environment:
    """A lidar that drives in a closed room, one sweep a step: every ray returns."""
    scene = sn.Scene()
    scene.add(sn.shapes.box(80.0, 60.0, 20.0), label="walls")
    world = sn.worlds.Kinematic({"car": sn.paths.Circle((0, 0, 0), radius=5.0, rate=0.5)}, step_s=_PERIOD_S)
    env = sn.Environment(scene, world)
    elevation = tuple(22.5 - 45.0 * k / (channels - 1) for k in range(channels))
    pattern = sn.patterns.Spinning(elevation_deg=elevation, columns=columns, rate_hz=1.0 / _PERIOD_S)
    env.attach(sn.Lidar(pattern=pattern), body="car")
    return env


def held(env: sn.Environment, *, paced: bool, clouds: int = 30) -> Held:
    """Time `record` in a run that steps at the lidar's own pace, 10 Hz, or as fast as it can."""
    times = []
    with tempfile.TemporaryDirectory() as folder, sn.record.McapRecorder(Path(folder) / "run.mcap") as recorder:
        next_s = time.perf_counter()
        for _ in range(_FIRST + clouds):
            env.step()
            if paced:
                next_s += _PERIOD_S
                time.sleep(max(0.0, next_s - time.perf_counter()))
            times.append(seconds(lambda: recorder.record(env)))
    return Held(max(times[_FIRST:]), median(times[_FIRST:]))


def throughput(env: sn.Environment, *, clouds: int = 30) -> float:
    """Bytes written a second with recording alone: the same step over and over."""
    env.step()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.mcap"
        with sn.record.McapRecorder(path) as recorder:
            recorder.record(env)
            recorder.flush()
            before, start_s = path.stat().st_size, time.perf_counter()
            for _ in range(clouds):
                recorder.record(env)
            recorder.flush()
            return (path.stat().st_size - before) / (time.perf_counter() - start_s)
