"""Functions of plain numbers: constants in the caller's float type, arrays by broadcasting."""

import math
import os
import subprocess
import sys

import numba
import numpy as np
import pytest
from numba.core.errors import TypingError

from sensorium import jit


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


@jit.exact
def rounds_twice(a, b, c):
    return doubled_sum(a, b, c)


@jit.exact_function
def doubled_sum(a, b, c):
    return a * b + c


def test_exact_entry_points_round_every_operation():
    a = 1.0 + 2.0**-30
    assert rounds_twice(a, a, -1.0 - 2.0**-29) == 0.0  # a fused one keeps the 2^-60
    assert rounds_twice(-1.0, 0.0, -0.0) == 0.0
    assert math.copysign(1.0, rounds_twice(-1.0, 0.0, -0.0)) == -1.0


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
from sensorium import jit

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
