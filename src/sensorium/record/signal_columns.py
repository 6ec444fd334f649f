"""Readings of sampled sensors as columns of a table: one number a column, its unit in its name."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.quantity import Quantity
from sensorium.sensors.common.sampled_reading import SampledReading


@dataclass(frozen=True)
class Column:
    """One number of each reading.

    Attributes:
        name: Its name, with its unit.
        quantity: Its quantity.
        component: Number of the component.
    """

    name: str
    quantity: Quantity
    component: int

    def values(self, reading: SampledReading) -> NDArray[np.generic]:
        """The numbers of a reading, in the shape of its leading axes."""
        whole = np.asarray(getattr(reading, self.quantity.name))
        return whole.reshape(*reading.valid.shape, -1)[..., self.component]


def columns_of_reading(reading: SampledReading) -> tuple[Column, ...]:
    """The columns of a reading, which are the same for all of one sensor; empty for a kind without quantities.

    Positions and velocities of an encoder are in the unit of its joint, rad or m, which is not in their names.
    """
    return tuple(
        Column(name, quantity, component)
        for quantity in reading.quantities
        for component, name in enumerate(quantity.columns)
    )
