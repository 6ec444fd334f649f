"""Parameters of corruptions: a number for all channels or one for each, and matrices."""

import math
from collections.abc import Sequence
from typing import Annotated, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import BeforeValidator, Field, ValidationInfo

from sensorium.core.errors import SpecError


def _as_tuples(value: object) -> object:
    """Arrays and lists as tuples of plain numbers, so that they compare, copy and print as data."""
    if isinstance(value, np.ndarray | np.generic):
        value = value.tolist()
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return tuple(_as_tuples(item) for item in value)
    return value


def _is_finite(item: object) -> bool:
    """Whether a value is a number that a float holds."""
    try:
        return isinstance(item, int | float) and not isinstance(item, bool) and math.isfinite(item)
    except OverflowError:
        return False


def _numbers(value: object, info: ValidationInfo) -> object:
    """A finite number, or a tuple of some; checked here, so that the error message is one sentence."""
    given = _as_tuples(value)
    rule = "it must be a finite number, or one for each channel"
    for item in given if isinstance(given, tuple) else (given,):
        if not _is_finite(item):
            raise ValueError(f"{info.field_name} is {value!r}; {rule}")
    if given == ():
        raise ValueError(f"{info.field_name} is {value!r}; {rule}")
    return given


def _rows(value: object, info: ValidationInfo) -> object:
    """Rows of finite numbers, all of one length."""
    given = _as_tuples(value)
    if not isinstance(given, tuple) or not all(isinstance(row, tuple) for row in given):
        raise ValueError(f"{info.field_name} is {value!r}; it must be a matrix, a list of its rows")
    if len({len(row) for row in given}) != 1 or not given[0]:
        raise ValueError(f"{info.field_name} is {value!r}; rows of a matrix must be equally long, and not empty")
    for item in (item for row in given for item in row):
        if not _is_finite(item):
            raise ValueError(f"{info.field_name} is {value!r}; every number in it must be finite")
    return given


PerChannel = Annotated[float | tuple[float, ...], BeforeValidator(_numbers)]
"""One number for all channels of a signal, or one for each."""


def _nan_as_word(value: object) -> object:
    """NaN as a word, which files can hold and which compares with itself."""
    return "nan" if isinstance(value, float) and math.isnan(value) else value


Reading = Annotated[float | Literal["nan"], BeforeValidator(_nan_as_word)]
"""Replacement of a value: a number, or "nan"."""

Channels = Annotated[tuple[Annotated[int, Field(ge=0)], ...], BeforeValidator(_as_tuples)]
"""Numbers of some channels, from 0."""

Matrix = Annotated[tuple[tuple[float, ...], ...], BeforeValidator(_rows)]
"""Rows of a matrix over the channels."""


def per_channel(name: str, value: float | Sequence[float], width: int) -> NDArray[np.float64]:
    """One number per channel, shape (width,)."""
    given = np.asarray(value, np.float64)
    if given.ndim and given.shape != (width,):
        raise SpecError(f"{name} has {given.size} values; it must be one number or {width}, one for each channel")
    return np.array(np.broadcast_to(given, (width,)))


def square(name: str, value: ArrayLike, width: int) -> NDArray[np.float64]:
    """A matrix over the channels, shape (width, width)."""
    matrix = np.array(value, np.float64)
    if matrix.shape != (width, width):
        raise SpecError(f"{name} is {' x '.join(map(str, matrix.shape))}; it must be {width} x {width}")
    return matrix


def square_root(name: str, covariance: ArrayLike, width: int) -> NDArray[np.float64]:
    """L with L L^T = covariance, shape (width, width); the covariance may be singular."""
    matrix = square(name, covariance, width)
    values, vectors = np.linalg.eigh(matrix)
    if not np.allclose(matrix, matrix.T) or values.min() < -1e-12 * max(values.max(), 0.0):
        raise SpecError(f"{name} is {matrix.tolist()}; it must be symmetric and have no negative eigenvalue")
    return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)))


def some_channels(name: str, channels: Sequence[int], count: int) -> tuple[int, ...]:
    """Channels below `count`, in order and each once."""
    if not channels:
        raise SpecError(f"{name} is empty; it must name at least one channel")
    if max(channels) >= count:
        raise SpecError(f"{name} has {max(channels)}; it must be from 0 to {count - 1}")
    return tuple(sorted(set(channels)))


def not_negative(name: str, value: float | Sequence[float]) -> None:
    """Raise unless every number is at least zero."""
    for number in np.atleast_1d(np.asarray(value, np.float64)):
        if not number >= 0.0:
            raise ValueError(f"{name} is {number:g}; it must not be negative")


def positive(name: str, value: float | Sequence[float]) -> None:
    """Raise unless every number is above zero."""
    for number in np.atleast_1d(np.asarray(value, np.float64)):
        if not number > 0.0:
            raise ValueError(f"{name} is {number:g}; it must be positive")


def ordered(
    low_name: str,
    low: float | Sequence[float],
    high_name: str,
    high: float | Sequence[float],
    *,
    strictly: bool = False,
) -> None:
    """Raise unless each lower number is at most, or if strict below, its upper one."""
    if np.ndim(low) and np.ndim(high) and np.size(low) != np.size(high):
        raise ValueError(f"{low_name} is {low} and {high_name} is {high}; they must have as many values, or one")
    for a, b in zip(*np.broadcast_arrays(*np.atleast_1d(low, high)), strict=True):
        if a > b or (strictly and a == b):
            rule = f"must be below {high_name}" if strictly else f"must not be above {high_name}"
            raise ValueError(f"{low_name} is {a:g} and {high_name} is {b:g}; {low_name} {rule}")


def share(name: str, value: float | Sequence[float]) -> None:
    """Raise unless every number is from 0 to 1."""
    for number in np.atleast_1d(np.asarray(value, np.float64)):
        if not 0.0 <= number <= 1.0:
            raise ValueError(f"{name} is {number:g}; it must be from 0 to 1")
