"""The Earth's ellipsoid, WGS 84: from latitude, longitude and height to axes that turn with the Earth.

Earth-fixed axes E have their origin at the Earth's center, x through latitude 0 and longitude 0, z through the north
pole. (National Imagery and Mapping Agency, TR8350.2, section 3; Misra and Enge, Global Positioning System, chapter 4.)
"""

import math

import numpy as np

from sensorium.core.rotations import Float

SEMI_MAJOR_AXIS_M = 6378137.0
FLATTENING = 1.0 / 298.257223563

_ECCENTRICITY_SQUARED = FLATTENING * (2.0 - FLATTENING)


def earth_fixed_position(latitude_deg: float, longitude_deg: float, height_m: float) -> Float:
    """A place in Earth-fixed axes, p_E [m], shape (3,).

    Args:
        latitude_deg: Geodetic latitude, positive north [deg].
        longitude_deg: Longitude, positive east [deg].
        height_m: Height above the ellipsoid [m].
    """
    latitude, longitude = math.radians(latitude_deg), math.radians(longitude_deg)

    # Along the normal of the ellipsoid down to the axis
    normal = SEMI_MAJOR_AXIS_M / math.sqrt(1.0 - _ECCENTRICITY_SQUARED * math.sin(latitude) ** 2)
    across = (normal + height_m) * math.cos(latitude)
    along = (normal * (1.0 - _ECCENTRICITY_SQUARED) + height_m) * math.sin(latitude)
    return np.array([across * math.cos(longitude), across * math.sin(longitude), along])


def east_north_up(latitude_deg: float, longitude_deg: float) -> Float:
    """The axes east, north and up of a place as the columns of R_EW, shape (3, 3): v_E = R_EW v_W.

    Args:
        latitude_deg: Geodetic latitude, positive north [deg].
        longitude_deg: Longitude, positive east [deg].
    """
    latitude, longitude = math.radians(latitude_deg), math.radians(longitude_deg)
    sin_l, cos_l, sin_o, cos_o = math.sin(latitude), math.cos(latitude), math.sin(longitude), math.cos(longitude)
    east = (-sin_o, cos_o, 0.0)
    north = (-sin_l * cos_o, -sin_l * sin_o, cos_l)
    up = (cos_l * cos_o, cos_l * sin_o, sin_l)
    return np.array([east, north, up]).T
