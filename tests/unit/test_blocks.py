"""Blocks dealt out and blocks claimed: every one once, whoever does it."""

import numpy as np
import pytest

from sensorium import jit, threads
from sensorium.blocks import NONE, Counter, next_block, wait_for


@jit.kernel
def note_blocks(first, step, count, done, share):
    block = next_block(first, step, count, NONE)
    while block < count:
        done[block] += 1
        share[0] += 1
        block = next_block(first, step, count, block)


@pytest.fixture(autouse=True)
def _restore_thread_count():
    before = threads.thread_count()
    yield
    threads.set_threads(before)


def test_dealt_out_in_steps():
    done = np.zeros(10, np.int64)
    note_blocks(1, 3, 10, done, np.zeros(1, np.int64))
    assert np.flatnonzero(done).tolist() == [1, 4, 7]


def test_a_kernel_claims_what_is_left_and_rings():
    bell, done, share = np.zeros(1, np.int64), np.zeros(10, np.int64), np.zeros(1, np.int64)
    counter = Counter(bell)
    note_blocks(counter.address, 0, 10, done, share)
    assert (done == 1).all()
    assert counter.is_done(10, 1)
    assert not counter.is_done(11, 3)
    note_blocks(counter.address, 0, 10, done, share)  # one that comes late
    assert (done == 1).all()
    assert bell[0] == 2


def test_waiting_ends_when_the_number_is_there_or_after_the_turns():
    number = np.array([4], np.int64)
    assert wait_for(number.ctypes.data, 4, 0)
    assert not wait_for(number.ctypes.data, 5, 10)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_shared_blocks_are_done_once_each(number):
    threads.set_threads(number)
    for count in (1, 2, 3, 17, 1000):
        done = np.zeros(count, np.int64)
        for _ in range(20):
            threads.share(note_blocks, count, done, np.zeros(1, np.int64))
        assert (done == 20).all()
