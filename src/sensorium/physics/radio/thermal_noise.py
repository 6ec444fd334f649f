"""Thermal noise of a receiver in one cell of a range-speed map."""

from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked

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
