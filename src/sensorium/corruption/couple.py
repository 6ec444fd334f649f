"""Coupling from other channels: what a gyroscope feels of linear acceleration."""

from collections.abc import Sequence

import numpy as np

from sensorium import jit
from sensorium.corruption.op import COLUMN, COUPLE, OPTION, PARAMETERS, WIDTH, Op


def coupling(matrix: Sequence[Sequence[float]] | np.ndarray, source_column: int) -> Op:
    """An operation x' = x + A y, with y the channels that begin at a column of the program's signal.

    For a gyroscope y is the specific force at its place and A its g-sensitivity: 0.1 deg/s/g is
    1.7797e-4 (rad/s)/(m/s^2).

    Args:
        matrix: A, shape (width, sources).
        source_column: First channel of y.
    """
    a = np.asarray(matrix, np.float64)
    return Op(COUPLE, a, options=(source_column, a.shape[1]))


@jit.function
def couple(ops, o, par, x, first, last):
    """X += A y."""
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    source, sources = ops[o, OPTION], ops[o, OPTION + 1]
    for row in range(first, last):
        for i in range(width):
            for k in range(sources):
                x[row, column + i] += par[p + i * sources + k] * x[row, source + k]
