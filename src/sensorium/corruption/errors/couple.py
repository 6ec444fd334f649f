"""Coupling from other channels, such as the g-sensitivity of a gyroscope."""

from typing import Literal

import numpy as np
from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import Matrix
from sensorium.runtime import jit

COUPLE = 8


class Coupling(Corruption):
    """x' = x + A y, with y some other channels of the same program.

    For a gyroscope y is the specific force at its place and A its g-sensitivity: 0.1 deg/s/g is
    1.7797e-4 (rad/s)/(m/s^2).
    """

    kind: Literal["coupling"] = "coupling"
    matrix: Matrix
    """A, a row for each channel [unit of x / unit of y]."""
    source_column: int = Field(ge=0)
    """First channel of y in the program's signal."""

    def operations(self, layout: Layout) -> list[Op]:
        """One product with the matrix."""
        matrix = np.array(self.matrix, np.float64)
        if len(matrix) != layout.width:
            raise SpecError(f"matrix has {len(matrix)} rows; it must have {layout.width}, one for each channel")
        source = self.source_column, matrix.shape[1]
        return [Op(COUPLE, matrix, options=source, reads=source)]


@operation(COUPLE)
@jit.function
def couple(ops: Int, o: int, par: Float, x: Float, first: int, last: int) -> None:
    """X += A y."""
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    source, sources = ops[o, OPTION], ops[o, OPTION + 1]
    for row in range(first, last):
        for i in range(width):
            for k in range(sources):
                x[row, column + i] += par[p + i * sources + k] * x[row, source + k]
