import signal
import sys
import threading
import time

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.runtime import jit, worker_pool
from sensorium.runtime.worker_pool import forks, pool


@jit.kernel
def count_blocks(first, step, count, done):
    for block in range(first, count, step):
        done[block] += 1


@jit.kernel
def mark_while_at_work(first, step, count, at_work, slow):
    for block in range(first, count, step):
        for _ in range(slow):
            at_work[block] += 1
        for _ in range(slow):
            at_work[block] -= 1


@pytest.fixture(autouse=True)
def _restore_thread_count():
    before = worker_pool.get_threads()
    yield
    worker_pool.set_threads(before)


@pytest.mark.parametrize("count", [1, 3, 4, 17, 1000])
@pytest.mark.parametrize("number", [1, 2, 5])
def test_every_block_is_done_once(number, count):
    worker_pool.set_threads(number)
    done = np.zeros(count, np.int64)
    worker_pool.run(count_blocks, count, done)
    assert (done == 1).all()


def test_an_error_in_a_worker_reaches_the_caller():
    def fails(first, step, count):
        if first:
            raise ArithmeticError("worker")

    worker_pool.set_threads(2)
    with pytest.raises(ArithmeticError, match="worker"):
        worker_pool.run(fails, 10)
    # and the workers go on
    done = np.zeros(10, np.int64)
    worker_pool.run(count_blocks, 10, done)
    assert (done == 1).all()


def test_a_caller_does_the_share_of_a_worker_that_does_not_come():
    """Here it is busy with the share of another caller."""
    worker_pool.set_threads(2)
    busy, free = threading.Event(), threading.Event()

    def block(first, step, count):
        if threading.current_thread().name.startswith("sensorium"):
            busy.set()
        else:
            busy.wait()
        free.wait()

    other = threading.Thread(target=worker_pool.run, args=(block, 10))
    other.start()
    try:
        assert busy.wait(30.0)
        done, other_array = np.zeros(10, np.int64), np.zeros(10, np.int64)
        for _ in range(5):
            worker_pool.run(count_blocks, 10, done)
        assert (done == 5).all()
        assert sys.getrefcount(done) == sys.getrefcount(other_array), "an offer left in the inbox holds the array"
    finally:
        free.set()
        other.join()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this platform has no timers that signal")
@pytest.mark.parametrize("raised", [TimeoutError, SystemExit, KeyboardInterrupt])
@pytest.mark.parametrize("caller_s", [0.2, 0.0])  # the signal comes while the caller works, or while it waits
def test_an_exception_of_a_signal_waits_for_the_workers(raised, caller_s):
    """They work on arrays that the caller may release once it has left."""
    begun, ended = [], []

    def kernel(first, step, count):
        if threading.current_thread().name.startswith("sensorium"):
            begun.append(first)
            time.sleep(0.3)
            ended.append(first)
        else:
            while len(begun) < 2:
                time.sleep(0.001)
            time.sleep(caller_s)

    def ring(number, frame):
        raise raised

    worker_pool.set_threads(3)
    before = signal.signal(signal.SIGALRM, ring)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.1)
        with pytest.raises(raised):
            worker_pool.run(kernel, 10)
        assert sorted(ended) == sorted(begun)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert not forks.active_kernels
    done = np.zeros(10, np.int64)
    worker_pool.run(count_blocks, 10, done)
    assert (done == 1).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this platform has no timers that signal")
def test_a_handler_that_raises_at_any_moment_leaves_no_worker_at_work():
    """Alarms of some microseconds on: they come before, between and after the calls that offer and withdraw shares."""
    worker_pool.set_threads(2)
    at_work = np.zeros(64, np.int64)
    worker_pool.run(mark_while_at_work, 64, at_work, 100)  # compiled: Numba's compiler does not survive such alarms

    class AlarmError(Exception):
        pass

    def ring(*_):
        raise AlarmError

    rung, before = 0, signal.signal(signal.SIGALRM, ring)
    try:
        for turn in range(3000):
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-6 * (1 + turn % 60))
                for _ in range(5):
                    worker_pool.run(mark_while_at_work, 64, at_work, 100)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except AlarmError:
                rung += 1
            assert not at_work.any()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert rung > 100
    assert not forks.active_kernels


def test_a_kernel_inside_a_kernel():
    """A Python kernel may call the pool: no thread waits for one that waits for it."""
    worker_pool.set_threads(2)
    done = np.zeros((8, 50), np.int64)

    def outer(first, step, count):
        for block in range(first, count, step):
            worker_pool.run(count_blocks, 50, done[block])

    worker_pool.run(outer, 8)
    assert (done == 1).all()


def test_more_threads_than_workers():
    worker_pool.set_threads(pool._MOST_WORKERS + 10)
    assert pool._workers_for(1 << 20) == pool._MOST_WORKERS
    assert pool._workers_for(3) == 2


def test_two_callers_at_once():
    worker_pool.set_threads(2)
    results = [np.zeros(5000, np.int64) for _ in range(4)]

    def call(done):
        for _ in range(50):
            worker_pool.run(count_blocks, len(done), done)

    callers = [threading.Thread(target=call, args=(done,)) for done in results]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((done == 50).all() for done in results)


@pytest.mark.parametrize("bad", [0, -1, "many"])
def test_a_bad_thread_count_is_named(bad):
    with pytest.raises(SpecError, match=f"{bad!r}.*at least 1"):
        worker_pool.set_threads(bad)
