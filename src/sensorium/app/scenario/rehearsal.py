"""Compiles the kernels of a run before it runs: once a node, instead of by each of the first runs there."""

import contextlib
import tempfile
import time
from pathlib import Path

from sensorium.app.scenario.run import run
from sensorium.app.scenario.scenario import Scenario
from sensorium.environment import Environment
from sensorium.runtime.kernel_folders import cache_folder
from sensorium.scene import shapes
from sensorium.scene.partition.split import split_scene
from sensorium.scene.scene import SceneObject
from sensorium.tracing.partitioned.part import Part

# Longest wait for the first reading of a sensor, in simulated time [s]
_LONGEST_S = 1.0


class _EnoughError(Exception):
    """Everything was used once."""


class _UntilAllReported:
    """Ends a run when each sensor has reported."""

    def __init__(self) -> None:
        self._reported: set[str] = set()

    def record(self, env: Environment) -> None:
        """Note which sensors reported in the last step."""
        self._reported |= {name for name, sensor in env.sensors.items() if sensor.readings()}
        if len(self._reported) == len(env.sensors) or env.time_s >= _LONGEST_S:
            raise _EnoughError


def rehearse(scenario: Scenario) -> tuple[int, float]:
    """Run the beginning of a scenario, only to compile its kernels; for a partitioned scene, those of its parts.

    Returns:
        Number of compiled kernels, and the time it took [s].
    """
    began_s, before = time.perf_counter(), _compiled()
    with tempfile.TemporaryDirectory(prefix="sensorium-rehearsal-") as folder:
        if scenario.spec.scene.parts is None:
            with contextlib.suppress(_EnoughError):
                run(scenario, Path(folder) / "run", also=[_UntilAllReported()])
        else:
            split_scene([SceneObject(shapes.box(1.0, 1.0, 1.0))], Path(folder) / "parts", parts=1)
            Part(str(Path(folder) / "parts"), 0, 1.0)
    return max(0, _compiled() - before), time.perf_counter() - began_s


def _compiled() -> int:
    return len(list(cache_folder().glob("*.nbc")))
