"""Points of a scan in the world."""

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.lidar.scan import Scan


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
