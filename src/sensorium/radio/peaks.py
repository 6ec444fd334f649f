"""Peaks in a frame: cells over their CFAR threshold that no neighbour exceeds; all axes count round."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit


class Threshold(NamedTuple):
    """CFAR along the range."""

    around: NDArray[np.int64]  # (n,) distances to the training cells
    factor: float  # of the threshold
    rank: int  # which of them in order it is over, counted from 1; 0 for their mean


@jit.function
def _next(index, step, count, is_round):
    """A neighbour's index; -1 where there is none."""
    at = index + step
    if 0 <= at < count:
        return at
    return at % count if is_round else np.int64(-1)


@jit.function
def is_peak(power, e, b, d, r, is_round):
    """Whether no neighbour in row beams, beams, speeds and ranges is stronger.

    Args:
        power: Of the cells.
        e: Row beam.
        b: Beam, its place among those formed.
        d: Speed.
        r: Range.
        is_round: Whether all beams are formed, so that the last is followed by the first.
    """
    rows, beams, speeds, ranges = power.shape
    own = power[e, b, d, r]
    for h in range(-1 if rows > 2 else 0, 2 if rows > 1 else 1):
        up = _next(e, h, rows, True)
        for i in range(-1, 2):
            across = _next(b, i, beams, is_round)
            if across < 0:
                continue
            for j in range(-1, 2):
                speed = _next(d, j, speeds, True)
                for k in range(-1, 2):
                    if power[up, across, speed, _next(r, k, ranges, True)] > own:
                        return False
    return True


@jit.function
def level(row, r, threshold, values):
    """Mean of the training cells around a cell of a row, or the one of a rank by insertion into a list in order."""
    ranges, number, total = row.size, 0, 0.0
    for k in range(threshold.around.size):
        at = r + threshold.around[k]
        at = at + ranges if at < 0 else (at - ranges if at >= ranges else at)
        value = row[at]
        if threshold.rank == 0:
            total += value
            continue
        place = number
        while place > 0 and values[place - 1] > value:
            if place < values.size:
                values[place] = values[place - 1]
            place -= 1
        if place < values.size:
            values[place] = value
        number = min(number + 1, values.size)
    return total / threshold.around.size if threshold.rank == 0 else np.float64(values[threshold.rank - 1])


@jit.function
def find_peaks(power, threshold, is_round, cells, values, limits):
    """Local maxima over their threshold; of more than there is room for, the strongest. Returns how many.

    Args:
        power: Of the cells, (row beams, beams, speeds, ranges).
        threshold: Of the CFAR.
        is_round: Whether all beams are formed.
        cells: Filled, (room, 4).
        values: Filled with powers, (room,).
        limits: Filled with thresholds, (room,).
    """
    rows, beams, speeds, ranges = power.shape
    found, ordered = 0, np.empty(max(threshold.rank, 1), np.float32)
    for e in range(rows):
        for b in range(beams):
            for d in range(speeds):
                row = power[e, b, d]
                left, own = row[ranges - 1], row[0]
                for r in range(ranges):
                    right = row[r + 1] if r + 1 < ranges else row[0]
                    value, before, left, own = own, left, own, right
                    if before > value or right > value or not is_peak(power, e, b, d, r, is_round):
                        continue
                    limit = threshold.factor * level(row, r, threshold, ordered)
                    if value <= limit:
                        continue
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
