"""Blocks assigned in advance and blocks claimed: each is done once, by any thread."""

import copy
import math
import signal
import sys
import threading
import time

import numpy as np
import pytest

from sensorium.runtime import jit, worker_pool
from sensorium.runtime.worker_pool import NONE, Prepared, forks, next_block, pool, shared
from sensorium.runtime.worker_pool.jobs import end, worker_loop


@jit.function
def _note(first, step, count, done, slow):
    block = next_block(first, step, count, NONE)
    while block < count:
        for _ in range(slow):
            done[block] += 1
        block = next_block(first, step, count, block)


_share_notes = shared(_note)


@jit.kernel
def note_blocks(first, step, count, done, slow):
    _share_notes(first, step, count, (done, slow))


@pytest.fixture(autouse=True)
def _restore_thread_count():
    before = worker_pool.get_threads()
    yield
    worker_pool.set_threads(before)


def test_blocks_assigned_in_steps():
    done = np.zeros(10, np.int64)
    note_blocks(1, 3, 10, done, 1)
    assert np.flatnonzero(done).tolist() == [1, 4, 7]


def test_a_caller_does_all_blocks_if_no_worker_polls():
    slots, done = np.zeros(16, np.int64), np.zeros(10, np.int64)
    note_blocks(slots.ctypes.data, -2, 10, done, 1)
    assert (done == 1).all()
    assert (slots == 0).all()


def test_a_worker_helps():
    slots, done = np.zeros(8, np.int64), np.zeros(200, np.int64)
    helper = threading.Thread(target=worker_loop, args=(slots.ctypes.data, 1 << 60))
    helper.start()
    try:
        for _ in range(50):
            note_blocks(slots.ctypes.data, -1, 200, done, 100)
            assert slots[0] == 0
    finally:
        slots[1] = 1  # the wake flag
        helper.join()
    assert (done == 5000).all()


def test_a_prepared_kernel_does_what_the_kernel_does():
    done = np.zeros(10, np.int64)
    prepared = Prepared(note_blocks, done, 2)
    assert (done == 0).all()
    prepared(1, 3, 10)
    assert done.tolist() == [0, 2, 0, 0, 2, 0, 0, 2, 0, 0]
    for _ in range(100):
        worker_pool.share(prepared, 10)
    assert done.tolist() == [200, 202, 200, 200, 202, 200, 200, 202, 200, 200]


def test_a_prepared_kernel_has_no_copy():
    prepared = Prepared(note_blocks, np.zeros(1, np.int64), 1)
    with pytest.raises(TypeError, match="cannot be copied"):
        copy.copy(prepared)


def test_a_prepared_kernel_keeps_its_arrays():
    prepared = Prepared(note_blocks, np.zeros(1000, np.int64), 1)
    others = [np.zeros(1000, np.int64) for _ in range(100)]  # would lie where the first did
    prepared(0, 1, 1000)
    assert not np.any(others)
    assert (prepared._arguments[0] == 1).all()


@jit.function
def _note_many(first, step, count, arrays):
    block = next_block(first, step, count, NONE)
    while block < count:
        for array in arrays:
            array[block] += 1
        block = next_block(first, step, count, block)


_share_many = shared(_note_many)


@jit.kernel
def note_many(first, step, count, arrays):
    _share_many(first, step, count, (arrays,))


def test_there_is_room_for_any_number_of_arguments():
    arrays = tuple(np.zeros(3, np.int64) for _ in range(150))
    prepared = Prepared(note_many, arrays)
    worker_pool.share(prepared, 3)
    assert all((array == 1).all() for array in arrays)


@jit.function
def _note_who(first, step, count, who, slow):
    block, angle = next_block(first, step, count, NONE), 0.0
    while block < count:
        for k in range(slow):  # what no compiler can do without
            angle = math.sin(angle + k)
        who[block] = step if angle < 2.0 else 7
        block = next_block(first, step, count, block)


_share_who = shared(_note_who)


@jit.kernel
def note_who(first, step, count, who, slow):
    _share_who(first, step, count, (who, slow))


def test_the_caller_begins_at_the_front_and_workers_at_the_back():
    """So that a block mostly stays with its core: those before one cut are the caller's, the others the helper's."""
    slots, who = np.zeros(8, np.int64), np.zeros(64, np.int64)
    helper = threading.Thread(target=worker_loop, args=(slots.ctypes.data, 1 << 60))
    helper.start()
    helped = False
    try:
        while not helped:  # a worker comes when the machine has a core for it
            who[:] = 7
            note_who(slots.ctypes.data, -1, 64, who, 20_000)
            assert set(who.tolist()) <= {0, -1}
            assert (np.diff(who) <= 0).all()
            helped = bool((who == -1).any())
    finally:
        slots[1] = 1  # the wake flag
        helper.join()


@pytest.mark.parametrize("awake_ns", [0, 2_000_000])
def test_a_worker_leaves_when_no_job_comes_for_so_long(awake_ns):
    slot = np.zeros(8, np.int64)
    start = time.monotonic()
    worker_loop(slot.ctypes.data, awake_ns)
    assert sys.platform == "win32" or awake_ns <= (time.monotonic() - start) * 1e9 < 5e9
    assert (slot == 0).all()


@pytest.mark.parametrize("number", [1, 2, 5])
def test_a_kernel_is_complete_when_share_while_returns(number):
    worker_pool.set_threads(number)
    done = np.zeros(200, np.int64)
    prepared = Prepared(note_blocks, done, 1)
    for turn in range(50):
        begun = worker_pool.share_while(prepared, 200, done.copy)
        assert number > 1 or (begun == turn).all()
        assert (done == turn + 1).all()


def test_others_work_on_a_kernel_meanwhile():
    worker_pool.set_threads(2)
    done = np.zeros(4, np.int64)
    prepared = Prepared(note_blocks, done, 1)

    def is_helped():
        deadline = time.monotonic() + 1.0
        while not done.all() and time.monotonic() < deadline:
            time.sleep(0.001)
        return done.all()

    for _ in range(30):  # a worker that parks in the same moment misses the job
        done[:] = 0
        helped = worker_pool.share_while(prepared, 4, is_helped)
        assert (done == 1).all()
        if helped:
            break
    assert helped


def test_an_error_meanwhile_leaves_nothing_undone():
    done = np.zeros(200, np.int64)

    def fail():
        raise ValueError("meanwhile")

    with pytest.raises(ValueError, match="meanwhile"):
        worker_pool.share_while(Prepared(note_blocks, done, 1), 200, fail)
    assert (done == 1).all()
    assert not forks.active_kernels
    assert not pool._slots[:, 0].any()


def test_a_job_can_be_ended_twice_and_before_it_has_begun():
    done = np.zeros(10, np.int64)
    prepared = Prepared(note_blocks, done, 1)
    end(prepared.address, 0, 1)
    assert (done == 0).all()
    for _ in range(3):
        prepared(0, 1, 10)
        end(prepared.address, 0, 1)
    assert (done == 3).all()


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="this platform has no timers that signal")
def test_a_handler_that_raises_at_any_moment_leaves_nothing_undone():
    """Alarms of some microseconds on: they come before, between and after the calls that begin and end a kernel."""
    worker_pool.set_threads(2)
    done = np.zeros(64, np.int64)
    prepared = Prepared(note_blocks, done, 100)

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
                    worker_pool.share_while(prepared, 64, lambda: None)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except AlarmError:
                rung += 1
            assert not pool._slots[:, 0].any()
            assert len(set(done.tolist())) == 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, before)
    assert rung > 100
    assert not forks.active_kernels


@pytest.mark.parametrize("number", [1, 2, 5])
def test_shared_blocks_are_done_once_each(number):
    worker_pool.set_threads(number)
    for count in (1, 2, 3, 17, 1000):
        done = np.zeros(count, np.int64)
        for _ in range(20):
            worker_pool.share(note_blocks, count, done, 1)
        assert (done == 20).all()


def test_two_callers_share_at_once():
    worker_pool.set_threads(3)
    results = [np.zeros(2000, np.int64) for _ in range(4)]

    def call(done):
        for _ in range(50):
            worker_pool.share(note_blocks, len(done), done, 1)

    callers = [threading.Thread(target=call, args=(done,)) for done in results]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert all((done == 50).all() for done in results)
