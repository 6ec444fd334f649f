"""Forks wait for kernels and compilations of other threads, and kernels for forks; no two wait for each other."""

import os
import signal
import threading
import time
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from numba.core.compiler_lock import global_compiler_lock

from sensorium.runtime import jit, worker_pool
from sensorium.runtime.worker_pool import forks

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this platform cannot fork")


@jit.kernel
def count_blocks(first, step, count, done):
    for block in range(first, count, step):
        done[block] += 1


@pytest.fixture(autouse=True)
def _two_threads():
    before = worker_pool.get_threads()
    worker_pool.set_threads(2)
    assert runs_kernels()  # compiled: a worker cannot compile while another thread holds Numba's lock
    yield
    worker_pool.set_threads(before)
    assert not forks.active_kernels
    assert not forks.pending_forks


def runs_kernels() -> bool:
    done = np.zeros(100, np.int64)
    worker_pool.run(count_blocks, 100, done)
    return bool((done == 1).all())


def forked(work) -> int:
    """Exit code of a child that ends with what `work` returns; 99 if it does not end within 30 s."""
    child = os.fork()
    if child == 0:
        try:
            signal.alarm(0)
            code = int(work())
        finally:
            os._exit(code)
    deadline = time.monotonic() + 30.0
    while time.monotonic() < deadline:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return 99


def test_a_forked_child_starts_its_own_workers():
    assert forked(runs_kernels) == 1


def test_a_fork_waits_for_what_runs_and_what_comes_waits_for_the_fork(monkeypatch):
    monkeypatch.setattr(forks, "_EMBREE_SLEEPS_AFTER_S", 0.3)
    monkeypatch.setattr(forks, "_PATIENCE_S", 30.0)
    order, begun, let_go = [], threading.Event(), threading.Event()

    def first():
        begun.set()
        let_go.wait()
        order.append("first ends")

    def works():
        worker_pool.without_fork(first)
        worker_pool.without_fork(order.append, "second begins")

    worker = threading.Thread(target=works)
    worker.start()
    begun.wait()
    threading.Timer(0.2, let_go.set).start()
    assert forked(lambda: 7 if order == ["first ends"] else 1) == 7
    worker.join()
    assert order == ["first ends", "second begins"]


def test_a_fork_waits_for_a_compilation():
    """A child would inherit Numba's lock as it is, and wait for ever when it compiles."""
    held, let_go = threading.Event(), threading.Event()

    def compiles():
        with global_compiler_lock:
            held.set()
            let_go.wait()

    def compiles_in_the_child():
        with global_compiler_lock:
            return 5

    compiler = threading.Thread(target=compiles)
    compiler.start()
    held.wait()
    start = time.monotonic()
    threading.Timer(0.2, let_go.set).start()
    assert forked(compiles_in_the_child) == 5
    assert time.monotonic() - start > 0.19
    compiler.join()
    assert not global_compiler_lock.is_locked(), "the parent has released it"


def joined(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def compiling(work):
    with global_compiler_lock:
        work()


@pytest.mark.parametrize("outer", [worker_pool.without_fork, compiling, partial(worker_pool.without_fork, joined)])
def test_a_fork_waits_for_the_kernel_that_an_active_one_waits_for(outer):
    """The inner one must not wait for the fork for ever, which waits for the outer one, or for a compilation."""
    begun, answers = threading.Event(), []

    def work():
        begun.set()
        while not forks.pending_forks:
            time.sleep(0.001)
        answers.append(runs_kernels())

    caller = threading.Thread(target=outer, args=(work,))
    caller.start()
    begun.wait()
    assert forked(runs_kernels) == 1
    caller.join()
    assert answers == [True]


def test_a_signal_handler_may_fork_in_the_middle_of_a_kernel():
    """The child leaves by `_exit`; it has its own workers."""
    codes, before = [], signal.signal(signal.SIGALRM, lambda *_: codes.append(forked(runs_kernels)))
    try:
        worker_pool.without_fork(signal.raise_signal, signal.SIGALRM)
    finally:
        signal.signal(signal.SIGALRM, before)
    assert codes == [1]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_a_handler_that_raises_shortens_no_wait():
    """Python ignores exceptions before a fork: without the wait the child would be forked at once."""
    ended, rung = [], []

    def ring(*_):
        rung.append(True)
        raise TimeoutError

    def works():
        time.sleep(0.3)
        ended.append(True)

    worker = threading.Thread(target=worker_pool.without_fork, args=(works,))
    before = signal.signal(signal.SIGALRM, ring)
    try:
        worker.start()
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        code = forked(lambda: 3 if ended else 4)
    except TimeoutError:  # after the fork, in the parent
        code = None
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    worker.join()
    assert rung
    assert code in (3, None)


def test_a_handler_that_raises_while_a_kernel_waits_for_a_fork(monkeypatch):
    """The entry of the kernel is removed once, not twice: the other one belongs to another thread."""

    def ring(*_):
        raise TimeoutError

    monkeypatch.setattr(forks, "_PATIENCE_S", 30.0)
    before = signal.signal(signal.SIGALRM, ring)
    forks.pending_forks.append(None)  # of a thread that forks for ever
    forks.active_kernels.append(-1)
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with pytest.raises(TimeoutError):
            runs_kernels()
        assert forks.active_kernels == [-1]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
        forks.active_kernels.clear()
        forks.pending_forks.clear()


def test_a_version_of_numba_or_llvm_without_its_lock_is_not_waited_for(monkeypatch):
    assert len(forks._compiler_locks()) == 2
    monkeypatch.setattr(forks, "ffi", SimpleNamespace(lib=object()))
    assert forks._compiler_locks() == [global_compiler_lock._lock]
    monkeypatch.setattr(forks, "global_compiler_lock", object())
    assert forks._compiler_locks() == []
