"""Programs and commands, run in the test's own process where a process of its own would add nothing but seconds.

Python, Numba and the kernels take three seconds to load, and there are a hundred programs and commands to try. What
depends on a fresh process (encodings, variables, signals, imports) is tried in one.
"""

import contextlib
import io
import os
import runpy
import sys
import warnings
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass
class Done:
    """How a program ended, as `subprocess.run` would tell it."""

    returncode: int
    stdout: str
    stderr: str


@contextlib.contextmanager
def _as_if_started(arguments: list[str], folder: Path):
    """The folder, the arguments and the settings of pictures that a fresh process would have; all put back after."""
    import matplotlib
    import matplotlib.pyplot as plt

    argv, path, before = sys.argv, list(sys.path), Path.cwd()
    os.chdir(folder)
    sys.argv = arguments
    try:
        with matplotlib.rc_context(), warnings.catch_warnings():
            matplotlib.use("agg")
            warnings.simplefilter("error", RuntimeWarning)
            yield
    finally:
        plt.close("all")
        os.chdir(before)
        sys.argv, sys.path[:] = argv, path


def _captured(work, encoding: str = "utf-8") -> Done:
    """What a function prints on a terminal of some encoding, and the code that it leaves with."""
    (out, err), code = (io.TextIOWrapper(io.BytesIO(), encoding, write_through=True) for _ in range(2)), 0
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            work()
        except SystemExit as leaving:
            code = leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    return Done(code, *(stream.buffer.getvalue().decode(encoding) for stream in (out, err)))


@pytest.fixture
def program(monkeypatch):
    """Run a file as a user would, in a folder: `program(file, folder)`; what goes wrong is raised here."""

    def run(file: Path, folder: Path, *arguments: str) -> Done:
        monkeypatch.syspath_prepend(str(file.parent))
        with _as_if_started([str(file), *arguments], folder):
            return _captured(lambda: runpy.run_path(str(file), run_name="__main__"))

    return run


@pytest.fixture
def command(monkeypatch):
    """Run the command line: `command("demo", "--out", "results", folder=folder, encoding="ascii")`."""

    def run(*arguments: object, folder: Path | None = None, encoding: str = "utf-8") -> Done:
        from sensorium.app.cli import main

        monkeypatch.setenv("COLUMNS", "200")
        monkeypatch.setenv("NO_COLOR", "1")
        with _as_if_started(["sensorium", *map(str, arguments)], folder or Path.cwd()):
            return _captured(main, encoding)

    return run
