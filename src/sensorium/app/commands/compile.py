"""`sensorium compile`: all kernels at once, for this machine's cache or for a wheel."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Annotated

import typer

from sensorium.app.commands.terminal import Terminal
from sensorium.core.errors import BackendError, SpecError

# Numba compiles on one thread; runs that need the same kernel wait for one another (`runtime.compile_once`)
_AT_ONCE = 2


def compile_kernels(
    level: Annotated[
        list[str] | None,
        typer.Argument(help="x86-64-v3, x86-64-v4 or both; by default this machine's own CPU.", show_default=False),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(help="Folder for kernels of levels; by default the package's own.", show_default=False),
    ] = None,
) -> None:
    """Compile the kernels of every sensor kind and of the gallery, so that no later run compiles.

    Without a level, into this user's cache, for the CPU of this machine. With levels, for every CPU of such a level,
    where the package finds them and a wheel takes them along.
    """
    from sensorium.runtime import kernel_folders

    console = Terminal()
    if not level:
        if into is not None:
            raise SpecError(f"--into is {str(into)!r}; it is for levels, name some: x86-64-v3, x86-64-v4")
        _compile({}, "native", console)
        return
    for one in level:
        known = {each.name: each for each in kernel_folders.LEVELS}
        if one not in known:
            raise SpecError(f"level is {one!r}; it must be one of {', '.join(known)}")
        if not kernel_folders.runs_on_this_cpu(known[one]):
            raise SpecError(f"level is {one!r}, which this machine's CPU does not run; compile it on one that does")
        with tempfile.TemporaryDirectory() as cache:
            variables = {"NUMBA_CPU_NAME": one, "NUMBA_CPU_FEATURES": known[one].features, "SENSORIUM_CACHE_DIR": cache}
            _compile({**variables, "SENSORIUM_EMBREE_CONFIG": known[one].embree}, one, console)
            _replace(Path(cache) / "kernels", (into or kernel_folders.PREBUILT) / one)


def _compile(variables: dict[str, str], name: str, console: Terminal) -> None:
    """Run everything that compiles, in processes with their own environment variables."""
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(_AT_ONCE) as pool:
        started = [pool.submit(_run, words, variables) for words in _commands(Path(folder))]
        try:
            for done, future in enumerate(as_completed(started), start=1):
                future.result()
                console.print(f"{name}: {done} of {len(started)}, {time.monotonic() - began:.0f} s")
        finally:
            pool.shutdown(cancel_futures=True)


def _commands(folder: Path) -> Iterator[list[str]]:
    """The programs that compile all kernels: a sample of each sensor kind, all of them, the gallery, and the demo.

    Those that take longest come first. A program that needs what another compiles waits for it, so sensors that have
    most kernels in common do not follow one another.
    """
    from sensorium.app import gallery

    for sensor in ("waveform", "camera", "light", "depth_camera", "radar", "lidar", "cone", "imu"):
        yield ["sensorium.qa.validation.first_use", sensor]
    yield ["sensorium.qa.validation.laws.determinism"]
    for name in gallery.titles():
        yield ["sensorium", "run", name, "--out", str(folder / name)]
    yield ["sensorium", "demo", "--out", str(folder / "demo")]


def _run(words: list[str], variables: dict[str, str]) -> None:
    """Run a module as a program; raises BackendError with the end of its output if it fails."""
    done = subprocess.run(
        [sys.executable, "-m", *words],
        env={**os.environ, "SENSORIUM_PREBUILT": "0", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if done.returncode != 0:
        raise BackendError(f"{' '.join(words)!r} failed while kernels were compiled: {done.stdout.strip()[-400:]}")


def _replace(made: Path, folder: Path) -> None:
    """Move the kernels of a level to their folder; those of an earlier build are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.nb[ic]"):
        file.unlink()
    for file in sorted(made.glob("*.nb[ic]")):
        shutil.copy(file, folder)
