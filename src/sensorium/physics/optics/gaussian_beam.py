"""A laser beam as in VANE: rays from a virtual focus behind the aperture, and a Gaussian profile across them.

The beam leaves an aperture of radius r with the full divergence Theta as if it came from a point

    f_v = r / tan(Theta / 2)

behind it (eq. 7), so that its spot at the range R is 2 (r + R tan(Theta / 2)) wide, and N = that / x rays across (eq.
8) are x apart. Its irradiance, at the distance z from the focus and rho from the axis, is

    I = 2 P / (pi w^2) exp(-2 rho^2 / w^2)        w = w_0 sqrt(1 + (z / z_r)^2)        z_r = pi w_0^2 / lambda

(eqs. 9 to 11), and holds the power P at every z. Source: Goodin et al., "Sensor modeling for the Virtual Autonomous
Navigation Environment", IEEE Sensors 2009. Corrected: the paper's waist lambda / (pi Theta) is that of the *half* angle
while Theta is full elsewhere, so w_0 = 2 lambda / (pi Theta), with z from the virtual focus (E-38); the peak falls as
1 / (1 + (z / z_r)^2), not as 1 / (1 + z^2) (E-39).
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked


def virtual_focus(aperture_radius_m: ArrayLike, *, divergence_rad: ArrayLike) -> Array:
    """Distance f_v [m] of the virtual focus behind the aperture, eq. 7.

    Args:
        aperture_radius_m: Radius r of the beam where it leaves [m], >= 0.
        divergence_rad: Full angle Theta [rad], above 0 and at most 3.
    """
    radius = checked("aperture_radius_m", aperture_radius_m, at_least=0.0)
    return radius / np.tan(checked("divergence_rad", divergence_rad, above=0.0, at_most=3.0) / 2.0)


def spot_diameter(range_m: ArrayLike, *, aperture_radius_m: ArrayLike, divergence_rad: ArrayLike) -> Array:
    """Diameter 2 (r + R tan(Theta / 2)) [m] of the beam at a range R [m]; the others as for `virtual_focus`."""
    distance = checked("range_m", range_m, at_least=0.0)
    radius = checked("aperture_radius_m", aperture_radius_m, at_least=0.0)
    slope = np.tan(checked("divergence_rad", divergence_rad, at_least=0.0, at_most=3.0) / 2.0)
    return 2.0 * (radius + distance * slope)


def rays_across(spacing_m: float, *, range_m: float, aperture_radius_m: float, divergence_rad: float) -> int:
    """Rays N across the beam, eq. 8 rounded up, that are at most `spacing_m` [m] apart at the range `range_m` [m]."""
    spacing = float(checked("spacing_m", spacing_m, above=0.0))
    diameter = spot_diameter(range_m, aperture_radius_m=aperture_radius_m, divergence_rad=divergence_rad)
    return max(math.ceil(float(diameter) / spacing), 1)


def waist_radius(wavelength_m: ArrayLike, *, divergence_rad: ArrayLike) -> Array:
    """1/e^2 radius w_0 = 2 lambda / (pi Theta) [m] of the waist of a beam of full divergence Theta (E-38)."""
    wavelength = checked("wavelength_m", wavelength_m, above=0.0)
    return 2.0 * wavelength / (math.pi * checked("divergence_rad", divergence_rad, above=0.0))


def rayleigh_range(wavelength_m: ArrayLike, *, waist_radius_m: ArrayLike) -> Array:
    """Distance z_r = pi w_0^2 / lambda [m] from the waist at which the beam's area has doubled."""
    waist = checked("waist_radius_m", waist_radius_m, above=0.0)
    return math.pi * np.square(waist) / checked("wavelength_m", wavelength_m, above=0.0)


def gaussian_radius(z_m: ArrayLike, *, wavelength_m: ArrayLike, waist_radius_m: ArrayLike) -> Array:
    """1/e^2 radius w(z) [m] at a distance z [m] from the waist, eq. 11: from a lidar's aperture, z = R + f_v."""
    reach = checked("z_m", z_m) / rayleigh_range(wavelength_m, waist_radius_m=waist_radius_m)
    return checked("waist_radius_m", waist_radius_m, above=0.0) * np.sqrt(1.0 + np.square(reach))


def gaussian_irradiance(
    rho_m: ArrayLike, z_m: ArrayLike, *, power_W: ArrayLike, wavelength_m: ArrayLike, waist_radius_m: ArrayLike
) -> Array:
    """Irradiance [W/m^2] at a distance rho from the axis and z from the waist, eqs. 9 and 10.

    Args:
        rho_m: Distance from the axis [m].
        z_m: Distance from the waist along the axis [m].
        power_W: Power P of the whole beam [W], >= 0.
        wavelength_m: Of the light [m].
        waist_radius_m: 1/e^2 radius w_0 of the waist [m].
    """
    w = gaussian_radius(z_m, wavelength_m=wavelength_m, waist_radius_m=waist_radius_m)
    power = checked("power_W", power_W, at_least=0.0)
    return 2.0 * power / (math.pi * np.square(w)) * np.exp(-2.0 * np.square(checked("rho_m", rho_m) / w))


def share_beyond_edge(distance_m: ArrayLike, *, radius_m: ArrayLike) -> Array:
    """Share of the power [1] that passes a straight edge: erfc(sqrt(2) x / w) / 2, the integral of the profile.

    Args:
        distance_m: Of the edge from the axis [m]; below 0 where the edge leaves the axis free.
        radius_m: 1/e^2 radius w of the beam at the edge [m].
    """
    from scipy.special import erfc

    radius = checked("radius_m", radius_m, above=0.0)
    return np.asarray(0.5 * erfc(math.sqrt(2.0) * checked("distance_m", distance_m) / radius))
