"""Quantities of sampled sensors that are plotted over time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.quantity import Quantity
from sensorium.sensors.common.sampled_reading import SampledReading

Float = NDArray[np.float64]


def quantities_of(reading: Any) -> tuple[Quantity, ...]:
    """Quantities of a reading that are plotted; empty for a kind without quantities."""
    quantities = reading.quantities if isinstance(reading, SampledReading) else ()
    return tuple(quantity for quantity in quantities if quantity.is_plotted)


def values_of(readings: Sequence[SampledReading], quantities: Sequence[Quantity], rows: int) -> Float:
    """All components side by side of the first rows (sensors of the first world), shape (readings, rows, components).

    Invalid rows are NaN, and so are ranges without a hit, which are infinite.

    Args:
        readings: Of one sensor.
        quantities: The quantities.
        rows: How many rows.
    """
    # Many are computed together, which is a hundred times cheaper than one by one
    several = SampledReading.gathered(readings, rows)
    shape = (len(readings), rows, -1)
    values = np.concatenate([np.reshape(getattr(several, quantity.name), shape) for quantity in quantities], axis=2)
    return np.where(several.valid[..., None] & ~np.isinf(values), values, np.nan)
