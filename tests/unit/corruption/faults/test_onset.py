"""Age of an operation: since the onset of its fault, or since its first sample."""

import numpy as np
import pytest

from sensorium.corruption.engine import op as kinds
from sensorium.corruption.faults.onset import age_ns
from sensorium.runtime import jit


@jit.kernel
def _ages(ops, clock, onsets, before, out):
    for row in range(out.size):
        out[row] = age_ns(ops, 0, clock, 0, onsets, row, before[row])


def ages(fault, before):
    ops, clock = np.zeros((1, kinds.ROW), np.int64), np.zeros((1, kinds.CLOCK), np.int64)
    ops[0, kinds.FAULT], clock[0, kinds.TIME_NS], clock[0, kinds.ELAPSED_NS] = fault, 1_000, 30
    out = np.zeros(len(before))
    _ages(ops, clock, np.array([[7, 990], [7, 200]]), np.array(before), out)
    return out.tolist()


@pytest.mark.parametrize("before", [(np.nan, np.nan), (5.0, 9.0)])
def test_with_a_fault_it_is_the_time_since_that_set_in(before):
    assert ages(1, before) == [10.0, 800.0]


def test_without_a_fault_it_counts_from_the_first_sample():
    assert ages(-1, (np.nan, 70.0)) == [0.0, 100.0]
