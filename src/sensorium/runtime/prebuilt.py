"""Kernels that come with the package, compiled for a level of x86-64 instead of one CPU.

A level is a set of instructions that every CPU of its age or newer has. A folder of the package holds the files of
`kernel_cache`, one folder a level; a kernel is looked for there once the user's own cache has none. Files of another
version of Python, Numba or the kernel's own code have other names, so they are not found, and the kernel is compiled.
"""

import functools
import os
import sys
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding

FOLDER = Path(__file__).parents[1] / "prebuilt"
"""Where the package keeps them; an installation from source has none until `sensorium compile` is told to."""


class Level(NamedTuple):
    """A level of x86-64 (System V ABI, AMD64 supplement), and what kernels for it need."""

    name: str
    """As LLVM and Numba call it."""
    instructions: frozenset[str]
    """What a CPU must have, beyond the level below, in LLVM's names."""
    embree: str
    """Configuration by which Embree takes this level's packets on a CPU that has wider ones."""


_V3 = frozenset({"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave", "sse4.2", "popcnt"})
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}

LEVELS = (Level("x86-64-v4", _V4, ""), Level("x86-64-v3", _V3, "isa=avx2"))
"""Best first."""


@functools.cache
def runs_on_this_cpu(level: Level) -> bool:
    """Whether this machine's CPU has every instruction of a level."""
    if not llvmlite.binding.get_default_triple().startswith("x86_64"):
        return False
    has = llvmlite.binding.get_host_cpu_features()
    return all(has.get(name, False) for name in level.instructions)


@functools.cache
def folders() -> tuple[tuple[str, str], ...]:
    """Name and folder of each level that the package has kernels of and that this CPU runs, best first."""
    if os.environ.get("SENSORIUM_PREBUILT") == "0":
        return ()
    if sys.platform != "linux":  # kernels call the system's libraries by name, and were tried on Linux alone
        return ()
    found = ((level.name, FOLDER / level.name) for level in LEVELS if runs_on_this_cpu(level))
    return tuple((name, str(folder)) for name, folder in found if folder.is_dir())
