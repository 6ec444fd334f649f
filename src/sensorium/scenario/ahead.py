"""A first run compiles in two processes: one what lidars that follow the light need, this one all the rest.

Numba compiles on one thread, however many there are, and the kernel of light takes as long as all others together. What
the other process compiles is found in the cache on disk.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from sensorium import jit
from sensorium.scenario.scenario import Scenario

LIGHT_KERNEL = "sweep_light"


def compile_ahead(scenario: Scenario, path: Path, values: Mapping[str, Any]) -> bool:
    """Compile what a scenario needs before it runs, if that saves time; returns whether anything was done.

    Args:
        scenario: What is to run.
        path: Its file.
        values: Values by dotted key that took the place of the file's.
    """
    sensors = {name: entry for name, entry in scenario.spec.sensors.items() if entry.enabled}
    lit = [name for name, entry in sensors.items() if entry.kind == "lidar" and entry.mode != "geometric"]
    others = [name for name in sensors if name not in lit]
    if not lit or not others or jit.is_cached(LIGHT_KERNEL) or (os.cpu_count() or 1) < 2:
        return False
    sweep_s = max(1.0 / sensors[name].pattern.rate_hz for name in lit)
    without = {f"sensors.{name}.enabled": False for name in others}
    lidars_only = {**values, **without, "duration_s": sweep_s, "outputs": {"mcap": False, "report": False}}
    with _running(path, lidars_only, allow_outside=scenario.files.allow_outside):
        without = {f"sensors.{name}.enabled": False for name in lit}
        small = Scenario.load(path, {**values, **without}, allow_outside=scenario.files.allow_outside)
        env = small.environment()
        for _ in env.run(min(scenario.spec.duration_s, sweep_s)):
            pass
    return True


@contextmanager
def _running(path: Path, values: Mapping[str, Any], *, allow_outside: bool) -> Iterator[None]:
    """Another process that runs a scenario for nothing but what it compiles; inside, this one does something else.

    If it fails, whatever it did not compile is compiled here, later: nothing is lost but time.
    """
    with tempfile.TemporaryDirectory(prefix="sensorium-") as folder:
        command = [sys.executable, "-m", "sensorium", "run", str(path), "--out", str(Path(folder) / "run")]
        for key, value in values.items():
            command += ["--set", f"{key}={json.dumps(value)}"]
        command += ["--allow-outside"] if allow_outside else []
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            yield
            process.wait()
        finally:
            process.kill()
            process.wait()
