"""Kernels without private parts of Numba: compiled by its public interface, with the same numbers."""

import os
import re
import subprocess
import sys

import pytest

# A part is removed where this library imports it; Numba itself keeps its own reference
SCRIPT = """
import sys
import warnings
import numba, numba.core.caching, numba.core.typed_passes, numba.core.types.functions, numba.core.codegen
warnings.simplefilter("always")
{take_away}
import numpy as np
from sensorium.runtime import jit
from sensorium.random import streams

@jit.function
def squared(x):
    return x * x

@jit.kernel
def total(x):
    found = 0.0
    for k in range(x.size):
        found += squared(x[k]) * 0.1
    return found

@jit.elementwise
@jit.function
def halved(x):
    return 0.5 * x

if __name__ == "__main__":
    print(total(np.arange(5.0)), squared(3.0), halved([1.0, 2.0]), jit.is_cached(total))
"""

PARTS = {
    "another version": ("numba.__version__ = '0.99.0'", {"kernel_cache", "part_compiler", "quick_typing"}),
    "its cache": ("del numba.core.caching.IndexDataCacheFile", {"kernel_cache"}),
    "its stored results": ("del numba.core.caching.CompileResultCacheImpl", {"kernel_cache"}),
    "its lowering": ("del numba.core.typed_passes.NativeLowering", {"part_compiler"}),
    "its libraries": ("del numba.core.codegen.JITCodeLibrary", {"part_compiler"}),
    "its types of functions": ("sys.modules['numba.core.types.functions'] = None", {"quick_typing"}),
    "nothing": ("", set()),
}


@pytest.mark.parametrize("part", PARTS)
def test_without_a_part_of_numba_kernels_give_the_same_and_it_is_said(part, tmp_path):
    take_away, missing = PARTS[part]
    script = tmp_path / "script.py"
    script.write_text(SCRIPT.format(take_away=take_away))
    variables = {**os.environ, "SENSORIUM_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, str(script)], env=variables, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    total = sum(float(k) ** 2 * 0.1 for k in range(5))
    is_kept = "kernel_cache" not in missing
    assert done.stdout == f"{total} 9.0 [0.5 1. ] {is_kept}\n"
    assert set(re.findall(r"is used without (\w+)", done.stderr)) == missing
