"""A pixel by EMVA 1288: photons, noise of the gray value, signal to noise.

    mu_p = A E t lambda / (h c)
    sigma_y^2 = K^2 (sigma_d^2 + mu_e) + 1/12
    SNR = mu_e / sqrt(sigma_d^2 + 1 / (12 K^2) + mu_e)

with mu_e = eta mu_p electrons, the system gain K [DN/e-], the dark noise sigma_d [e-] and 1/12 [DN^2] of the quantizer.
"""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.physics.optics.checks import Array, checked

PLANCK_J_S = 6.62607015e-34

_QUANTIZATION = 1.0 / 12.0


def photons(irradiance_W_m2: ArrayLike, *, area_m2: ArrayLike, exposure_s: ArrayLike, wavelength_m: ArrayLike) -> Array:
    """Mean number mu_p of photons on a pixel during an exposure.

    Args:
        irradiance_W_m2: E on the pixel [W/m^2].
        area_m2: A of the pixel [m^2].
        exposure_s: t [s].
        wavelength_m: Of the light [m].
    """
    energy_J = (
        checked("irradiance_W_m2", irradiance_W_m2, at_least=0.0)
        * checked("area_m2", area_m2, at_least=0.0)
        * checked("exposure_s", exposure_s, at_least=0.0)
    )
    return energy_J * checked("wavelength_m", wavelength_m, above=0.0) / (PLANCK_J_S * SPEED_OF_LIGHT_M_S)


def gray_value_noise(electrons: ArrayLike, *, dark_noise_e: float, gain_dn_e: float) -> Array:
    """Standard deviation sigma_y of the gray value over frames [DN].

    Args:
        electrons: Mean number mu_e of electrons from light.
        dark_noise_e: sigma_d, all noise in the dark except the quantizer's [e-].
        gain_dn_e: System gain K [DN/e-].
    """
    mean = checked("electrons", electrons, at_least=0.0)
    return np.sqrt(gain_dn_e**2 * (dark_noise_e**2 + mean) + _QUANTIZATION)


def signal_to_noise(electrons: ArrayLike, *, dark_noise_e: float, gain_dn_e: float) -> Array:
    """SNR [1] of one pixel over frames; arguments as in `gray_value_noise`."""
    mean = checked("electrons", electrons, at_least=0.0)
    return mean / np.sqrt(dark_noise_e**2 + _QUANTIZATION / gain_dn_e**2 + mean)
