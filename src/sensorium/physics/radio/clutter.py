"""Echoes of the ground itself: area of a cell, its cross-section, and the distribution of its strength."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked


def ground_cell_area(range_m: ArrayLike, *, range_resolution_m: float, beam_rad: ArrayLike) -> Array:
    """R dR dphi [m^2]: the ground within a range cell and a beam, flat and at any height below the radar.

    The ring from R to R + dR is between sqrt(R^2 - h^2) and sqrt((R + dR)^2 - h^2): its area is that of a ring without
    height, since d(rho^2) = d(R^2).

    Args:
        range_m: R to the middle of the cell [m], any shape.
        range_resolution_m: dR [m].
        beam_rad: dphi, width of the beam in azimuth [rad].
    """
    depth = float(checked("range_resolution_m", range_resolution_m, above=0.0))
    return checked("range_m", range_m, at_least=0.0) * depth * checked("beam_rad", beam_rad, at_least=0.0)


def ground_reflectivity(grazing_rad: ArrayLike, *, reflectivity: float, law: str = "constant") -> Array:
    """Sigma_0, cross-section of a square meter of ground [1].

    "constant" is the number itself; "gamma" is gamma sin(psi), as for a rough surface at small grazing angles. Ref:
    physics.md 13 (sigma_0 A); Barton 1985 (constant gamma).

    Args:
        grazing_rad: Psi [rad].
        reflectivity: Sigma_0 or gamma [1].
        law: "constant" or "gamma".
    """
    psi = checked("grazing_rad", grazing_rad, at_least=0.0, at_most=0.5 * np.pi)
    level = float(checked("reflectivity", reflectivity, at_least=0.0))
    if law not in ("constant", "gamma"):
        raise SpecError(f"law is {law!r}; it must be constant or gamma")
    return level * (np.sin(psi) if law == "gamma" else np.ones_like(psi))


def weibull_amplitude(uniform: ArrayLike, *, mean_power: ArrayLike, shape: float) -> Array:
    """Amplitude s (-ln u)^(1 / k) of Weibull clutter, with s so that its mean square is the mean power.

    s^2 = P / Gamma(1 + 2 / k). Shape k = 2 is Rayleigh's law, that of many equal scatterers; below 2 it has more
    spikes. Ref: physics.md 13 (k = 1.5); Schleher 1976.

    Args:
        uniform: u in (0, 1), any shape.
        mean_power: P in any unit; the amplitude is in its root.
        shape: k.
    """
    from scipy.special import gamma

    k = float(checked("shape", shape, above=0.0))
    scale = np.sqrt(checked("mean_power", mean_power, at_least=0.0) / gamma(1.0 + 2.0 / k))
    return scale * (-np.log(checked("uniform", uniform, above=0.0, at_most=1.0))) ** (1.0 / k)
