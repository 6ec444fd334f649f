"""Channels of a cone sensor's sample, filled row by row: the ideal ones, and what errors make of them."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium import jit
from sensorium.rotations import Float

# What the chain acts on, the point that follows from the first three, and what follows from two readings in a row
RANGE, AZIMUTH, ELEVATION, RANGE_RATE, POINT, SPEED, DIFFERENCED_RATE = 0, 1, 2, 3, 4, 7, 8
COLUMNS = 9

# What is remembered of the reading before: object, or -1, range and point
MEMORY = 5


@jit.kernel
def measure(
    point: Float,
    range_m: Float,
    range_rate: Float,
    object_id: NDArray[np.int32],
    interval_s: float,
    memory: Float,
    out: Float,
) -> None:
    """Ideal channels of what is nearest, NaN where there is nothing.

    Args:
        point: In the sensor's frame [m], (rows, 1, 3).
        range_m: Its distance [m], (rows, 1).
        range_rate: Of the matter there [m/s], (rows, 1).
        object_id: What it is on, -1 for nothing, int32 (rows, 1).
        interval_s: Time since the reading before [s].
        memory: Of that reading, (rows, MEMORY); this one, after.
        out: Filled, (rows, COLUMNS).
    """
    for row in range(out.shape[0]):
        out[row] = np.nan
        if object_id[row, 0] >= 0:
            x, y, z = point[row, 0, 0], point[row, 0, 1], point[row, 0, 2]
            out[row, POINT], out[row, POINT + 1], out[row, POINT + 2] = x, y, z
            out[row, RANGE] = range_m[row, 0]
            out[row, AZIMUTH] = math.atan2(y, x)
            out[row, ELEVATION] = math.atan2(z, math.sqrt(x * x + y * y))
            out[row, RANGE_RATE] = range_rate[row, 0]
        _compare(object_id[row, 0], interval_s, memory[row], out[row])


@jit.kernel
def derive(ideal: Float, object_id: NDArray[np.int32], interval_s: float, memory: Float, x: Float) -> None:
    """Points and speeds of channels that errors have changed; where they have not, the point stays to the last bit.

    Args:
        ideal: The channels before, (rows, COLUMNS).
        object_id: What is read as the nearest, -1 for nothing, int32 (rows, 1); of a reading that is held, the older.
        interval_s: Time since the reading before [s].
        memory: Of that reading, (rows, MEMORY); this one, after.
        x: The channels, changed in place, (rows, COLUMNS).
    """
    for row in range(x.shape[0]):
        if x[row, RANGE] < 0.0:  # noise puts nothing behind the sensor
            x[row, RANGE] = 0.0
        range_m, azimuth, elevation = x[row, RANGE], x[row, AZIMUTH], x[row, ELEVATION]
        if range_m != ideal[row, RANGE] or azimuth != ideal[row, AZIMUTH] or elevation != ideal[row, ELEVATION]:
            level = range_m * math.cos(elevation)
            x[row, POINT] = level * math.cos(azimuth)
            x[row, POINT + 1] = level * math.sin(azimuth)
            x[row, POINT + 2] = range_m * math.sin(elevation)
        _compare(object_id[row, 0], interval_s, memory[row], x[row])


@jit.function
def _compare(object_id: int, interval_s: float, memory: Float, x: Float) -> None:
    """Speeds from two readings in a row of the same object, NaN where there are none; then remember this one.

    Eq. 3.9, |q_k - q_(k-1)| / dt in the sensor's frame, tells no direction (E-27); (|q_k| - |q_(k-1)|) / dt does. When
    another object becomes the nearest, both start again, instead of the "strange value in between objects" of the
    thesis.
    """
    x[SPEED], x[DIFFERENCED_RATE] = np.nan, np.nan
    if object_id >= 0 and memory[0] == object_id:
        dx, dy, dz = x[POINT] - memory[2], x[POINT + 1] - memory[3], x[POINT + 2] - memory[4]
        x[SPEED] = math.sqrt(dx * dx + dy * dy + dz * dz) / interval_s
        x[DIFFERENCED_RATE] = (x[RANGE] - memory[1]) / interval_s
    memory[0], memory[1] = object_id, x[RANGE]
    memory[2], memory[3], memory[4] = x[POINT], x[POINT + 1], x[POINT + 2]
