"""Materials at millimeter waves: relative permittivity, and reflectance at normal incidence."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked

# a, b, c, d of eps' = a f^b and conductivity c f^d [S/m], f in GHz; those that hold at 77 GHz, the floor from 50 on
BUILDING: dict[str, tuple[float, float, float, float]] = {
    "concrete": (5.24, 0.0, 0.0462, 0.7822),
    "plasterboard": (2.73, 0.0, 0.0085, 0.9395),
    "wood": (1.99, 0.0, 0.0047, 1.0718),
    "glass": (6.31, 0.0, 0.0036, 1.3394),
    "ceiling_board": (1.48, 0.0, 0.0011, 1.0750),
    "chipboard": (2.58, 0.0, 0.0217, 0.7800),
    "floorboard": (3.66, 0.0, 0.0044, 1.3515),
    "metal": (1.0, 0.0, 1e7, 0.0),
}
"""Materials by name: table 3 of ITU-R P.2040-3."""

_LOWEST_HZ, _HIGHEST_HZ = 1e9, 100e9
_VACUUM_F_M = 8.8541878128e-12


def permittivity(name: str, *, frequency_hz: float) -> complex:
    """Relative permittivity eps' - i sigma / (eps_0 omega) of a building material [1], from 1 to 100 GHz.

    Ref: ITU-R P.2040-3, 2.1.4.

    Args:
        name: A key of `BUILDING`.
        frequency_hz: f [Hz].
    """
    if name not in BUILDING:
        raise SpecError(f"material is {name!r}; it must be one of {', '.join(BUILDING)}")
    if not _LOWEST_HZ <= frequency_hz <= _HIGHEST_HZ:
        raise SpecError(f"frequency_hz is {frequency_hz:g}; the table of materials holds from 1e9 to 1e11")
    a, b, c, d = BUILDING[name]
    f = frequency_hz * 1e-9
    return complex(a * f**b, -c * f**d / (2.0 * np.pi * frequency_hz * _VACUUM_F_M))


def normal_reflectance(relative_permittivity: ArrayLike) -> Array:
    """|R|^2 = |(1 - n) / (1 + n)|^2, n = sqrt(eps), power reflectance of a flat face at normal incidence [1]."""
    n = np.sqrt(_complex(relative_permittivity))
    return np.abs((1.0 - n) / (1.0 + n)) ** 2


def _complex(value: ArrayLike) -> NDArray[np.complex128]:
    array = np.asarray(value, np.complex128)
    checked("relative_permittivity (real part)", array.real, at_least=1.0)
    checked("relative_permittivity (imaginary part)", array.imag, at_most=0.0)
    return array
