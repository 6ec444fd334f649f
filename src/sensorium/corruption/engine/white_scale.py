"""White noise of a running program made stronger or weaker."""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.op import FAULT, KIND, OPTION, PARAMETERS, WIDTH
from sensorium.corruption.engine.program import Program
from sensorium.corruption.errors.white import WHITE


class WhiteScale:
    """A factor on the white noise of a program, from its next sample on; random numbers stay the same.

    Noise that a fault brings, biases and walks keep their size.
    """

    def __init__(self, program: Program) -> None:
        """Take a program, which has its own parameters."""
        self._program = program
        self._places: list[slice] = []
        for row in program.ops[program.ops[:, KIND] == WHITE]:
            if row[FAULT] < 0:
                first, width, is_matrix = int(row[PARAMETERS]), int(row[WIDTH]), bool(row[OPTION + 1])
                self._places.append(slice(first, first + (width * width if is_matrix else width)))
        self._as_specified: list[NDArray[np.float64]] = [program.parameters[place].copy() for place in self._places]
        self._factor = 1.0

    @property
    def acts(self) -> bool:
        """Whether the program has white noise that is not zero."""
        return any(values.any() for values in self._as_specified)

    @property
    def factor(self) -> float:
        """Factor on the standard deviation."""
        return self._factor

    @factor.setter
    def factor(self, factor: float) -> None:
        if not 0.0 <= factor < np.inf:
            raise SpecError(f"the scale of white noise is {factor}; it must be finite, and zero or more")
        self._factor = float(factor)
        for place, values in zip(self._places, self._as_specified, strict=True):
            self._program.parameters[place] = factor * values
