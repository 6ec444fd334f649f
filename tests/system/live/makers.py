"""Receivers that others wrote, in environments that the tests make, and the yard that simulated lidars see."""

import subprocess
import venv
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import sensorium as sn

RECEIVERS = Path(__file__).parent / "receivers"


def python_with(request: pytest.FixtureRequest, *packages: str) -> str:
    """Python of a virtual environment with some packages, made once and kept in pytest's cache."""
    folder = Path(request.config.cache.mkdir("live-receivers")) / "-".join(packages).replace("==", "-")
    python = folder / "bin" / "python"
    done = folder / "installed"
    if not done.exists():
        venv.create(folder, with_pip=True, clear=True)
        made = subprocess.run(
            [python, "-m", "pip", "install", "-q", *packages], capture_output=True, text=True, timeout=600
        )
        if made.returncode:
            pytest.skip(f"{', '.join(packages)} could not be installed: {made.stderr[-300:]}")
        done.touch()
    return str(python)


@contextmanager
def receiver(python: str, script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A receiver that has said "ready"; it is killed at the end if it still runs."""
    command = [python, str(RECEIVERS / script), *map(str, arguments)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline().strip()
        assert line == "ready", f"{line} {process.communicate(timeout=10)[1][-2000:]}"
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=10)


def finished(process: subprocess.Popen[str], timeout_s: float = 30.0) -> None:
    """Wait for a receiver, which must end well."""
    _, errors = process.communicate(timeout=timeout_s)
    assert process.returncode == 0, errors[-3000:]


def yard(device: str, *, imu: bool = False, gnss: bool = False, step_s: float = 0.01, **fields: Any) -> sn.Environment:
    """A car with one lidar, "top", that drives between a pane, a wall and a box on the ground."""
    scene = sn.Scene()
    scene.add(sn.shapes.plane(200.0), label="ground", material=sn.materials.load("asphalt"))
    scene.add(
        sn.shapes.box(0.2, 6.0, 3.0),
        pose=sn.Pose(position=(10, 0, 1.5)),
        label="wall",
        material=sn.materials.load("concrete"),
    )
    scene.add(sn.shapes.box(1.0, 1.0, 4.0), pose=sn.Pose(position=(-4, 7, 2)), material=sn.materials.load("concrete"))
    scene.add(sn.shapes.box(0.02, 3.0, 3.0), pose=sn.Pose(position=(6, 1, 1.5)), material=sn.materials.load("glass"))
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(2, 0, 0))}, step_s=step_s)
    env = sn.Environment(scene, world, seed=7)
    env.attach(sn.Lidar.from_device(device, **fields), body="car", pose=sn.Pose(position=(0, 0, 1.8)), name="top")
    if imu:
        env.attach(sn.Imu(timing={"rate_hz": 100}), body="car", name="imu")
    if gnss:
        env.attach(sn.Gnss(timing={"rate_hz": 10}, origin=(48.137, 11.575, 520.0)), body="car", name="gnss")
    return env
