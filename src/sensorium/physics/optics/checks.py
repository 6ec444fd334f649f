"""Checks of arguments of the NumPy functions of optics; every error names the quantity, the value and the rule."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError

# Rounding may carry the cosine of a unit vector, or its length, this far past 1
_ROUNDING = 1e-6

Array = NDArray[np.float64]


def checked(
    name: str,
    value: ArrayLike,
    *,
    above: float | None = None,
    at_least: float | None = None,
    at_most: float | None = None,
) -> Array:
    """The value as float64 array, finite and within the bounds given, or a SpecError with the first that is not."""
    array = _numbers(name, value, np.float64)
    good = np.isfinite(array)
    rules = ["finite"]
    if above is not None:
        good &= array > above
        rules.append(f"above {above:g}")
    if at_least is not None:
        good &= array >= at_least
        rules.append(f"at least {at_least:g}")
    if at_most is not None:
        good &= array <= at_most
        rules.append(f"at most {at_most:g}")
    if not np.all(good):
        raise SpecError(f"{name} is {array[~good].flat[0]:g}; it must be {' and '.join(rules)}")
    return array


def checked_cosine(name: str, value: ArrayLike) -> Array:
    """Cosine of an angle to the normal on the lit side, in [0, 1] up to rounding."""
    array = checked(name, value)
    outside = (array < -_ROUNDING) | (array > 1 + _ROUNDING)
    if np.any(outside):
        raise SpecError(f"{name} is {array[outside].flat[0]:g}; the cosine of an angle of incidence lies in [0, 1]")
    return np.clip(array, 0.0, 1.0)


def checked_index(name: str, value: ArrayLike) -> tuple[Array, Array]:
    """Refractive index n and extinction k of a complex (or real) index n + ik; n > 0 and k >= 0."""
    index = _numbers(name, value, np.complex128)
    n = checked(f"{name} (real part)" if np.iscomplexobj(value) else name, index.real, above=0.0)
    k = checked(f"{name} (imaginary part)", index.imag, at_least=0.0)
    return n, k


def checked_unit(name: str, value: ArrayLike) -> Array:
    """Unit vectors, shape (*batch, 3)."""
    array = checked(name, value)
    if array.shape[-1:] != (3,):
        raise SpecError(f"{name} has shape {array.shape}; its last axis must hold x, y, z")
    length = np.linalg.norm(array, axis=-1)
    wrong = np.abs(length - 1) > _ROUNDING
    if np.any(wrong):
        raise SpecError(f"{name} has length {length[wrong].flat[0]:g}; it must be a unit vector")
    return array


def _numbers(name: str, value: ArrayLike, dtype: Any) -> NDArray[Any]:
    """The value as array of the type, or a SpecError; a complex number is not silently made real."""
    try:
        if dtype is np.float64 and np.iscomplexobj(value):
            raise SpecError(f"{name} is complex; it must be real")
        return np.asarray(value, dtype=dtype)
    except SpecError:
        raise
    except (TypeError, ValueError) as error:
        raise SpecError(f"{name} is {value!r}; it must be a number or an array of numbers") from error


@dataclass(frozen=True)
class Directions:
    """Cosines between the normal n, the directions l to the source and v to the detector, and h halfway between."""

    cos_l: Array
    cos_v: Array
    cos_h: Array
    cos_lh: Array
    l_dot_v: Array


def directions(to_source: ArrayLike, to_detector: ArrayLike, normal: ArrayLike) -> Directions:
    """Cosines between unit vectors of shape (*batch, 3); h = (l + v) / |l + v|, or n where l = -v."""
    source, detector = checked_unit("to_source", to_source), checked_unit("to_detector", to_detector)
    source, detector, up = np.broadcast_arrays(source, detector, checked_unit("normal", normal))
    sum_ = source + detector
    length = np.linalg.norm(sum_, axis=-1, keepdims=True)
    halfway = np.divide(sum_, length, out=np.array(up), where=length > 0)
    return Directions(
        cos_l=_cosine(up, source),
        cos_v=_cosine(up, detector),
        cos_h=_cosine(up, halfway),
        cos_lh=_cosine(source, halfway),
        l_dot_v=_cosine(source, detector),
    )


def _cosine(a: Array, b: Array) -> Array:
    return np.clip(np.sum(a * b, axis=-1), -1.0, 1.0)
