"""Histograms of the light that returns along the rays of pulses: cells of arrival, senders, and pulses in bins.

Rays add their power to fine cells, CELLS per bin, shared between the two next to their time, so that the mean time is
exact; then each non-empty cell adds its pulse to the bins. A margin of one pulse before the first bin and after the
last spares special cases at the edges.

Most pulses have a single sender, and then only a face for each bin with light is kept. From the second sender on, each
bin keeps the sender of most of its light, by majority vote: a sender adds its power to its own votes and subtracts it
from those of others, and a sender without votes is replaced (Boyer and Moore, weighted).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit
from sensorium.tracing.kernels.waveform import tables as wt

# A sender is one number: object and mirror with 29 bits each, the mirror counted from 1, and then the depth
_BITS, _MASK = np.int64(29), np.int64((1 << 29) - 1)

# In place of the one sender of a pulse: no arrival yet, or several senders
NO_SENDER, SEVERAL = np.int64(-1), np.int64(-2)

# In place of the medium around a pulse's start; and the atmosphere
NO_MEDIUM, _AIR = np.int32(-1), np.int32(0)

# In place of a face in a bin where nothing arrived
_NO_FACE = np.int32(-1)


class Histograms(NamedTuple):
    """Arrivals of each pulse of a batch."""

    cells: NDArray[np.float32]  # (pulses, CELLS length) power of surfaces [W]
    mist_cells: NDArray[np.float32]  # the same of the air along children's paths; no pulses without such air
    end_cells: NDArray[np.float32]  # share of the beam that ended there
    power: NDArray[np.float32]  # (pulses, length) signal in bins [W]
    mist: NDArray[np.float32]  # what of it the air sent [W]; no pulses without air
    ends: NDArray[np.float32]  # share of the beam that ended, pulse by pulse of light
    vote: NDArray[np.float32]  # (pulses, length) votes of the sender [W]
    total: NDArray[np.float32]  # power of all senders, by bin of arrival [W]
    sender: NDArray[np.int64]  # (pulses, length), see `sender_of`
    sole: NDArray[np.int64]  # (pulses,) the only sender so far; else NO_SENDER or SEVERAL, and only then votes count
    face: NDArray[np.int32]  # (pulses, length) face of the sender's object, -1 where nothing arrived
    reach: NDArray[np.int32]  # (pulses, 2) first bin of arrival and the one after the last
    medium: NDArray[np.int32]  # (pulses,) medium whose answer to the whole beam counts; NO_MEDIUM for none yet


@jit.function
def new_histograms(pulses, length, air, volumes):
    """Empty histograms for a batch of pulses."""
    misty, cells = pulses if air else 0, wt.CELLS * length
    reach = np.zeros((pulses, 2), np.int32)
    reach[:, 0] = length
    return Histograms(
        np.zeros((pulses, cells), np.float32),
        np.zeros((misty, cells), np.float32),
        np.zeros((misty, cells), np.float32),
        np.zeros((pulses, length), np.float32),
        np.zeros((misty, length), np.float32),
        np.zeros((misty, length), np.float32),
        np.empty((pulses, length), np.float32),
        np.empty((pulses, length), np.float32),
        np.empty((pulses, length), np.int64),
        np.full(pulses, NO_SENDER, np.int64),
        np.full((pulses, length), _NO_FACE, np.int32),
        reach,
        np.full(pulses, NO_MEDIUM if volumes else _AIR, np.int32),
    )


@jit.inlined
def place_of(number, opl, pads):
    """Position of an arrival [bins], from the histogram's start: a whole number is the beginning of a bin."""
    return (opl - number[wt.W_START_M]) * number[wt.W_BINS_A_M] + np.float32(pads)


@jit.inlined
def add(cells, p, cell, part, height):
    """Share a height between a cell of pulse p and the next: a part of it goes there."""
    moved = height * part
    cells[p, cell] += height - moved
    cells[p, cell + np.uint32(1)] += moved


@jit.inlined
def add_at(cells, p, place, height):
    """Share a height between the two cells of pulse p next to a place [bins]."""
    at = place * np.float32(wt.CELLS)
    cell = np.uint32(at)
    add(cells, p, cell, at - np.float32(cell), height)


@jit.inlined
def sender_of(column, mirror, depth):
    """One number for the sender of light: an object, seen by a mirror (-1: none), at a depth of the ray tree."""
    return np.int64(column) | ((np.int64(mirror) + 1) << _BITS) | (np.int64(depth) << (2 * _BITS))


@jit.inlined
def parts_of(sender):
    """Object, mirror (-1: none) and depth of a sender."""
    return np.int32(sender & _MASK), np.int32(((sender >> _BITS) & _MASK) - 1), np.int32(sender >> (2 * _BITS))


@jit.function
def open_votes(cells, vote, total, sender, face, reach, sole, p):
    """Add a further sender to a pulse: the arrivals so far become the votes of the first one, bin by bin."""
    who, zero = sole[p], np.float32(0.0)
    sole[p] = SEVERAL
    for b in range(vote.shape[1]):
        vote[p, b], total[p, b] = zero, zero
    for b in range(reach[p, 0], reach[p, 1]):
        if face[p, b] != _NO_FACE:
            light = zero
            for i in range(wt.CELLS):
                light += cells[p, wt.CELLS * b + i]
            vote[p, b], total[p, b], sender[p, b] = light, light, who


@jit.inlined
def cast_vote(vote, total, sender, face, p, bin, height, who, its_face):
    """Votes of light for its sender, in the bin where it arrived."""
    total[p, bin] += height
    votes = vote[p, bin]
    if sender[p, bin] == who and votes > np.float32(0.0):
        vote[p, bin] = votes + height
    elif height > votes:
        vote[p, bin], sender[p, bin], face[p, bin] = height - votes, who, its_face
    else:
        vote[p, bin] = votes - height


@jit.inlined
def shape_pulse(cells, bins, pulse, first_tap, share, p, low, high):
    """Add the pulse of each cell of bins low .. high, times a share, to the bins of pulse p, and empty the cells.

    The cells of a bin go together: what is written is read again for the next bin, and waiting for that costs most.
    """
    taps, zero = pulse.shape[1], np.float32(0.0)
    last = bins.shape[1] - taps
    for b in range(low, min(high, cells.shape[1] // wt.CELLS)):
        cell = np.uint32(wt.CELLS * b)
        h0, h1 = cells[p, cell], cells[p, cell + np.uint32(1)]
        h2, h3 = cells[p, cell + np.uint32(2)], cells[p, cell + np.uint32(3)]
        if h0 + h1 + h2 + h3 <= zero:
            continue
        for i in range(np.uint32(wt.CELLS)):
            cells[p, cell + i] = zero
        if 0 <= b + first_tap <= last:
            base = np.uint32(b + first_tap)
            _add_pulses(bins, pulse, p, base, h0 * share, h1 * share, h2 * share, h3 * share, np.uint32(taps))


@jit.inlined
def _add_pulses(bins, pulse, p, base, h0, h1, h2, h3, taps):
    """Pulses of a bin's cells into the bins; numbers that cannot be negative let the loop be vector code."""
    for j in range(taps):
        bins[p, base + j] += h0 * pulse[0, j] + h1 * pulse[1, j] + h2 * pulse[2, j] + h3 * pulse[3, j]


@jit.function
def add_air(power, mist, ends, air, bins, taps, p, first, last):
    """Add the air before the first surfaces of pulse p: its full echo, times the remaining share of the beam.

    Args:
        power, mist, ends: Of `Histograms`, the last two in the shape of pulses.
        air: What the medium would send back into each bin [W], (length,).
        bins: Bins of it that matter; taps: bins before the window.
        p: Pulse.
        first, last: Bins with light in them so far.

    Returns:
        Bins with light in them now: first, and the one after the last.
    """
    if bins > 0:
        ended = np.float32(0.0)
        for b in range(taps + bins):
            ended += ends[p, b]
            mist[p, b] += air[b] * max(np.float32(1.0) - ended, np.float32(0.0))
        first, last = 0, max(last, taps + bins)
    for b in range(first, last):
        power[p, b] += mist[p, b]
    return first, last


@jit.inlined
def clear(power, sole, face, reach, medium, volumes, p, first, last):
    """Empty the histograms of a pulse, which has light in bins first .. last."""
    begin, zero = np.uint32(first), np.float32(0.0)
    for i in range(np.uint32(max(last - first, 0))):
        power[p, begin + i] = zero
    begin, count = np.uint32(reach[p, 0]), np.uint32(max(reach[p, 1] - reach[p, 0], 0))
    for i in range(count):
        face[p, begin + i] = _NO_FACE
    sole[p] = NO_SENDER
    reach[p, 0], reach[p, 1] = power.shape[1], 0
    medium[p] = NO_MEDIUM if volumes else _AIR


@jit.function
def clear_air(mist, ends, p, first, last):
    """Empty the rest where there is air."""
    for b in range(first, last):
        mist[p, b], ends[p, b] = np.float32(0.0), np.float32(0.0)
