"""From Earth-fixed axes back to latitude, longitude and height above the ellipsoid WGS 84."""

import numpy as np

from sensorium.core.rotations import Float
from sensorium.physics.fields.earth import FLATTENING, SEMI_MAJOR_AXIS_M

_ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)
_SEMI_MINOR_AXIS_M = SEMI_MAJOR_AXIS_M * (1.0 - FLATTENING)
_SECOND_ECCENTRICITY_SQUARED = _ECCENTRICITY_SQUARED / (1.0 - _ECCENTRICITY_SQUARED)

# The first round is good to 10 cm and the second to rounding, from 1000 km below the ellipsoid on upwards
_ROUNDS = 3


def geodetic_position(p_E: Float) -> tuple[Float, Float, Float]:
    """Latitude, longitude and height of places: the inverse of `earth_fixed_position`.

    With the distance p from the axis, and the parametric latitude b of the foot point,

        tan(latitude) = (z + e'^2 B sin^3 b) / (p - e^2 A cos^3 b),    tan b = (1 - f) tan(latitude),

    repeated from the direction of the place itself until it converges; then h = p cos(latitude) + z sin(latitude) - A
    sqrt(1 - e^2 sin^2(latitude)), to which errors of latitude add only in second order. Accurate to rounding, some
    nanometers near the ground, from 1000 km below the ellipsoid on upwards; within 43 km of the Earth's center latitude
    is not unique. Ref: B. R. Bowring, "Transformation from spatial to geographical coordinates", Survey Review 23
    (1976).

    Args:
        p_E: Places in Earth-fixed axes [m], shape (*batch, 3).

    Returns:
        Geodetic latitude, positive north [deg], longitude, positive east, from -180 to 180 [deg], and height above the
        ellipsoid [m], each of shape (*batch).
    """
    x, y, z = p_E[..., 0], p_E[..., 1], p_E[..., 2]
    p = np.hypot(x, y)

    # Sine and cosine of latitude, up to a common factor: both are good at the poles, where the tangent is not
    up, out = z, (1.0 - _ECCENTRICITY_SQUARED) * p
    for _ in range(_ROUNDS):
        sin_b, cos_b = (1.0 - FLATTENING) * up, out
        length = np.hypot(sin_b, cos_b)
        sin_b, cos_b = sin_b / length, cos_b / length
        up = z + _SECOND_ECCENTRICITY_SQUARED * _SEMI_MINOR_AXIS_M * sin_b * sin_b * sin_b
        out = p - _ECCENTRICITY_SQUARED * SEMI_MAJOR_AXIS_M * cos_b * cos_b * cos_b
    length = np.hypot(up, out)
    sine, cosine = up / length, out / length
    height_m = p * cosine + z * sine - SEMI_MAJOR_AXIS_M * np.sqrt(1.0 - _ECCENTRICITY_SQUARED * sine * sine)
    return np.degrees(np.arctan2(up, out)), np.degrees(np.arctan2(y, x)), height_m
