"""Radar cross-sections of simple conducting bodies that are large compared with the wavelength.

Directions are unit vectors from the body to the radar, in the body's own frame. Flat faces and cylinders follow
physical optics, corner reflectors geometry. Ref: physics.md 12; Knott, Shaeffer and Tuley, Radar Cross Section;
Balanis, Advanced Engineering Electromagnetics, 11; for the corner Siegel 1946, after Robertson 1947.
"""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked, checked_unit

# Below this k a the sphere rings: its cross-section swings about pi a^2 (Mie), by 10 % here
_LEAST_SPHERE = 10.0

# The inner edges of a corner reflector that opens along x, as rows
_CORNER = np.array(
    [
        [1.0 / np.sqrt(3.0), 0.0, np.sqrt(2.0 / 3.0)],
        [1.0 / np.sqrt(3.0), -np.sqrt(0.5), -1.0 / np.sqrt(6.0)],
        [1.0 / np.sqrt(3.0), np.sqrt(0.5), -1.0 / np.sqrt(6.0)],
    ]
)


def sphere(radius_m: ArrayLike, *, wavelength_m: float) -> Array:
    """Pi a^2 [m^2], for k a of 10 or more."""
    radius = checked("radius_m", radius_m, above=0.0)
    least = _LEAST_SPHERE * _length(wavelength_m) / (2.0 * np.pi)
    if (radius < least).any():
        raise SpecError(f"radius_m is {radius.min():g}; it must be at least {least:g}, ten over the wave number")
    return np.pi * radius**2


def plate(width_m: float, height_m: float, direction: ArrayLike = (1.0, 0.0, 0.0), *, wavelength_m: float) -> Array:
    """4 pi A^2 / lambda^2 n_x^2 sinc^2(k w n_y) sinc^2(k h n_z) [m^2], sinc(x) = sin(x) / x, of a flat plate across x.

    0.1 m x 0.1 m at 77 GHz and straight on: 82.899 m^2. Both sides reflect equally.

    Args:
        width_m: w, along y [m].
        height_m: h, along z [m].
        direction: n to the radar, shape (*batch, 3).
        wavelength_m: Lambda [m].
    """
    n, k = checked_unit("direction", direction), 2.0 * np.pi / _length(wavelength_m)
    w, h = float(checked("width_m", width_m, above=0.0)), float(checked("height_m", height_m, above=0.0))
    lobe = n[..., 0] * _sinc(k * w * n[..., 1]) * _sinc(k * h * n[..., 2])
    return k**2 / np.pi * (w * h * lobe) ** 2


def cylinder(radius_m: float, length_m: float, direction: ArrayLike = (1.0, 0.0, 0.0), *, wavelength_m: float) -> Array:
    """Sum of k a L^2 cos(psi) sinc^2(k L sin(psi)) of the wall, and a disc's lobe of the end that is seen [m^2].

    2 pi a L^2 / lambda from the side. The axis is z; psi is the angle from broadside.

    Args:
        radius_m: a [m].
        length_m: L [m].
        direction: To the radar, shape (*batch, 3).
        wavelength_m: Lambda [m].
    """
    from scipy.special import j1

    n, k = checked_unit("direction", direction), 2.0 * np.pi / _length(wavelength_m)
    a, length = float(checked("radius_m", radius_m, above=0.0)), float(checked("length_m", length_m, above=0.0))
    level, axial = np.hypot(n[..., 0], n[..., 1]), n[..., 2]
    wall = k * a * length**2 * level * _sinc(k * length * axial) ** 2

    # 2 J_1(x) / x is for a disc what sinc is for a rectangle
    x = 2.0 * k * a * level
    lobe = np.where(x < 1e-6, 1.0, 2.0 * j1(x) / np.maximum(x, 1e-6))
    end = k**2 / np.pi * (np.pi * a**2 * axial * lobe) ** 2
    return wall + end


def box(
    length_m: float,
    width_m: float,
    height_m: float,
    direction: ArrayLike = (1.0, 0.0, 0.0),
    *,
    wavelength_m: float,
) -> Array:
    """The plates of a box, added without their phases [m^2]; sizes are along x, y and z."""
    n = checked_unit("direction", direction)
    ends = plate(width_m, height_m, n, wavelength_m=wavelength_m)
    sides = plate(height_m, length_m, n[..., [1, 2, 0]], wavelength_m=wavelength_m)
    tops = plate(length_m, width_m, n[..., [2, 0, 1]], wavelength_m=wavelength_m)
    return ends + sides + tops


def corner(edge_m: float, direction: ArrayLike = (1.0, 0.0, 0.0), *, wavelength_m: float) -> Array:
    """4 pi A^2 / lambda^2 [m^2] of a corner reflector of three triangles that opens along x.

    A is the part of its opening through which the light of all three faces leaves: with direction cosines l <= m <= n
    to its edges and s = l + m + n, a^2 (s - 2 / s) if l + m >= n, else 4 a^2 l m / s. Straight on: 4 pi a^4 / 3
    lambda^2, 27.633 m^2 for 0.1 m at 77 GHz. From behind: 0.

    Args:
        edge_m: a, of the edges at the corner [m].
        direction: To the radar, shape (*batch, 3).
        wavelength_m: Lambda [m].
    """
    cosines: NDArray[np.float64] = np.sort(checked_unit("direction", direction) @ _CORNER.T, axis=-1)
    low, middle, high = cosines[..., 0], cosines[..., 1], cosines[..., 2]
    total = np.maximum(cosines.sum(axis=-1), 1e-12)
    wide, narrow = total - 2.0 / total, 4.0 * low * middle / total
    share = np.where(low <= 0.0, 0.0, np.where(low + middle >= high, wide, narrow))
    edge = float(checked("edge_m", edge_m, above=0.0))
    return 4.0 * np.pi * (edge**2 * share / _length(wavelength_m)) ** 2


def _sinc(x: Array) -> Array:
    return np.sinc(x / np.pi)


def _length(wavelength_m: float) -> float:
    return float(checked("wavelength_m", wavelength_m, above=0.0))
