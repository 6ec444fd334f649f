"""How long the first reading of each sensor kind takes in a new process with an empty cache, and its bytes.

    python -m sensorium.qa.validation.first_use                     with the kernels of the package, if it has any
    ... --cache FOLDER           with a cache that `sensorium compile` filled
    ... --compiles-nothing       ends with exit code 1 if anything was compiled
    SENSORIUM_PREBUILT=0 ...     with none: everything is compiled

Sensors are the samples of the determinism checks, with errors and noise. The time is that of the whole process: Python,
imports, scene, sensor and a fifth of a second of the drive.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple


class FirstUse(NamedTuple):
    """The first use of one sensor kind."""

    sensor: str
    wall_s: float
    compiled: int
    """Number of kernels that were compiled."""
    digest: str
    """Hash of its outputs, 12 hex digits."""


def first_uses(cache: Path | None = None) -> Iterator[FirstUse]:
    """Time the first reading of each sensor kind, one process each, one after the other.

    Args:
        cache: Folder of compiled kernels that each process starts with; by default an empty one.
    """
    for name in json.loads(_told_by("--list", {})):
        yield _first_use(name, cache)


def _first_use(name: str, cache: Path | None) -> FirstUse:
    with tempfile.TemporaryDirectory() as empty:
        folder = Path(empty if cache is None else cache)
        before = _kernels(folder)
        began = time.perf_counter()
        digest = json.loads(_told_by(name, {"SENSORIUM_CACHE_DIR": str(folder)}))
        return FirstUse(name, time.perf_counter() - began, _kernels(folder) - before, digest)


def _kernels(folder: Path) -> int:
    return len(list(folder.rglob("*.nbc")))


def _told_by(word: str, variables: dict[str, str]) -> str:
    """What this module prints in a process of its own."""
    command = [sys.executable, "-m", __spec__.name, word]
    done = subprocess.run(command, env={**os.environ, **variables}, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def main(words: list[str]) -> int:
    """The command; returns its exit code."""
    parser = argparse.ArgumentParser(description="The first reading of each sensor kind in a new process.")
    parser.add_argument("sensor", nargs="?", help="only this one, in this process; prints the hash of its outputs")
    parser.add_argument("--list", action="store_true", help="print the names of all")
    parser.add_argument("--cache", type=Path, help="folder of compiled kernels, by default an empty one")
    parser.add_argument("--compiles-nothing", action="store_true", help="fail if anything was compiled")
    given = parser.parse_args(words)
    if given.list or given.sensor:
        from sensorium.qa.validation.sample_run import hashes, outputs, samples

        made = list(samples()) if given.list else hashes(outputs(worlds=1, order=[given.sensor]))[given.sensor]
        print(json.dumps(made))
        return 0
    done = []
    for use in first_uses(given.cache):
        print(f"{use.sensor:<24}{use.wall_s:>7.2f} s{use.compiled:>4} compiled  {use.digest}", flush=True)
        done.append(use)
    return int(given.compiles_nothing and any(use.compiled for use in done))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
