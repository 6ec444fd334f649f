"""Functions of plain numbers: constants in the caller's float type, arrays by broadcasting."""

import math
import os
import resource
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from sensorium.runtime import jit


@jit.function
def growth(x, y):
    return jit.like(x, 2.0) * x + math.sqrt(y) / jit.like(x, 4)


def test_constants_take_the_type_of_the_argument():
    for dtype in (np.float32, np.float64):
        result = numba.njit(lambda x: jit.like(x, 0.1))(dtype(1.0))
        assert result == dtype(0.1)
    assert growth.from_python.compile((numba.float32, numba.float32)) is not None
    assert numba.float32(numba.float32, numba.float32) in [o.signature for o in growth.from_python.overloads.values()]


def test_an_integer_has_no_float_type():
    with pytest.raises(TypingError, match="like takes a float32 or float64 and a number"):
        growth(1, 2.0)


@jit.kernel
def product_and_sum(a, b, c):
    return doubled_sum(a, b, c)


@jit.function
def doubled_sum(a, b, c):
    return a * b + c


def test_every_operation_is_rounded():
    """So that a result does not depend on what is inlined around it."""
    a = 1.0 + 2.0**-30
    assert product_and_sum(a, a, -1.0 - 2.0**-29) == 0.0  # a fused one keeps the 2^-60
    assert product_and_sum(-1.0, 0.0, -0.0) == 0.0
    assert math.copysign(1.0, product_and_sum(-1.0, 0.0, -0.0)) == -1.0


@jit.inlined
def shifted(x):
    return x + jit.like(x, 1.0)


def test_inlined_functions_leave_no_call():
    @jit.function
    def twice(x):
        return shifted(shifted(x))

    assert twice(1.0) == 3.0
    assert "shifted" not in "".join(
        line for line in twice.from_python.inspect_llvm((numba.float64,)).splitlines() if "call" in line
    )


def test_elementwise_broadcasts_in_float64():
    broadcast = jit.elementwise(growth)
    x, y = np.arange(3), np.array([[1.0], [4.0]], dtype=np.float32)
    result = broadcast(x, y)
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, 2 * x + np.sqrt(y) / 4)
    assert broadcast(1, 4) == 2.5
    assert broadcast.__name__ == "growth"


CODE = """
from sensorium.runtime import jit

@jit.function
def square(x):
    return x * x

print(jit.elementwise(square)([1, 2, 3]).tolist())
"""


def test_elementwise_is_cached_with_the_kernels(tmp_path):
    script, cache = tmp_path / "square.py", tmp_path / "cache"
    script.write_text(CODE)
    env = {**os.environ, "SENSORIUM_CACHE_DIR": str(cache)}
    done = subprocess.run(
        [sys.executable, str(script)], env=env, capture_output=True, text=True, timeout=120, check=True
    )
    assert done.stdout.strip() == "[1.0, 4.0, 9.0]"
    assert list(cache.rglob("square.square-*.nbc"))
    assert not list(tmp_path.glob("__pycache__/*.nbc"))


@numba.njit
def _new_arrays(n):
    return jit.zeros(n, np.int64), jit.zeros((n, 3), np.float32), jit.zeros((2, n, np.int32(5)), np.float64)


def test_new_arrays_are_those_of_numpy():
    for n in (0, 4):
        shapes = (n,), (n, 3), (2, n, 5)
        for array, shape, dtype in zip(_new_arrays(n), shapes, (np.int64, np.float32, np.float64), strict=True):
            expected = np.zeros(shape, dtype)
            np.testing.assert_array_equal(array, expected, strict=True)
            assert array.strides == expected.strides or n == 0
            assert array.flags.c_contiguous
            assert array.flags.writeable
            assert array.ctypes.data % 64 == 0  # vectors of rays are read from them


def test_new_arrays_are_freed():
    resident_kB = [int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024]
    for _ in range(100):
        _new_arrays(100_000)  # 10 MB each time
    resident_kB.append(int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() // 1024)
    assert resident_kB[1] - resident_kB[0] < 50_000


def test_new_arrays_take_whole_numbers():
    with pytest.raises(TypingError, match="zeros takes whole numbers and a type of numbers"):
        numba.njit(lambda: jit.zeros(2.5, np.float64))()
