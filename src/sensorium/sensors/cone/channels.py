"""Channels of a cone sensor's sample, filled row by row: the ideal ones, and the corrupted ones."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float
from sensorium.runtime import jit
from sensorium.sensors.cone.verdict import Verdict, empty, judged, window_columns

_UNKNOWN = float(Verdict.UNKNOWN)

# Channels that the chain acts on, the point computed from the first three, and values from two successive readings
RANGE, AZIMUTH, ELEVATION, RANGE_RATE, POINT, SPEED, DIFFERENCED_RATE, VERDICT = 0, 1, 2, 3, 4, 7, 8, 9
COLUMNS = 10

# State of the readings before: object of the last, or -1, its range and point; then the verdict's window
OBJECT, _RANGE, _POINT, _WINDOW = 0, 1, 2, 5


def new_memory(rows: int, rule: Float) -> Float:
    """Of no reading; a row for each sensor."""
    memory = np.zeros((rows, _WINDOW + window_columns(rule)))
    memory[:, OBJECT] = -1.0
    return memory


@jit.kernel
def measure(
    point: Float,
    range_m: Float,
    range_rate: Float,
    object_id: NDArray[np.int32],
    interval_s: float,
    rule: Float,
    memory: Float,
    out: Float,
) -> None:
    """Ideal channels of the nearest point, NaN if there is none.

    Args:
        point: In the sensor's frame [m], (rows, 1, 3).
        range_m: Its distance [m], (rows, 1).
        range_rate: Of the matter there [m/s], (rows, 1).
        object_id: Its object, -1 for none, int32 (rows, 1).
        interval_s: Time since the reading before [s].
        rule: Of verdicts, see `new_rule`.
        memory: Of the readings before, see `new_memory`; with this one, after.
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
        _compare(object_id[row, 0], interval_s, rule, memory[row], out[row])


@jit.kernel
def derive(ideal: Float, object_id: NDArray[np.int32], interval_s: float, rule: Float, memory: Float, x: Float) -> None:
    """Points and speeds of channels that errors have changed; where they have not, the point stays to the last bit.

    Args:
        ideal: The channels before, (rows, COLUMNS).
        object_id: The object reported as nearest, -1 for none, int32 (rows, 1); of a held reading, the older one.
        interval_s: Time since the reading before [s].
        rule: Of verdicts, see `new_rule`.
        memory: Of the readings before, see `new_memory`; with this one, after.
        x: The channels, changed in place, (rows, COLUMNS).
    """
    for row in range(x.shape[0]):
        if x[row, RANGE] < 0.0:  # noise cannot make a range negative
            x[row, RANGE] = 0.0
        range_m, azimuth, elevation = x[row, RANGE], x[row, AZIMUTH], x[row, ELEVATION]
        if range_m != ideal[row, RANGE] or azimuth != ideal[row, AZIMUTH] or elevation != ideal[row, ELEVATION]:
            level = range_m * math.cos(elevation)
            x[row, POINT] = level * math.cos(azimuth)
            x[row, POINT + 1] = level * math.sin(azimuth)
            x[row, POINT + 2] = range_m * math.sin(elevation)
        _compare(object_id[row, 0], interval_s, rule, memory[row], x[row])


@jit.function
def _compare(object_id: int, interval_s: float, rule: Float, memory: Float, x: Float) -> None:
    """Speeds and verdict from readings in a row of the same object, NaN and unknown where there are none; remembers.

    Eq. 3.9, |q_k - q_(k-1)| / dt in the sensor's frame, has no direction (E-27); (|q_k| - |q_(k-1)|) / dt has one, and
    noise may flip it; the verdict uses several ranges. When another object becomes the nearest, all restart, instead of
    the "strange value in between objects" of the thesis.
    """
    x[SPEED], x[DIFFERENCED_RATE], x[VERDICT] = np.nan, np.nan, _UNKNOWN
    window = memory[_WINDOW:]
    if object_id >= 0 and memory[OBJECT] == object_id:
        dx, dy, dz = x[POINT] - memory[_POINT], x[POINT + 1] - memory[_POINT + 1], x[POINT + 2] - memory[_POINT + 2]
        x[SPEED] = math.sqrt(dx * dx + dy * dy + dz * dz) / interval_s
        x[DIFFERENCED_RATE] = (x[RANGE] - memory[_RANGE]) / interval_s
    else:
        empty(window)
    if object_id >= 0:
        x[VERDICT] = judged(window, rule, interval_s, x[RANGE])
    memory[OBJECT], memory[_RANGE] = object_id, x[RANGE]
    memory[_POINT], memory[_POINT + 1], memory[_POINT + 2] = x[POINT], x[POINT + 1], x[POINT + 2]
