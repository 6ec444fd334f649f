"""Position of an echo between cells, and its strength: the maximum-likelihood estimate from the cells around a peak.

An echo of amplitude A at the place p appears in cell c as A prod W(c - p), in noise whose correlation between cells the
windows give (C along an axis). The likelihood of the K cells around the peak along an axis,

    |W_p^T C^-1 v|^2 / (W_p^T C^-1 W_p),

is greatest at the estimate, where v are these cells with the other axes added up in the same way at their estimates
(matched to the echo). For a row of K antennas or fewer all cells count, which is the maximum-likelihood estimate of one
echo in white noise; for two antennas it is their phase difference. It is right for any window: noise apart, the
estimate has no bias, for it fits the window's own response.

With SNR the power of the echo over the mean noise of a cell after windows (`snr_dB` of a reading), the Cramer-Rao bound
of the place in cells is sqrt(6 / (SNR (N^2 - 1))) N / 2 pi, and the standard deviation is at most 1.33 times that over
places and windows, as long as the peak is not one of noise (from some 13 dB on).

Ref: Rife and Boorstyn 1974, Single-tone parameter estimation from discrete-time observations; Li and Stoica 1996,
Efficient mixed-spectrum estimation with applications to target feature extraction (RELAX: echoes in turn, each with the
others taken away).
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.radio.windows import noise_correlation, point_spread, spread_slope
from sensorium.runtime import jit

CELLS = 5
"""K, of an axis that has as many."""

PLACES = 32
"""For which the weights are kept, in a cell."""

# Distance from the peak in which places are searched, in cells, if not all cells count
_SPAN = 1.5

# Added to C: components that a window has almost removed are not restored with their rounding
_LOADING = 1e-2

# Every n-th place is tried first
_COARSE = 4

# Of the search along an axis
_MOST_STEPS = 4

_PASSES = 3


class Weights(NamedTuple):
    """Weights of the cells around a peak, for places from `first` on in equal steps; four axes, padded with zeros."""

    cells: NDArray[np.int64]  # (4,) K
    first: NDArray[np.float64]  # (4,) first place, in cells from the peak
    places: NDArray[np.int64]  # (4,) how many there are
    matched: NDArray[np.float64]  # (4, places, CELLS) C^-1 W / sqrt(W^T C^-1 W): likelihood is the square
    strength: NDArray[np.float64]  # (4, places) sqrt(W^T C^-1 W)
    sloped: NDArray[np.float64]  # (4, places, CELLS) of the amplitude times the distance to the place
    change: NDArray[np.float64]  # (4, places) of the amplitude with that distance, relative, where it is left out


def weights_of(axes: list[tuple[str, int]]) -> Weights:
    """Weights for axes given as window and number of samples."""
    made = [_weights(window, count) for window, count in axes]
    most = max(len(one.strength) for one in made)

    def padded(arrays: list[NDArray[np.float64]]) -> NDArray[np.float64]:
        out = np.zeros((len(arrays), most, *arrays[0].shape[1:]))
        for one, array in zip(out, arrays, strict=True):
            one[: len(array)] = array
        return out

    return Weights(
        cells=np.array([min(count, CELLS) for _, count in axes], np.int64),
        first=np.array([one.first for one in made]),
        places=np.array([len(one.strength) for one in made], np.int64),
        matched=padded([one.matched for one in made]),
        strength=padded([one.strength for one in made]),
        sloped=padded([one.sloped for one in made]),
        change=padded([one.change for one in made]),
    )


class _Axis(NamedTuple):
    """Weights of one axis, as in `Weights`."""

    first: float
    matched: NDArray[np.float64]
    strength: NDArray[np.float64]
    sloped: NDArray[np.float64]
    change: NDArray[np.float64]


def _weights(window: str, count: int) -> _Axis:
    """Weights of the cells of an axis for all places."""
    cells = min(count, CELLS)
    at = np.arange(cells) - cells // 2
    span = 0.5 * count if count <= CELLS else _SPAN
    steps = round(span * PLACES)
    place = np.arange(-steps, steps + 1) / PLACES if count > 1 else np.zeros(1)
    C = noise_correlation(window, at[:, None] - at, count=count) + _LOADING * np.eye(cells)
    W = point_spread(window, at - place[:, None], count=count)
    slope = -spread_slope(window, at - place[:, None], count=count)
    solved = np.linalg.solve(C, W.T).T
    information = np.sum(W * solved, axis=1)

    # The part of the change with the place that is not a change of amplitude
    change = np.sum(slope * solved, axis=1) / information
    across = slope - W * change[:, None]
    turned = np.linalg.solve(C, across.T).T
    moved = np.sum(across * turned, axis=1)
    sloped = turned / np.where(moved > 0.0, moved, np.inf)[:, None]
    matched = solved / np.sqrt(information)[:, None]
    pad = ((0, 0), (0, CELLS - cells))
    return _Axis(float(place[0]), np.pad(matched, pad), np.sqrt(information), np.pad(sloped, pad), change)


@jit.function
def _along(block, weights, nodes, axis, line):
    """The cells along an axis, with those of the other axes added up as an echo at their places has them."""
    line[...] = 0.0
    for h in range(weights.cells[0]):
        w0 = 1.0 if axis == 0 else weights.matched[0, nodes[0], h]
        for i in range(weights.cells[1]):
            w1 = w0 if axis == 1 else w0 * weights.matched[1, nodes[1], i]
            for j in range(weights.cells[2]):
                w2 = w1 if axis == 2 else w1 * weights.matched[2, nodes[2], j]
                for k in range(weights.cells[3]):
                    w3 = w2 if axis == 3 else w2 * weights.matched[3, nodes[3], k]
                    at = h if axis == 0 else (i if axis == 1 else (j if axis == 2 else k))
                    line[at] += w3 * block[h, i, j, k]


@jit.function
def _matched(line, weights, axis, node):
    """Sum of an axis' cells over the weights of a place."""
    total = 0.0j
    for k in range(weights.cells[axis]):
        total += weights.matched[axis, node, k] * line[k]
    return total


@jit.function
def _size(value):
    return value.real * value.real + value.imag * value.imag


@jit.function
def _search(line, weights, axis, node, is_first):
    """Place of the greatest likelihood along an axis: the nearest one of the table, and how far from it."""
    if is_first:
        best = -1.0
        for at in range(0, weights.places[axis], _COARSE):
            found = _size(_matched(line, weights, axis, at))
            if found > best:
                best, node = found, at
    offset = 0.0
    for taken in range(_MOST_STEPS):
        amplitude = _matched(line, weights, axis, node) / weights.strength[axis, node]
        change = 0.0j
        for k in range(weights.cells[axis]):
            change += weights.sloped[axis, node, k] * line[k]
        size = _size(amplitude)
        if size == 0.0:
            return node, 0.0
        offset = (change.real * amplitude.real + change.imag * amplitude.imag) / size
        step = min(max(math.floor(offset * PLACES + 0.5), -PLACES // 2), PLACES // 2)
        at = min(max(node + int(step), 0), weights.places[axis] - 1)
        if at == node or taken == _MOST_STEPS - 1:
            break
        node = at
    return node, min(max(offset, -1.0 / PLACES), 1.0 / PLACES)


@jit.function
def refine(block, weights, place):
    """Place of an echo in a block of cells around its peak, and its amplitude.

    Args:
        block: Complex cells, (row beams, beams, speeds, ranges), the peak in the middle (`cells // 2`).
        weights: Of the axes.
        place: Filled with cells from the peak, (4,).

    Returns:
        Amplitude, complex.
    """
    nodes, line, kept = np.empty(4, np.int64), np.empty(CELLS, np.complex128), np.ones(4)
    for axis in range(4):
        nodes[axis] = weights.places[axis] // 2
    for passed in range(_PASSES):
        for axis in range(4):
            if weights.places[axis] == 1:
                place[axis] = 0.0
                continue
            _along(block, weights, nodes, axis, line)
            nodes[axis], offset = _search(line, weights, axis, nodes[axis], passed == 0)
            place[axis] = weights.first[axis] + nodes[axis] / PLACES + offset
            kept[axis] = 1.0 + offset * weights.change[axis, nodes[axis]]
    _along(block, weights, nodes, 3, line)
    amplitude = _matched(line, weights, 3, nodes[3])
    for axis in range(4):
        amplitude /= weights.strength[axis, nodes[axis]] * kept[axis]
    return amplitude
