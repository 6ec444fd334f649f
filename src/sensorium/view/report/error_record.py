"""Errors of a sensor kept for an Allan plot, in bounded memory."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis import allan_deviation

Float = NDArray[np.float64]

# Fewer samples than this say little, and a larger share of missing ones than this would distort the curve
_FEWEST_SAMPLES = 512
_MOST_MISSING = 0.01

# Means are used for averaging times of at least this many of them: there they overlap enough, and there are many
_LEAST_AVERAGED = 4


@dataclass(frozen=True)
class AllanCurve:
    """Allan deviation of one channel with its 95 % interval, arrays of shape (taus,)."""

    tau_s: Float
    deviation: Float
    low: Float
    high: Float


class ErrorRecord:
    """The first samples as they are, and means over equal stretches of all of them.

    The first give the Allan deviation at short averaging times, the means at long ones. When the means are full,
    neighbors are averaged and later ones are twice as long.
    """

    def __init__(self, channels: int, *, most: int = 1 << 16) -> None:
        """Begin.

        Args:
            channels: Signals of common times.
            most: Most samples, and most means, that are kept; an even number.
        """
        self._first = np.zeros((most, channels))
        self._means = np.zeros((most, channels))
        self._count, self._filled, self._width = 0, 0, 1
        self._rest = np.zeros((0, channels))
        self._missing, self._before = 0, np.zeros(channels)

    def add(self, errors: Float) -> None:
        """Add samples, shape (n, channels); one that is not finite counts as missing, and as the one before."""
        known = np.isfinite(errors)
        if not known.all():
            self._missing += int((~known).any(axis=1).sum())
            errors = _held(errors, known, self._before)
        if len(errors):
            self._before = errors[-1]
        room = max(0, min(len(errors), len(self._first) - self._count))
        self._first[self._count : self._count + room] = errors[:room]
        self._count += len(errors)

        # Means of all of it
        errors = np.concatenate([self._rest, errors])
        while len(errors) >= self._width:
            if self._filled == len(self._means):
                self._means[: self._filled // 2] = 0.5 * (self._means[0::2] + self._means[1::2])
                self._filled, self._width = self._filled // 2, 2 * self._width
                continue
            stretches = min(len(errors) // self._width, len(self._means) - self._filled)
            used = stretches * self._width
            means = errors[:used].reshape(stretches, self._width, -1).mean(axis=1)
            self._means[self._filled : self._filled + stretches] = means
            self._filled, errors = self._filled + stretches, errors[used:]
        self._rest = errors

    def why_none(self, expected: int) -> str | None:
        """Why there is no Allan plot, as words; None if there is one.

        Args:
            expected: How many samples there should have been.
        """
        if self._count < _FEWEST_SAMPLES:
            return f"{self._count} samples are too few; it needs {_FEWEST_SAMPLES}"
        missing = self._missing + max(0, expected - self._count)
        if missing > _MOST_MISSING * expected:
            return f"{100.0 * missing / expected:.1f} % of the samples are missing; at most 1 % may be"
        return None

    def curves(self, rate_hz: float) -> list[AllanCurve | None]:
        """The curve of each channel; None where there is no error at all."""
        kept = min(self._count, len(self._first))
        parts = [(allan_deviation(self._first[:kept], rate_hz), 0.0)]
        if self._count > kept:
            of_means = allan_deviation(self._means[: self._filled], rate_hz / self._width)
            parts.append((of_means, _LEAST_AVERAGED * self._width / rate_hz))
        begins = [begin for _, begin in parts] + [np.inf]
        curves: list[AllanCurve | None] = []
        for channel in range(self._first.shape[1]):
            if not self._first[:kept, channel].any():
                curves.append(None)
                continue
            columns = []
            for (allan, begin), end in zip(parts, begins[1:], strict=True):
                at = (allan.tau_s >= begin) & (allan.tau_s < end)
                columns.append([allan.tau_s[at], *(a[at, channel] for a in (allan.deviation, allan.low, allan.high))])
            curves.append(AllanCurve(*(np.concatenate(pieces) for pieces in zip(*columns, strict=True))))
        return curves


def _held(values: Float, known: NDArray[np.bool_], before: Float) -> Float:
    """Each unknown value replaced by the last known one of its channel."""
    whole, is_known = np.concatenate([before[None], values]), np.concatenate([np.ones((1, len(before)), bool), known])
    row = np.where(is_known, np.arange(len(whole))[:, None], 0)
    return np.take_along_axis(whole, np.maximum.accumulate(row, axis=0), axis=0)[1:]
