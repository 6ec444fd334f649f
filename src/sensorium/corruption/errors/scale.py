"""Scale factor, misalignment and cross-axis coupling: a matrix over the channels."""

from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import Matrix, PerChannel, square
from sensorium.runtime import jit

SCALE = 2


class Scale(Corruption):
    """x' = A x, with A = (1 + error) on the diagonal and the cross-axis share off the diagonal, or any matrix.

    Cross-axis sensitivity of x % is a unit diagonal with x / 100 everywhere else (physics.md 6).
    """

    kind: Literal["scale"] = "scale"
    error: PerChannel = 0.0
    """Relative error of the scale factor [1]; 0.01 reads 1 % too much."""
    cross_axis: float = 0.0
    """Share of each other channel that leaks in [1]; 0.02 for 2 %."""
    matrix: Matrix | None = None
    """A itself [1], instead of the two above."""

    @model_validator(mode="after")
    def _rules(self) -> "Scale":
        if self.matrix is not None and (self.cross_axis or np.any(self.error)):
            raise ValueError("matrix is given with error or cross_axis; the matrix says it all, give one or the other")
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One product with the matrix, or with its diagonal where that is all of it and there are many channels."""
        if layout.width > MAX_WIDTH and self.matrix is None and not self.cross_axis:
            diagonal = 1.0 + self.each("error", layout.width)
            return [Op(SCALE, diagonal, options=(1,), on=not np.array_equal(diagonal, np.ones(layout.width)))]
        if layout.width > MAX_WIDTH:
            raise SpecError(f"a scale matrix over {layout.width} channels is asked for; it must be {MAX_WIDTH} at most")
        if self.matrix is not None:
            matrix = square("matrix", self.matrix, layout.width)
        else:
            matrix = np.full((layout.width, layout.width), self.cross_axis)
            np.fill_diagonal(matrix, 1.0 + self.each("error", layout.width))
        return [Op(SCALE, matrix, on=not np.array_equal(matrix, np.eye(layout.width)))]


MAX_WIDTH = 16


@operation(SCALE)
@jit.function
def scale(ops: Int, o: int, par: Float, x: Float, first: int, last: int) -> None:
    """X = A x."""
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    if ops[o, OPTION]:
        for row in range(first, last):
            for i in range(width):
                x[row, column + i] *= par[p + i]
        return
    before, total = np.empty((width, last - first)), np.empty(last - first)
    for k in range(width):
        for row in range(first, last):
            before[k, row - first] = x[row, column + k]
    for i in range(width):
        total[:] = 0.0
        for k in range(width):
            share, channel = par[p + i * width + k], before[k]
            for j in range(total.size):
                total[j] += share * channel[j]
        for row in range(first, last):
            x[row, column + i] = total[row - first]
