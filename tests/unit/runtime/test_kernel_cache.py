"""Compiled kernels on disk: which edits compile them again, and what a disk that refuses costs."""

import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sensorium.runtime import jit

# A package with a kernel in one file and what it is made of in another
OTHER = '''
import numpy as np
from numba import types
from numba.extending import intrinsic, overload
from sensorium.runtime import jit

FACTOR = 2
TABLE = np.array([1, 2, 3])
SHAPE = (4, (5, 6))

@jit.function
def value(x):
    """Twice."""
    return deeper(x) * FACTOR

@jit.inlined
def deeper(x):
    return x + 0

def plain(x):
    return x

@overload(plain)
def compiled_plain(x):
    return lambda x: x + 0

@intrinsic
def one(typing_context):
    def build(context, builder, signature, values):
        return context.get_constant(types.int64, 1)
    return types.int64(), build
'''
KERNEL = """
import os, sys
from sensorium import other
from sensorium.runtime import jit
from sensorium.other import SHAPE, plain, value

def made(addend):
    @jit.function
    def added(x):
        return x + addend
    return added

added = made(0)

@jit.kernel
def kernel(x):
    return later(added(plain(value(x)))) * other.one() + other.TABLE[0] - 1 + SHAPE[0] - 4

@jit.function
def later(x):
    return x + 0

result = kernel(3)
hits = sum(kernel.stats.cache_hits.values())
print(result, hits, kernel._cache._cache_file._index_name)
"""

FULL = """
import warnings

@jit.kernel
def second(x):
    return x

def fail(key, data):
    raise OSError(28, "No space left on device")

kernel._cache._cache_file.save = second._cache._cache_file.save = fail
with warnings.catch_warnings(record=True) as told:
    warnings.simplefilter("always")
    kernel(3), second(4)
assert len(told) == 1 and "compiled kernels cannot be kept in" in str(told[0].message), told
assert str(told[0].message).endswith(": No space left on device")
"""


_PARTS = (
    *("jit.py", "compile_once.py", "compile_notice.py", "fingerprint.py", "kernel_cache.py", "kernel_folders.py"),
    *("numba_parts.py", "part_compiler.py", "quick_typing.py"),
)


@pytest.fixture
def package(tmp_path):
    """A copy of how kernels are compiled, in a package small enough to edit."""
    folder = tmp_path / "src" / "sensorium"
    folder.mkdir(parents=True)
    (folder / "__init__.py").touch()
    (folder / "runtime").mkdir()
    (folder / "runtime" / "__init__.py").touch()
    for name in _PARTS:
        (folder / "runtime" / name).write_text(Path(jit.__file__).with_name(name).read_text())
    (folder / "kernels.py").write_text(KERNEL)
    (folder / "other.py").write_text(OTHER)
    return folder


def run(package, code="import sensorium.kernels", **variables):
    cache = package.parents[1] / "cache"
    env = {**os.environ, "PYTHONPATH": str(package.parent), "SENSORIUM_CACHE_DIR": str(cache), **variables}
    env["PYTHONDONTWRITEBYTECODE"] = "1"  # Python takes a .pyc of the same second and size for the edited file
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    result, hits, index = done.stdout.split()
    return int(result), int(hits), index


@pytest.mark.slow
@pytest.mark.parametrize(
    ("file", "before", "after", "result"),
    [
        ("other.py", "FACTOR = 2", "FACTOR = 5", 15),
        ("other.py", "np.array([1, 2, 3])", "np.array([2, 2, 3])", 7),
        ("other.py", "SHAPE = (4,", "SHAPE = (6,", 8),
        ("other.py", "lambda x: x + 0", "lambda x: x + 1", 7),
        ("other.py", "types.int64, 1", "types.int64, 2", 12),
        ("other.py", "def deeper(x):\n    return x + 0", "def deeper(x):\n    return x + 1", 8),
        ("kernels.py", "made(0)", "made(2)", 8),
        ("kernels.py", "def later(x):\n    return x + 0", "def later(x):\n    return x + 3", 9),
        ("kernels.py", "return later", "return 2 * later", 12),
    ],
)
def test_an_edit_of_what_is_compiled_in_is_seen(package, file, before, after, result):
    """Numba's own cache looks only at the kernel's file, and would go on returning 6."""
    first = run(package)
    assert first[:2] == (6, 0)
    source = (package / file).read_text()
    assert source.count(before) == 1
    (package / file).write_text(source.replace(before, after))
    edited = run(package)
    assert edited[:2] == (result, 0)
    assert edited[2] != first[2]
    (package / file).write_text(source)
    assert run(package) == (6, 1, first[2])  # the old sources find their old kernels


def test_other_edits_cost_nothing_nor_does_another_place(package):
    first = run(package)
    for file, before, after in (
        ("kernels.py", "import os", "# a comment\nimport os"),
        ("kernels.py", "def later(x):\n", 'def later(x):\n    """Told."""\n'),
        ("kernels.py", "@jit.kernel", "def unused(x):\n    return 2 * x\n\n@jit.kernel"),
    ):
        (package / file).write_text((package / file).read_text().replace(before, after))
    elsewhere = package.parents[1] / "elsewhere" / "sensorium"
    shutil.copytree(package, elsewhere)
    assert run(package) == run(elsewhere, SENSORIUM_CACHE_DIR=str(package.parents[1] / "cache")) == (6, 1, first[2])


def test_a_full_disk_costs_one_warning(package):
    """Kernels are compiled and work; two of them, one warning."""
    (package / "kernels.py").write_text(KERNEL.replace("result = kernel(3)", FULL + "result = kernel(3)"))
    result, hits, _ = run(package)
    assert (result, hits) == (6, 0)
    assert not list((package.parents[1] / "cache").rglob("*.nbc"))


@pytest.mark.slow
@pytest.mark.parametrize("damage", [lambda data: data[:50], lambda data: b"", lambda data: bytes(reversed(data))])
@pytest.mark.parametrize("which", ["*.nbi", "*.nbc"])
def test_a_damaged_file_is_compiled_again(package, which, damage):
    before, _, _ = run(package)
    for file in (package.parents[1] / "cache" / "kernels").glob(which):
        file.write_bytes(damage(file.read_bytes()))
    assert run(package)[0] == before


def test_old_kernels_go_and_young_ones_stay(package):
    cache = package.parents[1] / "cache"
    (cache / "kernels").mkdir(parents=True)
    names = ("old.nbi", "old.1.nbc", "young.nbi", "young.1.nbc")
    old, old_data, young, young_data = (cache / "kernels" / f"a.kernel-{name}" for name in names)
    foreign = cache / "notes"
    for path in (old, old_data, young, young_data, foreign):
        path.touch()
    for path in (old, foreign, young_data):
        os.utime(path, (time.time() - 30 * 86400,) * 2)
    _, _, index = run(package)
    assert (cache / "kernels" / index).exists()
    assert not old.exists()
    assert not old_data.exists()
    assert all(path.exists() for path in (young, young_data, foreign))


def test_a_kernel_that_is_loaded_counts_as_used(package):
    index = package.parents[1] / "cache" / "kernels" / run(package)[2]
    os.utime(index, (time.time() - 10 * 86400,) * 2)
    run(package)
    assert index.stat().st_mtime > time.time() - 3600


@pytest.mark.skipif(sys.platform == "win32", reason="folders are made read-only the POSIX way")
@pytest.mark.parametrize("home", ["missing", "a_file"])
def test_without_a_home_to_write_to_it_still_compiles(package, home):
    (package / "a_file").touch()
    code = "import os; os.environ.pop('SENSORIUM_CACHE_DIR'); import sensorium.kernels"
    place = str(package / "a_file" / "cache") if home == "a_file" else "/proc/nowhere"
    assert run(package, code, XDG_CACHE_HOME=place, TMPDIR=str(package))[0] == 6
    assert list(package.glob("sensorium-cache-*/kernels"))


def test_a_type_of_arguments_that_moved_to_another_module_costs_a_compilation(tmp_path):
    kernel = "from sensorium.runtime import jit\n\n@jit.kernel\ndef total(pair):\n    return pair.a + pair.b\n"
    (tmp_path / "kernel.py").write_text(kernel)
    search = os.pathsep.join([str(tmp_path), *sys.path])
    environment = {**os.environ, "SENSORIUM_CACHE_DIR": str(tmp_path / "cache"), "PYTHONPATH": search}
    for home in ("here", "there"):
        file = tmp_path / f"{home}.py"
        file.write_text("from typing import NamedTuple\n\nclass Pair(NamedTuple):\n    a: int\n    b: int\n")
        code = f"from {home} import Pair\nfrom kernel import total\nprint(total(Pair(1, 2)))"
        run = [sys.executable, "-c", code]
        done = subprocess.run(run, capture_output=True, text=True, env=environment, timeout=120)
        assert done.stdout.split() == ["3"], done.stderr
        file.unlink()
