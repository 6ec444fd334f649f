"""Kernels that come with the package: found for CPUs that run them, and for nothing else."""

import os
import subprocess
import sys

import pytest

from sensorium.runtime import kernel_folders
from sensorium.runtime.kernel_folders import LEVELS, Level, runs_on_this_cpu

SCRIPT = """
import sys
from pathlib import Path
import numpy as np
from sensorium.runtime import jit, kernel_folders
kernel_folders.PREBUILT = Path(sys.argv[1])
{before}
@jit.function
def inner(x):
    return x * {factor}

@jit.kernel
def total(x):
    found = 0.0
    for k in range(x.size):
        found += inner(x[k])
    return found

print(jit.is_cached(total), total(np.arange(4.0)))
"""

pytestmark = pytest.mark.skipif(not runs_on_this_cpu(LEVELS[-1]), reason="this CPU runs no level")


@pytest.fixture
def call(tmp_path):
    """Calls a kernel in a process of its own; gives what it printed and how many kernels that process compiled."""
    count = iter(range(100))

    def run(*, factor="2.0", before="", prebuilt_in=tmp_path / "pre", **variables):
        folder = tmp_path / "cache" / str(next(count))
        file = tmp_path / "kernel.py"
        file.write_text(SCRIPT.format(factor=factor, before=before))
        kept = {name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")}
        variables = {**kept, "PYTHONDONTWRITEBYTECODE": "1", "SENSORIUM_CACHE_DIR": str(folder), **variables}
        done = subprocess.run(
            [sys.executable, file, prebuilt_in], env=variables, capture_output=True, text=True, check=True, timeout=120
        )
        return done.stdout.strip(), folder / "kernels"

    return run


def compiled(folder):
    return len(list(folder.glob("*.nbi")))


@pytest.fixture(params=[level for level in LEVELS if runs_on_this_cpu(level)], ids=lambda level: level.name)
def built(call, tmp_path, request):
    """A folder with the kernel, compiled for a level."""
    level = request.param
    said, made = call(NUMBA_CPU_NAME=level.name, NUMBA_CPU_FEATURES=level.features)
    assert said == "False 12.0"
    (tmp_path / "pre").mkdir()
    made.rename(tmp_path / "pre" / level.name)
    return tmp_path / "pre"


def test_a_kernel_of_the_package_is_loaded_and_nothing_is_compiled(call, built):
    said, folder = call()
    assert said == "True 12.0"
    assert compiled(folder) == 0


def test_a_kernel_that_was_edited_is_compiled(call, built):
    said, folder = call(factor="3.0")
    assert said == "False 18.0"
    assert compiled(folder) == 1


def test_a_cpu_without_the_instructions_compiles(call, built):
    said, folder = call(before="kernel_folders.runs_on_this_cpu = lambda level: False")
    assert said == "False 12.0"
    assert compiled(folder) == 1


def test_the_package_s_kernels_can_be_left_aside(call, built):
    said, folder = call(SENSORIUM_PREBUILT="0")
    assert said == "False 12.0"
    assert compiled(folder) == 1


def test_a_damaged_file_is_compiled_again(call, built):
    for file in built.rglob("*.nbc"):
        file.write_bytes(file.read_bytes()[:100])
    said, folder = call()
    assert said.endswith("12.0")
    assert compiled(folder) == 1


def test_a_cpu_must_have_every_instruction():
    assert not runs_on_this_cpu(Level("x", LEVELS[-1].instructions | {"no such instruction"}, "", ""))
    assert LEVELS[0].instructions > LEVELS[1].instructions


def test_there_are_none_on_other_systems(monkeypatch):
    kernel_folders.prebuilt_folders.cache_clear()
    monkeypatch.setattr(kernel_folders.sys, "platform", "win32")
    assert kernel_folders.prebuilt_folders() == ()
    kernel_folders.prebuilt_folders.cache_clear()
