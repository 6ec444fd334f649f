"""Windows over samples before a transform: the spread of one echo over cells.

A window w_n = sum_k (-1)^k a_k cos(2 pi k (n + 1/2) / N), n = 0 to N - 1, turns an echo at the fractional cell x into

    W(x) = sum_n w_n cos(2 pi (n - (N - 1) / 2) x / N) / sum_n w_n
         = (a_0 D(x) + 1/2 sum_k a_k (D(x - k) + D(x + k))) / mean(w),   D(x) = sin(pi x) / (N sin(pi x / N)),

with phases counted from the middle of the samples, which makes it real. mean(w) is a_0 from four samples on. Cells are
cyclic: W(x + N) = W(x) for odd N and -W(x) for even N, where the middle is between two samples. Ref: Harris 1978, On
the use of windows for harmonic analysis with the discrete Fourier transform.
"""

import math

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.runtime import jit

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
    if abs(below) < 1e-9:
        return math.cos(math.pi * x) * math.cos(math.pi * x / count)
    return math.sin(math.pi * x) / below


@jit.function
def spread(terms: NDArray[np.float64], x: float, count: float) -> float:
    """W(x) of a window whose terms are divided by its mean; N is the number of samples."""
    total = terms[0] * dirichlet(x, count)
    for k in range(1, TERMS):
        if terms[k] != 0.0:
            total += 0.5 * terms[k] * (dirichlet(x - k, count) + dirichlet(x + k, count))
    return total


@jit.function
def main_lobe(terms: NDArray[np.float64]) -> int:
    """Cells from an echo to the first zero of W: one more than the window's last term."""
    last = 0
    for k in range(1, TERMS):
        last = k if terms[k] != 0.0 else last
    return last + 1


@jit.function
def spread_line(terms: NDArray[np.float64], x: float, count: float, number: int, room: NDArray[np.float64]) -> None:
    """W(x), W(x + 1), ... into the first `number` of `room`, which has 2 x TERMS more.

    One sine for all terms: sin(pi (x + j)) is sin(pi x) except for its sign.
    """
    last = main_lobe(terms) - 1
    sine = math.sin(math.pi * x)
    for i in range(number + 2 * last):
        j = i - last
        below = count * math.sin(math.pi * (x + j) / count)
        if abs(below) < 1e-6:
            room[i] = dirichlet(x + j, count)
        else:
            room[i] = (-sine if j & 1 else sine) / below

    # Each cell from those before and after, which are not yet overwritten
    for i in range(number):
        total = terms[0] * room[i + last]
        for k in range(1, last + 1):
            total += 0.5 * terms[k] * (room[i + last - k] + room[i + last + k])
        room[i] = total


@jit.kernel
def _fill(terms: NDArray[np.float64], x: NDArray[np.float64], count: float, out: NDArray[np.float64]) -> None:
    """W of every x into out."""
    for i in range(x.size):
        out[i] = spread(terms, x[i], count)


def window_samples(name: str, *, count: int) -> Array:
    """w_n of a window over this many samples, shape (count,) [1]."""
    if name not in WINDOWS:
        raise SpecError(f"window is {name!r}; it must be one of {', '.join(WINDOWS)}")
    if count < 1:
        raise SpecError(f"count is {count}; it must be 1 or more")
    turn = 2.0 * np.pi * (np.arange(count) + 0.5) / count
    return np.sum([(-1) ** k * a * np.cos(k * turn) for k, a in enumerate(WINDOWS[name])], axis=0)


def window_terms(name: str, *, count: int) -> Array:
    """Terms a_k / mean(w) of a window over this many samples, shape (TERMS,)."""
    mean = window_samples(name, count=count).mean()
    return np.array(WINDOWS[name]) / mean


def point_spread(name: str, x: ArrayLike, *, count: int) -> Array:
    """W(x) [1], the amplitude x cells from an echo of amplitude 1.

    Args:
        name: A key of `WINDOWS`.
        x: Distance in cells, any shape.
        count: N, samples that the window runs over.
    """
    cells = np.array(checked("x", x), order="C")
    terms, out = window_terms(name, count=count), np.empty(cells.size)
    _fill(terms, cells.reshape(-1), float(count), out)
    return out.reshape(cells.shape)


def spread_slope(name: str, x: ArrayLike, *, count: int) -> Array:
    """dW/dx at x cells from an echo [1 / cell]; arguments as in `point_spread`."""
    w, from_middle = window_samples(name, count=count), np.arange(count) - 0.5 * (count - 1)
    turn = 2.0 * np.pi * from_middle / count
    return -np.sin(checked("x", x)[..., None] * turn) @ (w * turn) / w.sum()


def noise_bandwidth(name: str, *, count: int = 4096) -> float:
    """Noise of a cell over that without a window, at the same height of echoes: N sum(w^2) / sum(w)^2 [1].

    1 + 1/2 sum (a_k / a_0)^2 from seven samples on: 1, 1.5, 1.36283 and 2.00435 for the windows here.
    """
    w = window_samples(name, count=count)
    return float(count * np.sum(w**2) / np.sum(w) ** 2)


def noise_correlation(name: str, lag: ArrayLike, *, count: int) -> Array:
    """Correlation of the noise of two cells at a lag, sum(w^2 cos(2 pi (n - (N - 1) / 2) lag / N)) / sum(w^2) [1].

    0 without a window; 2/3 and 1/6 for the next and the next but one with Hann's.

    Args:
        name: A key of `WINDOWS`.
        lag: Distance in cells, whole numbers of any shape.
        count: N, samples that the window runs over.
    """
    power, from_middle = window_samples(name, count=count) ** 2, np.arange(count) - 0.5 * (count - 1)
    turn = 2.0 * np.pi * from_middle / count
    return np.cos(checked("lag", lag)[..., None] * turn) @ power / power.sum()
