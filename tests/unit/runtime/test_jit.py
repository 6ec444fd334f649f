import time

import numpy as np

from sensorium.runtime import jit
from sensorium.runtime.kernel_folders import cache_folder


def test_other_users_of_numba_keep_their_settings():
    from numba.core import config

    before = config.CACHE_DIR

    @jit.kernel
    def kernel(x):
        return x + 1

    assert kernel(1) == 2
    assert before == config.CACHE_DIR
    assert kernel.stats.cache_path == str(cache_folder())


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

    other = time.time_ns()  # a kernel that no earlier run has left in the cache

    @jit.function
    def inner(x):
        return x + other

    @jit.kernel
    def kernel(x):
        return inner(x)

    kernel(1)
    assert "cpython" in next(iter(kernel.inspect_llvm().values()))
    assert "cpython" not in next(iter(inner._compiled.inspect_llvm().values()))
    assert inner(1) == 1 + other


@jit.kernel
def empty_of(rows, columns):
    made = jit.empty((rows, columns), np.float32)
    made[rows - 1, columns - 1] = 7.0
    return made


def test_an_empty_array_has_its_shape_and_keeps_what_is_written():
    made = empty_of(3, 5)
    assert (made.shape, made.dtype, made.flags.c_contiguous) == ((3, 5), np.float32, True)
    assert made[2, 4] == 7.0
