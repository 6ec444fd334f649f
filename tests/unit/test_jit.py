import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from sensorium import jit

# A package with a kernel in one file that calls a function in another
OTHER = "from sensorium import jit\n\n@jit.function\ndef value(x):\n    return x * {factor}\n"
KERNEL = """
import os, sys
from sensorium import jit
from sensorium.other import value

@jit.kernel
def kernel(x):
    return value(x)

result = kernel(3)
hits = sum(kernel.stats.cache_hits.values())
print(result, hits, jit.cache_folder().name)
"""

FULL = """
import warnings

@jit.exact
def other(x):
    return x

def fail(key, data):
    raise OSError(28, "No space left on device")

kernel._cache._cache_file.save = other._cache._cache_file.save = fail
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    kernel(3), other(4)
assert len(told) == 1 and "compiled kernels cannot be kept in" in str(told[0].message), told
assert str(told[0].message).endswith(": No space left on device")
"""


@pytest.fixture
def package(tmp_path):
    """A copy of how kernels are compiled, in a package small enough to edit."""
    folder = tmp_path / "src" / "sensorium"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    for name in ("jit.py", "compiler.py", "compile_once.py"):
        (folder / name).write_text(Path(jit.__file__).with_name(name).read_text())
    (folder / "kernels.py").write_text(KERNEL)
    (folder / "other.py").write_text(OTHER.format(factor=2))
    return folder


def run(package, code="import sensorium.kernels", **variables):
    cache = package.parents[1] / "cache"
    env = {**os.environ, "PYTHONPATH": str(package.parent), "SENSORIUM_CACHE_DIR": str(cache), **variables}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result, hits, folder = done.stdout.split()
    return int(result), int(hits), cache / folder


def test_an_edit_in_another_file_is_seen(package):
    """Numba's own cache looks only at the kernel's file, and would go on returning 6."""
    result, hits, folder = run(package)
    assert (result, hits) == (6, 0)
    assert list(folder.rglob("*.nbc"))
    assert run(package)[:2] == (6, 1)  # from the cache in a new process
    (package / "other.py").write_text(OTHER.format(factor=5))
    result, hits, other = run(package)
    assert (result, hits) == (15, 0)
    assert other != folder
    (package / "other.py").write_text(OTHER.format(factor=2))
    assert run(package) == (6, 1, folder)  # the old sources find their old kernels


def test_a_full_disk_costs_one_warning(package):
    """Kernels are compiled and work; two of them, one warning."""
    (package / "kernels.py").write_text(KERNEL.replace("result = kernel(3)", FULL + "result = kernel(3)"))
    result, hits, folder = run(package)
    assert (result, hits) == (6, 0)
    assert not list(folder.rglob("*.nbc"))


def test_another_embree_library_has_kernels_of_its_own(package):
    _, _, folder = run(package)
    assert run(package, SENSORIUM_EMBREE_CONFIG="isa=avx2")[2] != folder


def test_old_folders_go_and_young_ones_stay(package):
    cache = package.parents[1] / "cache"
    old, young, foreign = cache / "kernels-old", cache / "kernels-young", cache / "notes"
    for path in (old, young, foreign):
        path.mkdir(parents=True)
        (path / "file").touch()
    for path in (old, foreign):
        os.utime(path, (time.time() - 30 * 86400,) * 2)
    _, _, folder = run(package)
    assert folder.exists()
    assert not old.exists()
    assert young.exists()
    assert foreign.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="folders are made read-only the POSIX way")
@pytest.mark.parametrize("home", ["missing", "a_file"])
def test_without_a_home_to_write_to_it_still_compiles(package, home):
    (package / "a_file").touch()
    code = "import os; os.environ.pop('SENSORIUM_CACHE_DIR'); import sensorium.kernels"
    place = str(package / "a_file" / "cache") if home == "a_file" else "/proc/nowhere"
    assert run(package, code, XDG_CACHE_HOME=place, TMPDIR=str(package))[0] == 6
    assert list(package.glob("sensorium-cache-*/kernels-*"))


def test_other_users_of_numba_keep_their_settings():
    from numba.core import config

    before = config.CACHE_DIR

    @jit.kernel
    def kernel(x):
        return x + 1

    assert kernel(1) == 2
    assert before == config.CACHE_DIR
    assert str(jit.cache_folder()) in str(kernel.stats.cache_path)


def test_kernels_divide_as_numpy_does():
    @jit.function
    def divide(a, b):
        return a / b

    assert divide(1.0, 0.0) == float("inf")
    assert divide(0.0, 0.0) != divide(0.0, 0.0)  # not a number stays not a number


def test_a_function_is_the_same_for_kernels_and_for_python():
    @jit.function
    def thrice(x):
        return 3 * x

    @jit.inlined
    def more(x):
        return thrice(x) + 1

    @jit.kernel
    def kernel(x):
        return more(x)

    assert kernel(2) == more(2) == more.py_func(2) == 7
    assert thrice(1.5) == 4.5


def test_functions_that_only_kernels_call_have_no_wrappers():
    """Two thirds of what Numba would compile for each of them; see `jit.Called`."""

    @jit.function
    def inner(x):
        return x + 1

    @jit.kernel
    def kernel(x):
        return inner(x)

    kernel(1)
    assert "cpython" in next(iter(kernel.inspect_llvm().values()))
    assert "cpython" not in next(iter(inner._compiled.inspect_llvm().values()))
    assert inner(1) == 2


@jit.kernel
def empty_of(rows, columns):
    made = jit.empty((rows, columns), np.float32)
    made[rows - 1, columns - 1] = 7.0
    return made


def test_an_empty_array_has_its_shape_and_keeps_what_is_written():
    made = empty_of(3, 5)
    assert (made.shape, made.dtype, made.flags.c_contiguous) == ((3, 5), np.float32, True)
    assert made[2, 4] == 7.0
