"""Data that belong to a value held by a fault: a frozen range keeps its label, object and intensity."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption import Program, State

Arrays = Mapping[str, NDArray[Any]]


class Held:
    """Arrays beside some channels of a program, which go with the values that operations hold (`Op.holds`)."""

    def __init__(self, program: Program, column: int = 0) -> None:
        """Start with no held values.

        Args:
            program: Of the channels.
            column: First channel of their part.
        """
        self._program, self._column = program, column
        self._kept: dict[int, Arrays] = {}
        self.possible = program.can_hold(column)
        """Whether any operation may hold a value."""

    def with_held(self, state: State, active: NDArray[np.uint8] | None, current: Arrays) -> Arrays:
        """Arrays of the values that left the program at the last step: of the current sample, or of older ones.

        Args:
            state: Of the program, after the step.
            active: The active faults of the sensor's schedule, as passed to `Program.step`.
            current: Of the current sample, each (rows, width, ...); kept, so not to be changed afterwards.
        """
        for number, mask in enumerate(self._program.held(state, self._column, active)):
            if mask is not None and mask.any():
                current = _mixed(mask, self._kept[number], current)
            self._kept[number] = current
        return current

    def distinct(self, name: str) -> set[int]:
        """Unique numbers of an array that are still stored."""
        return {int(number) for kept in self._kept.values() for number in np.unique(kept[name])}


def _mixed(mask: NDArray[np.bool_], held: Arrays, current: Arrays) -> Arrays:
    """Held numbers where the mask is true, current ones elsewhere."""
    if mask.all():
        return held
    mixed = {}
    for name, array in current.items():
        mixed[name] = np.where(mask.reshape(mask.shape + (1,) * (array.ndim - 2)), held[name], array)
    return mixed
