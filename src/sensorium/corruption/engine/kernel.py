"""The kernel under every sensor: runs a chain's operations over blocks of rows."""

import math

import numpy as np

from sensorium.corruption.engine import op as kinds
from sensorium.corruption.engine.op import CHANNELS, COLUMN, FAULT, IDLE, KIND, SLOTS, STATE, WIDTH
from sensorium.corruption.engine.process import process
from sensorium.corruption.errors.bias import bias
from sensorium.corruption.errors.bounded_walk import bounded_walk
from sensorium.corruption.errors.couple import couple
from sensorium.corruption.errors.drift import drift
from sensorium.corruption.errors.flicker import flicker
from sensorium.corruption.errors.gauss_markov import gauss_markov
from sensorium.corruption.errors.low_pass import low_pass
from sensorium.corruption.errors.nonlinearity import nonlinearity
from sensorium.corruption.errors.overflow import overflow
from sensorium.corruption.errors.quantize import quantize
from sensorium.corruption.errors.random_walk import random_walk
from sensorium.corruption.errors.saturate import saturate
from sensorium.corruption.errors.scale import scale
from sensorium.corruption.errors.temperature import temperature
from sensorium.corruption.errors.wave import wave
from sensorium.corruption.errors.white import white
from sensorium.corruption.faults.dead import dead
from sensorium.corruption.faults.dropout import dropout
from sensorium.corruption.faults.freeze import freeze
from sensorium.corruption.faults.intermittent_bias import intermittent_bias
from sensorium.corruption.faults.spikes import spikes
from sensorium.corruption.faults.stuck import stuck
from sensorium.runtime import jit

BLOCK_ROWS = 64


@jit.function
def operate(ops, o, par, x, state, ids, clock, t, first, last):
    """Run operation o, of the kinds that most sensors have, on the rows first to last - 1; x is (rows, columns)."""
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


@jit.function
def operate_rarely(ops, o, par, x, state, ids, clock, t, onsets, first, last):
    """The same for the other kinds."""
    kind = ops[o, KIND]
    if kind == kinds.BOUNDED_WALK:
        bounded_walk(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.PROCESS:
        process(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.TEMPERATURE:
        temperature(ops, o, par, x, state, clock, t, first, last)
    elif kind == kinds.NONLINEARITY:
        nonlinearity(ops, o, par, x, first, last)
    elif kind == kinds.LOW_PASS:
        low_pass(ops, o, par, x, state, clock, t, first, last)
    elif kind == kinds.STUCK:
        stuck(ops, o, par, x, state, first, last)
    elif kind == kinds.WAVE:
        wave(ops, o, par, x, clock, t, first, last)
    elif kind == kinds.SPIKES:
        spikes(ops, o, par, x, ids, clock, t, first, last)
    elif kind == kinds.DROPOUT:
        dropout(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.FREEZE:
        freeze(ops, o, par, x, state, ids, clock, t, first, last)
    elif kind == kinds.DEAD:
        dead(ops, o, par, x, state, first, last)
    elif kind == kinds.DRIFT:
        drift(ops, o, par, x, state, ids, clock, t, onsets, first, last)
    elif kind == kinds.INTERMITTENT:
        intermittent_bias(ops, o, par, x, state, ids, clock, t, onsets, first, last)
    elif kind == kinds.OVERFLOW:
        overflow(ops, o, par, x, first, last)


@jit.function
def idle(ops, o, x, state, row):
    """What happens to an operation's state in a row where it is switched off."""
    column, width, s, how = ops[o, COLUMN], ops[o, WIDTH], ops[o, STATE], ops[o, IDLE]
    if how == kinds.MARKED and math.isnan(state[row, s + (ops[o, SLOTS] - 1) * width]):
        return
    if how != kinds.KEEPS:
        for i in range(ops[o, SLOTS] * width):
            state[row, s + i] = np.nan
    if how == kinds.WATCHES:
        # The first slot follows the signal, and the last says that there is a value to hold, of this sample
        for i in range(width):
            state[row, s + i] = x[row, column + i]
            state[row, s + (ops[o, SLOTS] - 1) * width + i] = 0.0


@jit.kernel
def corrupt(first, step, count, rare, ops, par, x, state, ids, faults, clock):
    """Corrupt the blocks first, first + step, ... of rows, sample after sample.

    Args:
        first, step, count: Share of the blocks of BLOCK_ROWS rows.
        rare: None if every operation is of a common kind: the others are then not compiled, which halves the time. Else
            when each fault that is active set in [ns], int64, as `faults`; of any size if no operation needs it.
        ops: Operations, int64 (operations, ROW); see `op`.
        par: Their parameters, float64.
        x: Signal, changed in place, float64 (samples, rows, columns).
        state: Changed in place, float64 (rows, slots).
        ids: World and first element of each row in the counter, int64 (2, rows).
        faults: Whether each fault is active in each row, uint8 (samples, rows, faults), or (1, ...) if always the same.
        clock: Ticks and times of the samples, int64 (samples, CLOCK).
    """
    rows = x.shape[1]
    for block in range(first, count, step):
        start = block * BLOCK_ROWS
        stop = min(rows, start + BLOCK_ROWS)
        kept = np.empty((0, 0))
        for t in range(x.shape[0]):
            sample = x[t]
            now = min(t, faults.shape[0] - 1)
            for o in range(ops.shape[0]):
                fault, some = ops[o, FAULT], ops[o, CHANNELS]
                begin = start
                while begin < stop:
                    # All rows at once, or neighbors that a fault is active in
                    end = stop
                    if fault >= 0:
                        if not faults[now, begin, fault]:
                            idle(ops, o, sample, state, begin)
                            begin += 1
                            continue
                        end = begin + 1
                        while end < stop and faults[now, end, fault]:
                            end += 1

                    # Channels that are not its own get their values back
                    column, width = ops[o, COLUMN], ops[o, WIDTH]
                    if some >= 0:
                        kept = sample[begin:end, column : column + width].copy()
                    if ops[o, KIND] <= kinds.LAST_COMMON:
                        operate(ops, o, par, sample, state, ids, clock, t, begin, end)
                    elif rare is not None:
                        since = rare[min(t, rare.shape[0] - 1)]
                        operate_rarely(ops, o, par, sample, state, ids, clock, t, since, begin, end)
                    if some >= 0:
                        for row in range(begin, end):
                            for i in range(width):
                                if par[some + i] == 0.0:
                                    sample[row, column + i] = kept[row - begin, i]
                    begin = end
