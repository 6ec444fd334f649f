"""What views read of readings: numbers of a quantity, and the rows of a scan."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.common.sampled import Quantity, SampledReading
from sensorium.sensors.lidar.scan import Scan

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


def world_points(flat: Scan, at: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float64]:
    """Points of a flat scan of one sensor in the world [m], shape (n, 3); each from where its ray was fired.

    Args:
        flat: Result of `Scan.flat()`.
        at: Which of them.
    """
    points = flat.points[at]
    if flat.frame == "world":
        return points.astype(np.float64)
    return flat.pose(flat.start_ns + flat.offset_ns[at]).apply(points)
