"""What corruptions are given: a number for all channels or one for each, and matrices."""

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from sensorium.errors import SpecError


def _as_tuples(value: object) -> object:
    """Arrays and lists as tuples of plain numbers, so that they compare, copy and print as data."""
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str):
        return tuple(_as_tuples(item) for item in value)
    return value


PerChannel = Annotated[float | tuple[float, ...], BeforeValidator(_as_tuples)]
"""One number for every channel of a signal, or one for each."""

Matrix = Annotated[tuple[tuple[float, ...], ...], BeforeValidator(_as_tuples)]
"""Rows of a matrix over the channels."""


def per_channel(name: str, value: float | Sequence[float], width: int) -> NDArray[np.float64]:
    """One number a channel, shape (width,)."""
    given = np.asarray(value, np.float64)
    if given.ndim and given.shape != (width,):
        raise SpecError(f"{name} has {given.size} values; it must be one number or {width}, one for each channel")
    return np.array(np.broadcast_to(given, (width,)))


def square(name: str, value: Sequence[Sequence[float]], width: int) -> NDArray[np.float64]:
    """A matrix over the channels, shape (width, width)."""
    sizes = {len(row) for row in value} | {len(value)}
    if sizes != {width}:
        raise SpecError(f"{name} has {len(value)} rows of {sorted(sizes)} values; it must be {width} x {width}")
    return np.array(value, np.float64)


def not_negative(name: str, value: float | Sequence[float]) -> None:
    """Raise unless every number is zero or more."""
    for number in np.atleast_1d(np.asarray(value, np.float64)):
        if not number >= 0.0:
            raise ValueError(f"{name} is {number:g}; it must not be negative")


def positive(name: str, value: float | Sequence[float]) -> None:
    """Raise unless every number is above zero."""
    for number in np.atleast_1d(np.asarray(value, np.float64)):
        if not number > 0.0:
            raise ValueError(f"{name} is {number:g}; it must be positive")
