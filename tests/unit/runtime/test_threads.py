import os
import signal
import threading
import time

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.runtime import jit, threads
from sensorium.runtime.blocks import NONE, next_block, shared


@jit.kernel
def count_blocks(first, step, count, done):
    for block in range(first, count, step):
        done[block] += 1


@jit.function
def _skip(first, step, count):
    next_block(first, step, count, NONE)


_share_nothing = shared(_skip)


@jit.kernel
def do_nothing(first, step, count):
    _share_nothing(first, step, count, ())


@pytest.fixture(autouse=True)
def _restore_thread_count():
    before = threads.get_threads()
    yield
    threads.set_threads(before)


@pytest.mark.parametrize("count", [1, 3, 4, 17, 1000])
@pytest.mark.parametrize("number", [1, 2, 5])
def test_every_block_is_done_once(number, count):
    threads.set_threads(number)
    done = np.zeros(count, np.int64)
    threads.run(count_blocks, count, done)
    assert (done == 1).all()


def test_an_error_in_a_worker_reaches_the_caller():
    def fails(first, step, count):
        if first:
            raise ArithmeticError("worker")

    threads.set_threads(2)
    with pytest.raises(ArithmeticError, match="worker"):
        threads.run(fails, 10)
    # and the threads still serve
    done = np.zeros(10, np.int64)
    threads.run(count_blocks, 10, done)
    assert (done == 1).all()


def test_ctrl_c_waits_for_the_workers():
    """They work on memory that the caller would free."""
    ended = []

    def kernel(first, step, count):
        if first:
            time.sleep(0.2)
            ended.append(first)
        else:
            signal.raise_signal(signal.SIGINT)

    def late(first, step, count):
        if first:
            time.sleep(0.1)
            signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
            time.sleep(0.1)
            ended.append(first)

    threads.set_threads(3)
    for work in (kernel, late):  # while the caller works, and while it waits
        ended.clear()
        with pytest.raises(KeyboardInterrupt):
            threads.run(work, 10)
        assert sorted(ended) == [1, 2]
    done = np.zeros(10, np.int64)
    threads.run(count_blocks, 10, done)
    assert (done == 1).all()


def test_two_callers_at_once():
    threads.set_threads(2)
    results = [np.zeros(5000, np.int64) for _ in range(4)]

    def call(done):
        for _ in range(50):
            threads.run(count_blocks, len(done), done)

    callers = [threading.Thread(target=call, args=(done,)) for done in results]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((done == 50).all() for done in results)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")
def test_a_forked_child_starts_its_own_threads():
    threads.set_threads(2)
    done = np.zeros(100, np.int64)
    threads.run(count_blocks, 100, done)
    child = os.fork()
    if child == 0:
        fresh = np.zeros(100, np.int64)
        threads.run(count_blocks, 100, fresh)
        os._exit(0 if (fresh == 1).all() else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_fork_waits_for_what_runs_and_what_comes_waits_for_the_fork(monkeypatch):
    monkeypatch.setattr(threads, "_PARKED_AFTER_S", 0.3)
    order, begun, let_go = [], threading.Event(), threading.Event()

    def works():
        with threads.fork_guard:
            begun.set()
            let_go.wait()
            order.append("first ends")
        with threads.fork_guard:
            order.append("second begins")

    worker = threading.Thread(target=works)
    worker.start()
    begun.wait()
    threading.Timer(0.2, let_go.set).start()
    child = os.fork()
    if child == 0:
        os._exit(7 if order == ["first ends"] else 1)
    worker.join()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    assert order == ["first ends", "second begins"]


@pytest.mark.parametrize("bad", [0, -1, "many"])
def test_a_bad_thread_count_is_named(bad):
    with pytest.raises(SpecError, match=f"{bad!r}.*at least 1"):
        threads.set_threads(bad)


def test_no_fork_comes_between_while_a_kernel_is_prepared():
    """It may be compiled then, under Numba's lock, which a child would inherit as it is."""
    seen = []

    def kernel(*arguments):
        seen.append(len(threads._active_kernels))
        do_nothing(*arguments)

    threads.prepared(kernel)
    assert seen == [1]
    assert not threads._active_kernels


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="no timers here")
@pytest.mark.parametrize("raised", [TimeoutError, SystemExit, KeyboardInterrupt])
def test_whatever_a_signal_raises_waits_for_the_shares_that_others_do(raised):
    """They work on arrays that the caller may give back once it has returned."""

    def ring(number, frame):
        raise raised

    done, job = [], threads._Job(lambda: (time.sleep(0.3), done.append(True)))
    worker, before = threading.Thread(target=job.work, args=((),)), signal.signal(signal.SIGALRM, ring)
    try:
        worker.start()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(raised):
            job.wait(1)
        assert done
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        worker.join()
