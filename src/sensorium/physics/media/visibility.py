"""Extinction of haze and fog from visibility."""

import math

from sensorium.core.errors import SpecError
from sensorium.physics.optics.spectra import checked_wavelength

# Contrast at the meteorological optical range is 5 %: alpha V = -ln 0.05.
VISIBILITY_CONTRAST = 0.05

_REFERENCE_WAVELENGTH_M = 550e-9


def kim_exponent(visibility_m: float) -> float:
    """Exponent q of extinction with wavelength, alpha ~ lambda^-q [1] (Kim, McArthur and Korevaar 2001).

    1.6 beyond 50 km, 1.3 down to 6 km, 0.16 V + 0.34 to 1 km, V - 0.5 to 500 m (V in km), 0 below: the droplets of
    dense fog are larger than the wavelengths, and scatter them all equally. The law jumps at 50 km (1.6 to 1.3).
    """
    km = visibility_m / 1000.0
    if km > 50.0:
        return 1.6
    if km > 6.0:
        return 1.3
    if km > 1.0:
        return 0.16 * km + 0.34
    return max(km - 0.5, 0.0)


def visibility_extinction(visibility_m: float, wavelength_m: float) -> float:
    """Extinction of air of a given visibility [1/m].

    alpha = -ln(0.05) / V (lambda / 550 nm)^-q = 2.9957 / V ..., q after Kim. V is the meteorological optical range;
    older texts define visibility by 2 % contrast, 3.912 / V.

    Args:
        visibility_m: Meteorological optical range V [m].
        wavelength_m: Wavelength in vacuum [m].
    """
    if not (visibility_m > 0.0 and math.isfinite(visibility_m)):
        raise SpecError(f"visibility_m is {visibility_m}; it must be finite and positive")
    ratio = checked_wavelength(wavelength_m) / _REFERENCE_WAVELENGTH_M
    return -math.log(VISIBILITY_CONTRAST) / visibility_m * ratio ** -kim_exponent(visibility_m)
