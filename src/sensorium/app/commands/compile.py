"""`sensorium compile`: all kernels at once, for this machine's cache or for a wheel."""

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
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
            variables = {"NUMBA_CPU_NAME": one, "NUMBA_CPU_FEATURES": "", "SENSORIUM_CACHE_DIR": cache}
            _compile({**variables, "SENSORIUM_EMBREE_CONFIG": known[one].embree}, one, console)
            _replace(Path(cache) / "kernels", (into or kernel_folders.PREBUILT) / one)


def _compile(variables: dict[str, str], name: str, console: Terminal) -> None:
    """Run everything that compiles, in processes with their own environment variables."""
    began, done = time.monotonic(), 0
    with tempfile.TemporaryDirectory() as folder:
        waiting = list(_commands(Path(folder)))
        running: list[tuple[subprocess.Popen[str], list[str]]] = []
        while waiting or running:
            while waiting and len(running) < _AT_ONCE:
                words = waiting.pop(0)
                running.append((_started(words, variables), words))
            process, words = running.pop(0)
            output, _ = process.communicate()
            if process.returncode != 0:
                for other, _ in running:
                    other.kill()
                raise BackendError(f"{' '.join(words)!r} failed while kernels were compiled: {output.strip()[-400:]}")
            done += 1
            console.print(f"{name}: {done} of {done + len(running) + len(waiting)}, {time.monotonic() - began:.0f} s")


def _commands(folder: Path) -> Iterator[list[str]]:
    """The programs that compile all kernels: a sample of each sensor kind, the gallery's scenarios, and the demo."""
    from sensorium.app import gallery

    yield ["sensorium.qa.validation.laws.determinism"]
    for name in gallery.titles():
        yield ["sensorium", "run", name, "--out", str(folder / name)]
    yield ["sensorium", "demo", "--out", str(folder / "demo")]


def _started(words: list[str], variables: dict[str, str]) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", *words],
        env={**os.environ, "SENSORIUM_PREBUILT": "0", **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def _replace(made: Path, folder: Path) -> None:
    """Move the kernels of a level to their folder; those of an earlier build are removed."""
    folder.mkdir(parents=True, exist_ok=True)
    for file in folder.glob("*.nb[ic]"):
        file.unlink()
    for file in sorted(made.glob("*.nb[ic]")):
        shutil.copy(file, folder)
