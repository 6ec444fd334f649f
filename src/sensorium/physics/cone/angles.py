"""Directions of points: eq. 3.7 and 3.8 of the thesis in the sensor's own frame, and the true elevation.

Points are arrays of shape (..., 3): x forward, y to the left, z up.
"""

import numpy as np
from numpy.typing import NDArray

Float = NDArray[np.float64]


def azimuth(point: Float) -> Float:
    """Angle to the left of straight ahead, atan2(y, x) [rad]; the thesis counts it to the right, atan2(x_T, z_T)."""
    return np.arctan2(point[..., 1], point[..., 0])


def projected_elevation(point: Float) -> Float:
    """Eq. 3.8: the vertical angle as seen from the side, atan2(z, x) [rad]; an elevation only straight ahead (E-24)."""
    return np.arctan2(point[..., 2], point[..., 0])


def elevation(point: Float) -> Float:
    """Angle above the level, atan2(z, sqrt(x^2 + y^2)) [rad]."""
    return np.arctan2(point[..., 2], np.hypot(point[..., 0], point[..., 1]))
