"""The kernel under every sensor: runs a chain's operations over blocks of rows."""

import numpy as np

from sensorium import jit
from sensorium.corruption import op as kinds
from sensorium.corruption.bias import bias
from sensorium.corruption.bounded_walk import bounded_walk
from sensorium.corruption.couple import couple
from sensorium.corruption.flicker import flicker
from sensorium.corruption.gauss_markov import gauss_markov
from sensorium.corruption.low_pass import low_pass
from sensorium.corruption.nonlinearity import nonlinearity
from sensorium.corruption.op import FAULT, FORGETS, KIND, SLOTS, STATE, WIDTH
from sensorium.corruption.process import process
from sensorium.corruption.quantize import quantize
from sensorium.corruption.random_walk import random_walk
from sensorium.corruption.saturate import saturate
from sensorium.corruption.scale import scale
from sensorium.corruption.temperature import temperature
from sensorium.corruption.white import white

BLOCK_ROWS = 64


@jit.function
def operate(ops, o, par, x, state, ids, clock, t, first, last):
    """Run operation o on the rows first to last - 1 of sample t; x is (rows, columns)."""
    kind = ops[o, KIND]
    if kind == kinds.BIAS:
        bias(ops, o, par, x, state, first, last)
    elif kind == kinds.SCALE:
        scale(ops, o, par, x, first, last)
    elif kind == kinds.COUPLE:
        couple(ops, o, par, x, first, last)
    elif kind == kinds.WHITE:
        white(ops, o, par, x, ids, clock, t, first, last)
    elif kind == kinds.RANDOM_WALK:
        random_walk(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.GAUSS_MARKOV:
        gauss_markov(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.QUANTIZE:
        quantize(ops, o, par, x, state, first, last)
    elif kind == kinds.SATURATE:
        saturate(ops, o, par, x, state, first, last)
    elif kind == kinds.FLICKER:
        flicker(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.BOUNDED_WALK:
        bounded_walk(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.PROCESS:
        process(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.TEMPERATURE:
        temperature(ops, o, par, x, state, clock, t, first, last)
    elif kind == kinds.NONLINEARITY:
        nonlinearity(ops, o, par, x, first, last)
    elif kind == kinds.LOW_PASS:
        low_pass(ops, o, par, x, state, clock, t, first, last)


@jit.kernel
def corrupt(first, step, count, ops, par, x, state, ids, faults, clock):
    """Corrupt the blocks first, first + step, ... of rows, sample after sample.

    Args:
        first, step, count: Share of the blocks of BLOCK_ROWS rows.
        ops: Operations, int64 (operations, ROW); see `op`.
        par: Their parameters, float64.
        x: Signal, changed in place, float64 (samples, rows, columns).
        state: Changed in place, float64 (rows, slots).
        ids: World and first element of each row in the counter, int64 (2, rows).
        faults: Whether each fault is active in each row, uint8 (rows, faults).
        clock: Ticks and times of the samples, int64 (samples, CLOCK).
    """
    rows = x.shape[1]
    for block in range(first, count, step):
        start = block * BLOCK_ROWS
        end = min(rows, start + BLOCK_ROWS)
        for t in range(x.shape[0]):
            sample = x[t]
            for o in range(ops.shape[0]):
                fault = ops[o, FAULT]
                if fault < 0:
                    operate(ops, o, par, sample, state, ids, clock, t, start, end)
                    continue

                # Rows in which a schedule has the operation switched on; in others it may have to forget
                for row in range(start, end):
                    if faults[row, fault]:
                        operate(ops, o, par, sample, state, ids, clock, t, row, row + 1)
                    elif ops[o, FORGETS]:
                        for i in range(ops[o, SLOTS] * ops[o, WIDTH]):
                            state[row, ops[o, STATE] + i] = np.nan
