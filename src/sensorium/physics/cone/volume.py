"""Whether points and spheres are in the cone, and angles of points in its frame."""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.runtime import jit


def half_angle_tangent(fov_deg: float) -> float:
    """Slope of the cone's side, tan(fov / 2) [1], of a full field of view below 180 [deg]."""
    return math.tan(math.radians(0.5 * fov_deg))


@jit.function
def is_inside(x: float, y: float, z: float, a: float, b: float, reach: float, spherical: bool) -> bool:
    """Whether a point is in the cone: eq. 3.1 of the thesis, multiplied out, without a division by x.

    Args:
        x, y, z: The point [m].
        a, b: Slopes of the sides, left-right and up-down [1].
        reach: Length of the cone [m].
        spherical: Whether that is a distance; else it is a depth.
    """
    if x < 0.0:
        return False
    u, v = y / a, z / b
    if u * u + v * v > x * x:
        return False
    if spherical:
        return x * x + y * y + z * z <= reach * reach
    return x <= reach


@jit.function
def sphere_is_outside(
    x: float, y: float, z: float, radius: float, a: float, b: float, reach: float, spherical: bool
) -> bool:
    """Whether a sphere is certainly outside: behind the sensor, beyond its reach, or beside the cone.

    Beside: a plane through the apex parts them. It touches the cone along the generator at (y / a^2, z / b^2), which is
    the best plane for a round cone. Spheres that are called inside may be just outside, none the other way round.

    Args:
        x, y, z: Center [m].
        radius: Of the sphere [m].
        a, b, reach, spherical: As for `is_inside`.
    """
    if x < -radius:
        return True
    if spherical:
        far = reach + radius
        if x * x + y * y + z * z > far * far:
            return True
    elif x > reach + radius:
        return True

    # Normal of the plane, (-|(a n, b m)|, n, m): the cone's points have no component along it
    n, m = y / (a * a), z / (b * b)
    back = math.sqrt(a * a * n * n + b * b * m * m)
    return n * y + m * z - back * x > radius * math.sqrt(back * back + n * n + m * m)


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
