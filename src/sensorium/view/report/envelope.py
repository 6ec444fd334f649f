"""A signal of any length in bounded memory, with its spikes, and arrays packed for a page."""

import base64
from typing import Any

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


class Envelope:
    """The lowest and the highest sample of every stretch of a signal, with their times.

    Stretches are equally many samples long. There are at most `most` of them: when they are full, neighbors are joined
    and later ones are twice as long. Up to 2 `most` samples are therefore kept as they are, and of a longer signal no
    spike is lost. A sample that is not a number counts only where its whole stretch is.
    """

    def __init__(self, channels: int, *, most: int) -> None:
        """Begin.

        Args:
            channels: Signals of common times.
            most: Most stretches, an even number.
        """
        self._most, self._width, self._count = most, 1, 0
        # Axis 1: the lowest, the highest
        self._time_s = np.zeros((most, 2, channels))
        self._value = np.zeros((most, 2, channels))
        self._rest_s, self._rest = np.zeros(0), np.zeros((0, channels))

    def add(self, time_s: Float, values: Float) -> None:
        """Add samples, shapes (n,) and (n, channels)."""
        time_s, values = np.concatenate([self._rest_s, time_s]), np.concatenate([self._rest, values])
        while len(time_s) >= self._width:
            if self._count == self._most:
                self._time_s[: self._most // 2], self._value[: self._most // 2] = _joined(self._time_s, self._value)
                self._count, self._width = self._most // 2, 2 * self._width
                continue
            stretches = min(len(time_s) // self._width, self._most - self._count)
            used, into = stretches * self._width, slice(self._count, self._count + stretches)
            of_time, of_values = time_s[:used].reshape(stretches, -1), values[:used].reshape(stretches, self._width, -1)
            self._time_s[into], self._value[into] = _extremes(of_time, of_values)
            self._count += stretches
            time_s, values = time_s[used:], values[used:]
        self._rest_s, self._rest = time_s, values

    def points(self, channel: int, *, most: int | None = None) -> tuple[Float, Float]:
        """Times [s] and values of one channel's kept samples, in order of time.

        Args:
            channel: Which.
            most: Most stretches to give, fewer than are kept; neighbors are joined until they are.
        """
        time_s = self._time_s[: self._count, :, channel : channel + 1]
        value = self._value[: self._count, :, channel : channel + 1]
        if len(self._rest):
            last_s, last = _extremes(self._rest_s[None], self._rest[None, :, channel : channel + 1])
            time_s, value = np.concatenate([time_s, last_s]), np.concatenate([value, last])
        while most is not None and len(value) > most:
            odd = len(value) % 2
            joined_s, joined = _joined(time_s[: len(value) - odd], value[: len(value) - odd])
            time_s = np.concatenate([joined_s, time_s[len(time_s) - odd :]])
            value = np.concatenate([joined, value[len(value) - odd :]])

        # Lowest and highest in the order they came, once where they are the same sample
        order = np.argsort(time_s, axis=1, kind="stable")
        time_s, value = (np.take_along_axis(a, order, axis=1)[..., 0] for a in (time_s, value))
        keep = np.stack([np.ones(len(time_s), np.bool_), time_s[:, 1] > time_s[:, 0]], axis=1)
        return time_s[keep], value[keep]


def _extremes(time_s: Float, values: Float) -> tuple[Float, Float]:
    """Of stretches (n, width) and (n, width, channels): times and values of the extremes, each (n, 2, channels)."""
    unknown = np.isnan(values)
    lowest = np.where(unknown, np.inf, values).argmin(axis=1)
    highest = np.where(unknown, -np.inf, values).argmax(axis=1)
    at = np.stack([lowest, highest], axis=1)
    return time_s[np.arange(len(time_s))[:, None, None], at], np.take_along_axis(values, at, axis=1)


def _joined(time_s: Float, value: Float) -> tuple[Float, Float]:
    """Each two neighbors as one, shapes (2 n, 2, channels) to (n, 2, channels)."""
    one, other = value[0::2], value[1::2]
    beats = np.stack([other[:, 0] < one[:, 0], other[:, 1] > one[:, 1]], axis=1) | (np.isnan(one) & ~np.isnan(other))
    return np.where(beats, time_s[1::2], time_s[0::2]), np.where(beats, other, one)


_KINDS = {"u1": "u1", "u2": "u2", "f4": "f4", "f8": "f8"}


def packed(array: NDArray[Any]) -> dict[str, str]:
    """An array of bytes, 16-bit whole numbers or floats, flattened, as page.js reads it."""
    little = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
    return {"kind": _KINDS[little.dtype.str[1:]], "data": base64.b64encode(little.tobytes()).decode("ascii")}


def levels(values: NDArray[Any], low: float, high: float, kind: type[np.unsignedinteger[Any]]) -> NDArray[Any]:
    """Values as steps of a scale from low to high, rounded to the nearest; values outside are clipped to its ends."""
    top = np.iinfo(kind).max
    share = (np.asarray(values, np.float64) - low) / max(high - low, 1e-12)
    return np.rint(np.clip(share, 0.0, 1.0) * top).astype(kind)
