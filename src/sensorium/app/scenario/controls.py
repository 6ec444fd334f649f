"""Commands for a world's actuators, as numbers over time."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError

Control = float | tuple[tuple[float, float], ...]
"""One value for the whole run, or rows of time [s] and value; between rows it changes evenly, outside it stays."""


class ControlTable:
    """A controller for `sn.worlds.MuJoCo` that sets actuators by the clock."""

    def __init__(self, controls: Mapping[str, Control], actuators: Mapping[str, int]) -> None:
        """Check and keep the tables.

        Args:
            controls: Value or rows for each actuator by name.
            actuators: Number of each actuator of the model.
        """
        self._tables: list[tuple[int, Any, Any]] = []
        for name, control in controls.items():
            if name not in actuators:
                raise SpecError(f"controls names {name!r}; the model has actuators {', '.join(actuators) or 'none'}")
            rows = np.array([(0.0, control)] if isinstance(control, int | float) else control, np.float64)
            if not len(rows) or np.any(np.diff(rows[:, 0]) <= 0.0):
                raise SpecError(
                    f"controls.{name} has times {rows[:, 0].tolist()}; they must be one or more, and increase"
                )
            self._tables.append((actuators[name], rows[:, 0], rows[:, 1]))

    def __call__(self, model: Any, data: Any, world: int) -> None:
        """Set the actuators of one world for its next step."""
        for number, times_s, values in self._tables:
            data.ctrl[number] = np.interp(data.time, times_s, values)
