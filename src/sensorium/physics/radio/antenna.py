"""Antenna patterns: gain over direction."""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked


def relative_gain(
    azimuth_rad: ArrayLike, elevation_rad: ArrayLike, *, horizontal_fov_rad: float, vertical_fov_rad: float
) -> Array:
    """One-way gain over that ahead, 2^-((2 a / H)^2 + (2 e / V)^2) [1]: a Gaussian lobe.

    Half at the edges of the field; there and back a quarter, -6 dB, which is where makers state fields of view.

    Args:
        azimuth_rad: a [rad], any shape.
        elevation_rad: e [rad].
        horizontal_fov_rad: H, whole angle [rad].
        vertical_fov_rad: V, whole angle [rad].
    """
    wide = checked("horizontal_fov_rad", horizontal_fov_rad, above=0.0)
    high = checked("vertical_fov_rad", vertical_fov_rad, above=0.0)
    across = 2.0 * checked("azimuth_rad", azimuth_rad) / wide
    up = 2.0 * checked("elevation_rad", elevation_rad) / high
    return np.exp2(-(across**2 + up**2))


def angle_resolution(*, antennas: int, spacing: float, angle_rad: ArrayLike = 0.0) -> Array:
    """Lambda / (N d cos(theta)) [rad] of an even row of antennas.

    8 antennas half a wavelength apart resolve 14.32 degrees straight ahead. Ref: physics.md 12.

    Args:
        antennas: N.
        spacing: d in wavelengths [1].
        angle_rad: Theta off the row's broadside [rad], below 90 degrees.
    """
    _check_row(antennas, spacing)
    cosine = np.cos(checked("angle_rad", angle_rad, above=-0.5 * np.pi, at_most=0.5 * np.pi))
    return 1.0 / (antennas * spacing * cosine)


def unambiguous_sine(spacing: float) -> float:
    """Sine of the largest unambiguous angle of a row of antennas, lambda / 2 d, at most 1 [1]."""
    _check_row(1, spacing)
    return min(1.0, 0.5 / spacing)


def least_sine_error(snr: ArrayLike, *, antennas: int, spacing: float) -> Array:
    """Least standard deviation of the sine of an angle from a row of antennas, sqrt(6 / (SNR (N^2 - 1))) / (2 pi d).

    The Cramer-Rao bound of one tone's frequency (Rife and Boorstyn 1974), with the SNR of all antennas together.

    Args:
        snr: Signal over noise after beams are formed [1], above 0.
        antennas: N, at least 2.
        spacing: d in wavelengths [1].
    """
    _check_row(antennas, spacing)
    if antennas < 2:
        raise SpecError(f"antennas is {antennas}; an angle needs two or more")
    bound = 6.0 / (checked("snr", snr, above=0.0) * (antennas**2 - 1.0))
    return np.sqrt(bound) / (2.0 * np.pi * spacing)


def _check_row(antennas: int, spacing: float) -> None:
    if antennas < 1:
        raise SpecError(f"antennas is {antennas}; it must be 1 or more")
    checked("spacing", spacing, above=0.0)
