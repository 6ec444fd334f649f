"""Peaks in a frame: cells over their CFAR threshold that no neighbor exceeds; all axes are cyclic."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit


class Threshold(NamedTuple):
    """CFAR along the range."""

    around: NDArray[np.int64]  # (n,) distances to the training cells, rising
    factors: NDArray[np.float64]  # (n + 1,) of the threshold, for every number of them
    ranks: NDArray[np.int64]  # (n + 1,) which of them in order it is over, counted from 1; 0 for their mean
    is_round: bool  # whether ranges fold, so that the last cell is followed by the first; else ends have fewer


@jit.function
def _greatest_along(row, out):
    """The greatest of each cell of a row and its two neighbors, round its ends."""
    last = row.size - 1
    for r in range(1, last):
        across = row[r - 1] if row[r - 1] > row[r + 1] else row[r + 1]
        out[r] = across if across > row[r] else row[r]
    out[0] = max(row[last], row[0], row[min(1, last)])
    out[last] = max(row[max(last - 1, 0)], row[last], row[0])


@jit.function
def _raise_to(row, other):
    """The greater of two rows into the first."""
    for r in range(row.size):
        row[r] = row[r] if row[r] > other[r] else other[r]


@jit.function
def _greatest_around(power, first, out):
    """The greatest of each cell and its neighbors in speeds and ranges; `first` is room for the ranges alone."""
    rows, beams, speeds, _ = power.shape
    for e in range(rows):
        for b in range(beams):
            for d in range(speeds):
                _greatest_along(power[e, b, d], first[d])
            for d in range(speeds):
                out[e, b, d] = first[d]
                _raise_to(out[e, b, d], first[d - 1])
                _raise_to(out[e, b, d], first[d + 1 if d + 1 < speeds else 0])


@jit.function
def _span(r, ranges, threshold):
    """First and last of the training cells that there are around a cell."""
    first, last = 0, threshold.around.size
    if not threshold.is_round:
        while first < last and r + threshold.around[first] < 0:
            first += 1
        while last > first and r + threshold.around[last - 1] >= ranges:
            last -= 1
    return first, last


@jit.function
def limit_of(row, r, threshold, values):
    """Threshold of a cell of a row: over the mean of its training cells, or the one of a rank by insertion in order."""
    ranges, number, total = row.size, 0, 0.0
    first, last = _span(r, ranges, threshold)
    rank = threshold.ranks[last - first]
    for k in range(first, last):
        at = (r + threshold.around[k]) % ranges
        value = row[at]
        if rank == 0:
            total += value
            continue
        place = number
        while place > 0 and values[place - 1] > value:
            if place < rank:
                values[place] = values[place - 1]
            place -= 1
        if place < rank:
            values[place] = value
        number = min(number + 1, rank)
    level = total / max(last - first, 1) if rank == 0 else np.float64(values[rank - 1])
    return threshold.factors[last - first] * level


@jit.function
def _exceeds(row, r, value, threshold):
    """Whether a cell exceeds its threshold: for a rank, by counting cells until too many are too strong."""
    ranges, total = row.size, 0.0
    first, last = 0, threshold.around.size
    inside = r + threshold.around[0] >= 0 and r + threshold.around[-1] < ranges
    if not inside:
        first, last = _span(r, ranges, threshold)
    count = last - first
    if count < 2:
        return False
    rank, factor = threshold.ranks[count], threshold.factors[count]
    weak, left = np.float32(value / factor), count - rank
    for k in range(first, last):
        at = r + threshold.around[k]
        if not inside:
            at = at + ranges if at < 0 else (at - ranges if at >= ranges else at)
        if rank == 0:
            total += row[at]
        elif row[at] >= weak:
            left -= 1
            if left < 0:
                return False
    return rank > 0 or value > factor * total / count


@jit.function
def find_peaks(power, around, threshold, is_round, cells, values, limits):
    """Cells over their threshold that no neighbor exceeds, in row beams, beams, speeds and ranges; returns how many.

    Of more than there is room for, the strongest.

    Args:
        power: Of the cells, (row beams, beams, speeds, ranges).
        around: Room of the same shape.
        threshold: Of the CFAR.
        is_round: Whether all beams are formed, so that the last is followed by the first.
        cells: Filled, (room, 4).
        values: Filled with powers, (room,).
        limits: Filled with thresholds, (room,).
    """
    rows, beams, speeds, ranges = power.shape
    found, ordered = 0, np.empty(threshold.around.size, np.float32)
    highest = np.empty(ranges, np.float32)
    _greatest_around(power, np.empty((speeds, ranges), np.float32), around)
    for e in range(rows):
        for b in range(beams):
            for d in range(speeds):
                row = power[e, b, d]
                highest[...] = around[e, b, d]
                for h in range(-1, 2):
                    for i in range(-1, 2):
                        up, across = (e + h) % rows, (b + i) % beams
                        is_next = is_round or 0 <= b + i < beams
                        if is_next and (up != e or across != b):
                            _raise_to(highest, around[up, across, d])
                for r in range(ranges):
                    value = row[r]
                    if value < highest[r] or not _exceeds(row, r, value, threshold):
                        continue
                    limit = limit_of(row, r, threshold, ordered)
                    at = found
                    if found == values.size:
                        at = np.argmin(values)
                        if values[at] >= value:
                            continue
                    else:
                        found += 1
                    values[at], limits[at] = value, limit
                    cells[at, 0], cells[at, 1], cells[at, 2], cells[at, 3] = e, b, d, r
    return found
