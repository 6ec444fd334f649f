"""The shape of a thermal spectrum: a black body's power over wavelength.

With x = h c / (lambda k_B T), Planck's law as a share of the total sigma T^4 is

    dF/dlambda = 15/pi^4 x^4 / (lambda (e^x - 1))
    F(0 .. lambda) = 15/pi^4 sum_n e^(-nx) (x^3/n + 3x^2/n^2 + 6x/n^3 + 6/n^4)
"""

import math

import numpy as np

from sensorium.core.constants import SPEED_OF_LIGHT_M_S

PLANCK_J_S = 6.62607015e-34
BOLTZMANN_J_K = 1.380649e-23

_SECOND_RADIATION_CONSTANT = PLANCK_J_S * SPEED_OF_LIGHT_M_S / BOLTZMANN_J_K
_NORMALIZATION = 15.0 / math.pi**4

# e^-40 is negligible beside 1 in float64
_NEGLIGIBLE_EXPONENT = 40.0


def spectral_share(wavelength_m: float, temperature_k: float) -> float:
    """Share of a black body's power per meter of wavelength [1/m]; integrates to 1 over all wavelengths.

    Args:
        wavelength_m: Wavelength [m].
        temperature_k: Temperature [K].
    """
    x = _SECOND_RADIATION_CONSTANT / (wavelength_m * temperature_k)
    return _NORMALIZATION * x**4 * math.exp(-x) / (-math.expm1(-x) * wavelength_m)


def share_below(wavelength_m: float, temperature_k: float) -> float:
    """Share of a black body's power at wavelengths shorter than this one [1].

    Args:
        wavelength_m: Wavelength [m].
        temperature_k: Temperature [K].
    """
    x = _SECOND_RADIATION_CONSTANT / (wavelength_m * temperature_k)
    n = np.arange(1.0, math.ceil(_NEGLIGIBLE_EXPONENT / x) + 2.0)
    terms = np.exp(-n * x) * (x**3 / n + 3.0 * x**2 / n**2 + 6.0 * x / n**3 + 6.0 / n**4)
    return _NORMALIZATION * float(np.sum(terms))
