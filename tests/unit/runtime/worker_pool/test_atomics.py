import threading
import time

import numpy as np
import pytest

from sensorium.runtime import jit
from sensorium.runtime.worker_pool.atomics import (
    add,
    load,
    load_after,
    now_ns,
    pause,
    store,
    swap,
    wait_while,
    yield_core,
)


@jit.kernel
def try_each(cell):
    address = cell.ctypes.data
    store(address, 5)
    added = add(address, 2)
    kept = swap(address, 5, 9)
    swapped = swap(address, 7, 11)
    pause()
    yield_core()
    return added, kept, swapped, load(address)


@jit.kernel
def add_many(cell, times):
    for _ in range(times):
        add(cell.ctypes.data, 1)


@jit.kernel
def wait_for_another(cell, value):
    wait_while(cell.ctypes.data, value)
    return load_after(cell.ctypes.data, load(cell.ctypes.data))


@jit.kernel
def time_twice(clock):
    return now_ns(clock), now_ns(clock)


def test_each_returns_the_value_before():
    assert try_each(np.zeros(1, np.int64)) == (5, 7, 7, 11)


def test_no_addition_is_lost_between_threads():
    cell = np.zeros(1, np.int64)
    adders = [threading.Thread(target=add_many, args=(cell, 200_000)) for _ in range(4)]
    for adder in adders:
        adder.start()
    for adder in adders:
        adder.join()
    assert cell[0] == 800_000


def test_a_wait_ends_when_the_value_changes():
    cell = np.zeros(1, np.int64)
    wait_for_another(cell, 1)
    other = threading.Timer(0.1, cell.fill, (5,))
    start = time.monotonic()
    other.start()
    assert wait_for_another(cell, 0) == 5
    assert time.monotonic() - start > 0.09


@pytest.mark.skipif(not hasattr(time, "CLOCK_MONOTONIC"), reason="this platform has no such clock")
def test_the_clock_is_python_s_monotonic_one():
    clock = np.zeros(2, np.int64)
    time_twice(clock)
    before = time.monotonic_ns()
    first, second = time_twice(clock)
    assert before <= first <= second <= time.monotonic_ns()
