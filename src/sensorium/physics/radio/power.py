"""The radar equation, and the thermal noise of a receiver."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked

_FOUR_PI_CUBED = (4.0 * np.pi) ** 3


def received_power(
    cross_section_m2: ArrayLike,
    range_m: ArrayLike,
    *,
    power_W: ArrayLike,
    gain: ArrayLike,
    wavelength_m: ArrayLike,
    loss: ArrayLike = 1.0,
) -> Array:
    """P_r = P_t G^2 lambda^2 sigma / ((4 pi)^3 R^4 L) [W], in free space.

    10 mW, 25 dBi, 10 m^2 at 100 m and 77 GHz give 7.6389e-13 W. Ref: physics.md 12; Skolnik, Radar Handbook.

    Args:
        cross_section_m2: Sigma [m^2], any shape.
        range_m: R [m], above 0.
        power_W: P_t [W].
        gain: G of the antenna over an isotropic one [1]; where sending and receiving differ, the root of the product.
        wavelength_m: Lambda [m].
        loss: L of everything else, at least 1 [1].
    """
    sent = checked("power_W", power_W, at_least=0.0) * checked("gain", gain, at_least=0.0) ** 2
    spread = _FOUR_PI_CUBED * checked("range_m", range_m, above=0.0) ** 4 * checked("loss", loss, at_least=1.0)
    area = checked("cross_section_m2", cross_section_m2, at_least=0.0)
    return sent * checked("wavelength_m", wavelength_m, above=0.0) ** 2 * area / spread


def cross_section_of_power(
    received_W: ArrayLike,
    range_m: ArrayLike,
    *,
    power_W: ArrayLike,
    gain: ArrayLike,
    wavelength_m: ArrayLike,
    loss: ArrayLike = 1.0,
) -> Array:
    """The cross-section that gives a received power, the inverse of `received_power` [m^2]."""
    one = received_power(1.0, range_m, power_W=power_W, gain=gain, wavelength_m=wavelength_m, loss=loss)
    return checked("received_W", received_W, at_least=0.0) / one


def of_decibels(decibels: ArrayLike) -> Array:
    """Ratio of powers from decibels: 10^(x / 10) [1]."""
    return 10.0 ** (checked("decibels", decibels) / 10.0)


def in_decibels(ratio: ArrayLike) -> Array:
    """A ratio of powers in decibels, 10 log10 x [dB]."""
    return 10.0 * np.log10(checked("ratio", ratio, above=0.0))


BOLTZMANN_J_K = 1.380649e-23

REFERENCE_K = 290.0
"""T_0 that noise figures are stated for [K]."""


def thermal_noise(*, noise_figure: ArrayLike, integration_s: ArrayLike, temperature_K: float = REFERENCE_K) -> Array:
    """Power k T_0 F / (N_c T_r) [W]: noise within the bandwidth of a cell, one over the time that is added up in phase.

    4.00388e-21 W for F = 1 and one second. A pause between chirps is not sampled, so it adds no noise. Windows make
    cells wider: times the noise bandwidth of each (see `windows`). Ref: physics.md 12.

    Args:
        noise_figure: F, at least 1 [1].
        integration_s: N_c T_r, sampled time of a frame [s].
        temperature_K: T_0 [K].
    """
    figure = checked("noise_figure", noise_figure, at_least=1.0)
    return BOLTZMANN_J_K * temperature_K * figure / checked("integration_s", integration_s, above=0.0)
