"""Directions of points: eq. 3.7 and 3.8 of the thesis in the sensor's own frame, and the elevation that 3.8 is not."""

import math

from sensorium import jit


@jit.function
def azimuth(x, y, z):
    """Angle to the left of straight ahead, atan2(y, x) [rad]; the thesis counts it to the right, atan2(x_T, z_T)."""
    return math.atan2(y, x)


@jit.function
def projected_elevation(x, y, z):
    """Eq. 3.8: the vertical angle as seen from the side, atan2(z, x) [rad]; an elevation only straight ahead (E-24)."""
    return math.atan2(z, x)


@jit.function
def elevation(x, y, z):
    """Angle above the level, atan2(z, sqrt(x^2 + y^2)) [rad]."""
    return math.atan2(z, math.sqrt(x * x + y * y))
