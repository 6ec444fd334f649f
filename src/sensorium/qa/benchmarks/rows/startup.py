"""Start-up times: the import, and the first sweep in a new process, kernels cached or not."""

import os
import subprocess
import sys
import tempfile

_IMPORT = "import time; t = time.perf_counter(); import sensorium; print(time.perf_counter() - t)"

_FIRST_SWEEP = """
import time
t = time.perf_counter()
import sensorium as sn
scene = sn.Scene()
scene.add(sn.shapes.plane(100.0), label="ground")
scene.add(sn.shapes.box(1, 1, 1), body="box")
world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 2), velocity=(1, 0, 0)),
                             "box": sn.paths.Line(start=(9, 0, 1), velocity=(0, 1, 0))}, step_s=0.1)
env = sn.Environment(scene, world)
elevation = tuple(range(-60, 4))
pattern = sn.patterns.Spinning(elevation_deg=elevation, columns=1024, rate_hz=10)
lidar = env.attach(sn.Lidar(pattern=pattern), body="car")
env.step()
assert lidar.read().valid.any()
print(time.perf_counter() - t)
"""


def import_s(rounds: int = 5) -> float:
    """Least time of `import sensorium` in a new process [s]."""
    return min(_run(_IMPORT) for _ in range(rounds))


def first_sweep_warm_s(rounds: int = 3) -> float:
    """Least time from the start of a new process's script to its first reading, kernels in the cache [s]."""
    _run(_FIRST_SWEEP)
    return min(_run(_FIRST_SWEEP) for _ in range(rounds))


def first_sweep_cold_s() -> float:
    """The same with an empty cache: everything is compiled [s]."""
    with tempfile.TemporaryDirectory() as empty:
        return _run(_FIRST_SWEEP, SENSORIUM_CACHE_DIR=empty)


def _run(script: str, **variables: str) -> float:
    done = subprocess.run(
        [sys.executable, "-c", script], env={**os.environ, **variables}, capture_output=True, text=True, check=True
    )
    return float(done.stdout)
