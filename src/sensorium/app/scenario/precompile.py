"""A first run compiles in two processes: one compiles the kernels of light, this one all others.

Numba compiles on one thread of a process, and the kernel of light takes as long as all others together. This process
finds the kernels of the other one in the cache on disk.
"""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sensorium.app.scenario.scenario import Scenario
from sensorium.core.frames import Pose
from sensorium.environment import Environment
from sensorium.patterns import Spinning
from sensorium.runtime import jit
from sensorium.scene import shapes
from sensorium.scene.scene import Scene
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.worlds import Static


@contextmanager
def precompile(scenario: Scenario, path: Path, values: Mapping[str, Any]) -> Iterator[Callable[[], None]]:
    """Compile in another process while this one gets ready, if that saves time.

    Args:
        scenario: The scenario to run.
        path: Its file.
        values: Values by dotted key that took the place of the file's.

    Yields:
        A function to be called before the first step: it compiles the other kernels here, and waits for the other
        process. If that fails, its kernels are compiled here later: only time is lost.
    """
    sensors = {name: entry for name, entry in scenario.spec.sensors.items() if entry.enabled}
    lit = [name for name, entry in sensors.items() if entry.kind == "lidar" and entry.mode == "relative"]
    if not lit or len(lit) == len(sensors) or (os.cpu_count() or 1) < 2 or _light_is_cached():
        yield lambda: None
        return

    def compile_rest() -> None:
        without = {f"sensors.{name}.enabled": False for name in lit}
        rest = Scenario.load(path, {**values, **without}, allow_outside=scenario.files.allow_outside)
        env = rest.environment()
        longest_s = max(1.0 / sensors[name].pattern.rate_hz for name in lit)
        for _ in env.run(min(scenario.spec.duration_s, longest_s)):
            pass
        process.wait()

    command = [sys.executable, "-m", "sensorium.app.scenario.precompile"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        yield compile_rest
    finally:
        process.kill()
        process.wait()


def _light_is_cached() -> bool:
    from sensorium.tracing.kernels.light.kernel import (
        sweep_light,  # Numba and Embree are loaded for a run with light only
    )

    return jit.is_cached(sweep_light)


def compile_light() -> None:
    """Fire one sweep of a few rays, only to compile its kernels."""
    scene = Scene()
    scene.add(shapes.box(1.0, 1.0, 1.0), pose=Pose((5.0, 0.0, 0.0)))
    env = Environment(scene, Static(step_s=0.1))
    env.attach(Lidar(pattern=Spinning(elevation_deg=(0.0,), columns=4, rate_hz=10.0), mode="relative"))
    env.step()


if __name__ == "__main__":
    compile_light()
