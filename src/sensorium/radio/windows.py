"""Windows over samples before a transform: how far one echo spreads over cells.

A window w_n = sum_k (-1)^k a_k cos(2 pi k n / N) turns an echo at the fractional cell x into

    W(x) = a_0 D(x) + 1/2 sum_k a_k (D(x - k) + D(x + k)),   D(x) = sin(pi x) / (N sin(pi x / N)),

divided by a_0 so that W(0) = 1, and up to a phase that all echoes share. Ref: Harris 1978, On the use of windows for
harmonic analysis with the discrete Fourier transform.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium import jit
from sensorium.errors import SpecError
from sensorium.optics.checks import Array, checked

TERMS = 4
"""Terms of every window; those it does not have are zero."""

WINDOWS: dict[str, tuple[float, ...]] = {
    "rectangular": (1.0, 0.0, 0.0, 0.0),
    "hann": (0.5, 0.5, 0.0, 0.0),
    "hamming": (0.54, 0.46, 0.0, 0.0),
    "blackman_harris": (0.35875, 0.48829, 0.14128, 0.01168),
}
"""Terms a_k. Highest side lobes: -13, -31, -43 and -92 dB."""


@jit.inlined
def dirichlet(x: float, count: float) -> float:
    """sin(pi x) / (N sin(pi x / N)); where both vanish, their ratio's limit."""
    below = count * math.sin(math.pi * x / count)
    if abs(below) < 1e-12:
        return math.cos(math.pi * x) * math.cos(math.pi * x / count)
    return math.sin(math.pi * x) / below


@jit.function
def spread(terms: NDArray[np.float64], x: float, count: float) -> float:
    """W(x) of a window whose terms are divided by the first; N is the number of samples."""
    total = dirichlet(x, count)
    for k in range(1, TERMS):
        if terms[k] != 0.0:
            total += 0.5 * terms[k] * (dirichlet(x - k, count) + dirichlet(x + k, count))
    return total


@jit.kernel
def _fill(terms: NDArray[np.float64], x: NDArray[np.float64], count: float, out: NDArray[np.float64]) -> None:
    """W of every x into out."""
    for i in range(x.size):
        out[i] = spread(terms, x[i], count)


def window_terms(name: str) -> Array:
    """Terms of a window divided by the first, shape (TERMS,)."""
    if name not in WINDOWS:
        raise SpecError(f"window is {name!r}; it must be one of {', '.join(WINDOWS)}")
    terms = np.array(WINDOWS[name])
    return terms / terms[0]


def point_spread(name: str, x: ArrayLike, *, count: int) -> Array:
    """W(x) [1], what stands x cells from an echo of amplitude 1.

    Args:
        name: A key of `WINDOWS`.
        x: Distance in cells, any shape.
        count: N, samples that the window runs over.
    """
    if count < 1:
        raise SpecError(f"count is {count}; it must be 1 or more")
    cells = np.array(checked("x", x), order="C")
    out = np.empty(cells.size)
    _fill(window_terms(name), cells.reshape(-1), float(count), out)
    return out.reshape(cells.shape)


def noise_bandwidth(name: str) -> float:
    """Noise of a cell over that without a window, at the same height of echoes: 1 + 1/2 sum (a_k / a_0)^2 [1].

    1, 1.5, 1.36283 and 2.00435 for the windows here.
    """
    terms = window_terms(name)
    return float(1.0 + 0.5 * np.sum(terms[1:] ** 2))
