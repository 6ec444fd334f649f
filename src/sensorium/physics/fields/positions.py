"""Shared by fields: vectors in specifications, and the positions at which fields are evaluated."""

import math
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike
from pydantic import BeforeValidator

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float

# Positions nearer than this to a point source are refused [m]
_NEAREST_M = 1e-12


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, np.ndarray) else value


Vector = Annotated[tuple[float, float, float], BeforeValidator(_plain)]
"""Three numbers x, y, z; arrays are taken as well."""


def checked_positions(p_W: ArrayLike) -> Float:
    """Positions as float64, or a SpecError unless they are finite and their last axis holds x, y, z.

    Args:
        p_W: Positions [m], shape (*batch, 3).
    """
    try:
        p = np.asarray(p_W, dtype=np.float64)
    except (TypeError, ValueError):
        raise SpecError(f"p_W is {p_W!r}; it must be an array of numbers") from None
    if p.shape[-1:] != (3,):
        raise SpecError(f"p_W has shape {p.shape}; its last axis must hold x, y, z")

    # A finite sum has finite terms; only where it is not are the terms looked at one by one
    if not math.isfinite(np.add.reduce(p, axis=None)) and not np.isfinite(p).all():
        wrong = p[~np.isfinite(p).all(axis=-1)]
        raise SpecError(f"p_W is {wrong[0].tolist()}; it must be finite")
    return p


def offsets(p_W: ArrayLike, source_W: Vector, name: str) -> tuple[Float, Float]:
    """Offsets of positions from a point source, and their squared lengths.

    Args:
        p_W: Positions [m], shape (*batch, 3).
        source_W: Where the source is [m].
        name: Name in the error for a position that is the source itself.

    Returns:
        Offsets [m], a new array of shape (*batch, 3), and their squares [m^2], shape (*batch).
    """
    d_W = checked_positions(p_W) - source_W
    squares = dot(d_W, d_W)
    if np.minimum.reduce(squares, axis=None, initial=np.inf) < _NEAREST_M**2:
        raise SpecError(f"p_W is {list(source_W)}, which is {name}; the field has no value at r = 0")
    return d_W, squares


# A point has the same bytes alone and in a batch, which matrix products do not promise: these go element by element


def dot(a: Float, b: Float) -> Float:
    """Scalar products of vectors, shape (*batch, 3) each."""
    return a[..., 0] * b[..., 0] + a[..., 1] * b[..., 1] + a[..., 2] * b[..., 2]


def combined(p: Float, rows: Float) -> Float:
    """Products p @ rows of vectors, shape (*batch, 3), and a matrix, shape (3, n)."""
    return p[..., 0:1] * rows[0] + p[..., 1:2] * rows[1] + p[..., 2:3] * rows[2]
