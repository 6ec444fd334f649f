"""Effects of flat ground on an echo: reflection at a grazing angle, and the second path."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked

Complex = NDArray[np.complex128]


def reflection_coefficient(
    grazing_rad: ArrayLike, *, relative_permittivity: complex, polarization: str = "vertical"
) -> Complex:
    """Fresnel's amplitude for a wave that comes in at a grazing angle [1]; -1 at angle 0.

    Horizontal: (s - w) / (s + w); vertical: (eps s - w) / (eps s + w), with s = sin(psi), w = sqrt(eps - cos^2(psi)).
    Its square is `optics.fresnel_polarized`. Ref: ITU-R P.2040-3; physics.md 13 "amplitude x Fresnel R".

    Args:
        grazing_rad: Psi between wave and ground [rad], 0 to pi/2.
        relative_permittivity: Eps of the ground, its imaginary part not above 0 [1].
        polarization: "vertical" or "horizontal".
    """
    psi = checked("grazing_rad", grazing_rad, at_least=0.0, at_most=0.5 * np.pi)
    eps = complex(relative_permittivity)
    if not (eps.real >= 1.0 and eps.imag <= 0.0):
        raise SpecError(f"relative_permittivity is {eps}; it must be at least 1, with no positive imaginary part")
    if polarization not in ("vertical", "horizontal"):
        raise SpecError(f"polarization is {polarization!r}; it must be vertical or horizontal")
    sine, root = np.sin(psi), np.sqrt(eps - np.cos(psi) ** 2)
    weight = eps if polarization == "vertical" else 1.0
    return np.asarray((weight * sine - root) / (weight * sine + root), np.complex128)


def roughness_factor(grazing_rad: ArrayLike, *, roughness_m: float, wavelength_m: float) -> Array:
    """exp(-(4 pi s sin(psi) / lambda)^2 / 2) of the amplitude is left in the mirror direction [1].

    Ament 1953, for heights that are normally distributed with standard deviation s.
    """
    psi = checked("grazing_rad", grazing_rad, at_least=0.0, at_most=0.5 * np.pi)
    height = float(checked("roughness_m", roughness_m, at_least=0.0))
    phase = 4.0 * np.pi * height * np.sin(psi) / float(checked("wavelength_m", wavelength_m, above=0.0))
    return np.exp(-0.5 * phase**2)


def image_path(
    distance_m: ArrayLike, radar_height_m: ArrayLike, target_height_m: ArrayLike
) -> tuple[Array, Array, Array]:
    """Straight way, way over the ground, and grazing angle there, over flat ground.

    sqrt(d^2 + (h_r - h_t)^2), sqrt(d^2 + (h_r + h_t)^2) and atan((h_r + h_t) / d): the ground mirrors the target to the
    same distance below.

    Args:
        distance_m: d along the ground [m].
        radar_height_m: h_r above it [m].
        target_height_m: h_t above it [m].

    Returns:
        Lengths [m] and the angle [rad].
    """
    level = checked("distance_m", distance_m, at_least=0.0)
    own, other = (
        checked("radar_height_m", radar_height_m, at_least=0.0),
        checked("target_height_m", target_height_m, at_least=0.0),
    )
    return np.hypot(level, own - other), np.hypot(level, own + other), np.arctan2(own + other, level)


def two_ray_factor(reflection: ArrayLike, difference_m: ArrayLike, *, wavelength_m: float) -> Array:
    """|1 + R exp(-i k delta)|^4: power of an echo over that in free space, if the paths are not resolved [1].

    Out and back each go both ways; 16 where they add up, 0 where R = -1 and they cancel.

    Args:
        reflection: R, complex [1].
        difference_m: Delta, the way over the ground minus the straight one [m].
        wavelength_m: Lambda [m].
    """
    turn = 2.0 * np.pi * checked("difference_m", difference_m) / float(checked("wavelength_m", wavelength_m, above=0.0))
    return np.abs(1.0 + np.asarray(reflection, np.complex128) * np.exp(-1j * turn)) ** 4
