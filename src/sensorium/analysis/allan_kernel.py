"""The sums of an Allan deviation, block by block, with the same bytes on any number of threads."""

from typing import Any

from sensorium.runtime import jit

BLOCK = 8192
"""Terms in a block: its three windows into theta stay in the cache, and short ones are shared by all taus."""


@jit.kernel
def sum_squares(first: int, step: int, count: int, theta: Any, counts: Any, sums: Any) -> None:
    """Sum the squares of theta(k + 2 m) - 2 theta(k + m) + theta(k) over blocks of k.

    Args:
        first: First block; a block is a channel and a stretch of k.
        step: To the next one.
        count: Number of blocks.
        theta: Running sums of the signal, shape (channels, samples + 1).
        counts: Samples averaged m, shape (taus,).
        sums: Where the sums go, shape (channels, taus, blocks a channel).
    """
    stretches = sums.shape[2]
    for block in range(first, count, step):
        channel, stretch = block // stretches, block % stretches
        total = theta[channel]
        start = stretch * BLOCK
        for i in range(counts.shape[0]):
            m = counts[i]
            end = min(start + BLOCK, total.shape[0] - 2 * m)
            sums[channel, i, stretch] = _squares(total, m, start, end) if end > start else 0.0


@jit.function
def _squares(total: Any, m: int, start: int, end: int) -> float:
    """One block's sum, in eight that the machine can do at once."""
    size = end - start
    x, y, z = total[start:end], total[start + m : end + m], total[start + 2 * m : end + 2 * m]
    a0 = a1 = a2 = a3 = a4 = a5 = a6 = a7 = 0.0
    for k in range(0, size - 7, 8):
        d0 = (z[k] - y[k]) - (y[k] - x[k])
        d1 = (z[k + 1] - y[k + 1]) - (y[k + 1] - x[k + 1])
        d2 = (z[k + 2] - y[k + 2]) - (y[k + 2] - x[k + 2])
        d3 = (z[k + 3] - y[k + 3]) - (y[k + 3] - x[k + 3])
        d4 = (z[k + 4] - y[k + 4]) - (y[k + 4] - x[k + 4])
        d5 = (z[k + 5] - y[k + 5]) - (y[k + 5] - x[k + 5])
        d6 = (z[k + 6] - y[k + 6]) - (y[k + 6] - x[k + 6])
        d7 = (z[k + 7] - y[k + 7]) - (y[k + 7] - x[k + 7])
        a0 += d0 * d0
        a1 += d1 * d1
        a2 += d2 * d2
        a3 += d3 * d3
        a4 += d4 * d4
        a5 += d5 * d5
        a6 += d6 * d6
        a7 += d7 * d7
    for k in range(size - size % 8, size):
        d0 = (z[k] - y[k]) - (y[k] - x[k])
        a0 += d0 * d0
    return ((a0 + a1) + (a2 + a3)) + ((a4 + a5) + (a6 + a7))
