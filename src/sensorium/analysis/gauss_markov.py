"""Allan deviation of a first-order Gauss-Markov process; sums of such processes approximate flicker."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError

_SERIES_BELOW = 0.01
_SERIES = np.array([0.0, 2 / 3, -1 / 2, 7 / 30, -1 / 12, 31 / 1260])


def gauss_markov_deviation(tau_s: ArrayLike, *, std: ArrayLike, correlation_time_s: ArrayLike) -> NDArray[np.float64]:
    """Allan deviation of x' = -x / T + q w with the standard deviation sigma = q sqrt(T / 2).

        sigma^2(tau) = (q T)^2 / tau (1 - T / (2 tau) (3 - 4 exp(-tau / T) + exp(-2 tau / T)))

    (IEEE 952). It is largest at tau = 1.893 T, where it is 0.6174 sigma. Processes of one sigma, one a decade of T,
    add up to the floor of a bias instability B where sigma = B sqrt(ln 10 / pi) = 0.8561 B, with a ripple of 1 %.

    Args:
        tau_s: Averaging times [s], positive.
        std: Standard deviation sigma of the process [unit of the signal].
        correlation_time_s: T [s], positive; all three broadcast.

    Returns:
        Allan deviation [unit of std], of the shape to which the arguments broadcast.
    """
    tau, sigma, time = np.broadcast_arrays(*(np.asarray(a, np.float64) for a in (tau_s, std, correlation_time_s)))
    for name, values in (("tau_s", tau), ("correlation_time_s", time)):
        wrong = ~(np.isfinite(values) & (values > 0.0))
        if wrong.any():
            raise SpecError(f"{name} is {values[wrong].flat[0]:g}; it must be finite and positive")
    x = tau / time

    # Below, the terms cancel to the third order of x; their series does not
    small = np.minimum(x, _SERIES_BELOW)
    series = np.polynomial.polynomial.polyval(small, _SERIES)
    large = np.maximum(x, _SERIES_BELOW)
    closed = 2.0 / large * (1.0 - (3.0 - 4.0 * np.exp(-large) + np.exp(-2.0 * large)) / (2.0 * large))
    return sigma * np.sqrt(np.where(x < _SERIES_BELOW, series, closed))
