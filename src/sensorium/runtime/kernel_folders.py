"""The folders of compiled kernels: the user's cache, and those shipped with the package.

Kernels of the package are compiled for a level of x86-64 instead of one CPU: a set of instructions that every CPU of
its age or newer has. The package holds the files of `kernel_cache`, one folder a level; a kernel is searched there if
the user's cache has none. Files of another version of Python, Numba or the kernel's own code have other names, so they
are not found, and the kernel is compiled.
"""

import contextlib
import functools
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import NamedTuple

import llvmlite.binding
import platformdirs

# Kernels that no process has loaded for so long are removed from the user's cache [days]
_KEEP_DAYS = 14

PREBUILT = Path(__file__).parents[1] / "prebuilt"
"""Folder of the package's kernels; an installation from source has none until `sensorium compile` writes it."""


class Level(NamedTuple):
    """A level of x86-64 (System V ABI, AMD64 supplement), and the requirements of its kernels."""

    name: str
    """Its name in LLVM and Numba."""
    instructions: frozenset[str]
    """Required CPU features beyond the level below, in LLVM's names."""
    features: str
    """Switches of LLVM beyond the level, in the form of NUMBA_CPU_FEATURES."""
    embree: str
    """Configuration of Embree for this level's packet width on a CPU with wider ones."""


_V3 = frozenset({"avx", "avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "xsave", "sse4.2", "popcnt"})
_V4 = _V3 | {"avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl"}

# By default LLVM keeps loops of level 4 to vectors of 256 bits; without that, corruption chains run at the speed of
# code compiled for a Zen 4 alone, and 10 to 15 % slower with it
LEVELS = (Level("x86-64-v4", _V4, "-prefer-256-bit", ""), Level("x86-64-v3", _V3, "", "isa=avx2"))
"""Best first."""


@functools.cache
def runs_on_this_cpu(level: Level) -> bool:
    """Whether this machine's CPU has every instruction of a level."""
    if not llvmlite.binding.get_default_triple().startswith("x86_64"):
        return False
    has = llvmlite.binding.get_host_cpu_features()
    return all(has.get(name, False) for name in level.instructions)


@functools.cache
def prebuilt_folders() -> tuple[tuple[Level, str], ...]:
    """Each level and its folder that the package has kernels for and that this CPU runs, best first."""
    if os.environ.get("SENSORIUM_PREBUILT") == "0":
        return ()
    if sys.platform != "linux":  # kernels call the system's libraries by name, and are tested on Linux alone
        return ()
    found = ((level, PREBUILT / level.name) for level in LEVELS if runs_on_this_cpu(level))
    return tuple((level, str(folder)) for level, folder in found if folder.is_dir())


@functools.cache
def cache_folder() -> Path:
    """The folder of compiled kernels; files unused for two weeks are removed from it."""
    root = _cache_root()
    folder = root / "kernels"
    folder.mkdir(parents=True, exist_ok=True)
    oldest = time.time() - _KEEP_DAYS * 86400
    for index in folder.glob("*.nbi"):
        with contextlib.suppress(FileNotFoundError):  # another process may be writing it too
            if index.stat().st_mtime < oldest:
                for file in folder.glob(f"{index.stem}.*"):
                    file.unlink(missing_ok=True)
    return folder


def _cache_root() -> Path:
    """SENSORIUM_CACHE_DIR, else the user's cache folder, else (read-only home) a temporary one."""
    given = os.environ.get("SENSORIUM_CACHE_DIR")
    if given:
        return Path(given)
    root = Path(platformdirs.user_cache_dir("sensorium", appauthor=False))
    try:
        root.mkdir(parents=True, exist_ok=True)
        if os.access(root, os.W_OK):
            return root
    except OSError:
        pass
    return Path(tempfile.gettempdir()) / f"sensorium-cache-{os.getuid() if hasattr(os, 'getuid') else 'user'}"
