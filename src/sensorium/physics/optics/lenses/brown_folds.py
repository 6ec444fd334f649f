"""Folds of Brown's lens distortion: the points where the determinant of its Jacobian vanishes.

The map is the gradient of a potential. With p the length of the tangential terms, the angle t counted from their
direction (p2, p1), F(r) = r^2/2 + k1 r^4/4 + k2 r^6/6 + k3 r^8/8, A = F'' and B = F'/r,

    potential = F(r) + p r^3 cos t
    det J = A B + (2 A + 6 B) p r cos t + (16 cos^2 t - 4) p^2 r^2

Without tangential terms det J = A B vanishes first where A = 1 + 3 k1 q + 5 k2 q^2 + 7 k3 q^3 does, q = r^2: the radius
turns back there.
"""

import functools
import math
from collections.abc import Sequence

import numpy as np

from sensorium.physics.optics.checks import Array

Five = tuple[float, float, float, float, float]
"""k1, k2, p1, p2, k3."""

_ANGLES = 361


def turning_radius(coefficients: Five) -> float:
    """Ideal radius r [1] where that of a lens without tangential terms turns back; infinite where it never does."""
    k1, k2, _, _, k3 = coefficients
    return math.sqrt(first_turn((3.0 * k1, 5.0 * k2, 7.0 * k3)))


@functools.lru_cache(maxsize=64)
def unfolded_radius(coefficients: Five) -> float:
    """Ideal radius [1] within which a lens folds in no direction; infinite for one that folds nowhere."""
    _, _, p1, p2, _ = coefficients
    if p1 == 0.0 and p2 == 0.0:
        return turning_radius(coefficients)
    curve = fold_curve(coefficients, np.linspace(0.0, math.pi, _ANGLES))[1]
    return 0.99 * float(np.hypot(curve[:, 0], curve[:, 1]).min(initial=math.inf))  # it is looked for in some directions


def fold_curve(coefficients: Five, angle: Array, *, unit: float = 1.0) -> tuple[Array, Array]:
    """Points where det J = 0, and the angle of each: shapes (n,) and (n, 2).

    Args:
        coefficients: With tangential terms.
        angle: Directions to look into, from that of the tangential terms on both sides [rad].
        unit: Radius that matters [1]; roots about as large are found most exactly.
    """
    k1, k2, p1, p2, k3 = coefficients
    p, q = unit * math.hypot(p1, p2), unit * unit
    A, B = np.zeros(13), np.zeros(13)
    A[:7:2], B[:7:2] = (1.0, 3.0 * k1 * q, 5.0 * k2 * q**2, 7.0 * k3 * q**3), (1.0, k1 * q, k2 * q**2, k3 * q**3)
    c = np.cos(angle)[:, None]
    det = np.convolve(A, B)[:13] + np.roll(2.0 * A + 6.0 * B, 1) * p * c
    det[:, 2] += ((16.0 * c * c - 4.0) * p * p)[:, 0]

    # det J begins with 1, so that in s = 1 / r it is monic for any coefficients
    companion = np.zeros((len(angle), 12, 12))
    companion[:, np.arange(1, 12), np.arange(11)] = 1.0
    companion[:, 0, :] = -det[:, 1:]
    s = np.linalg.eigvals(companion)
    real = (np.abs(s.imag) <= 1e-6 * np.abs(s.real)) & (s.real > 1e-6)
    radius, at = unit / s.real[real], np.broadcast_to(angle[:, None], s.shape)[real]
    towards = math.atan2(p1, p2)
    turned = np.concatenate([towards + at, towards - at])
    points = np.concatenate([radius, radius])[:, None] * np.stack([np.cos(turned), np.sin(turned)], axis=-1)
    return np.concatenate([at, at]), points


# Rounding of a double root, relative to the largest term [1]
_ROUNDING = 1e-12


def first_turn(slope: Sequence[float]) -> float:
    """Least q > 0 where 1 + s1 q + s2 q^2 + ... becomes negative; infinite where it never does.

    A double root of the polynomial does not count: the radius continues to grow there.

    Args:
        slope: s1, s2, ...: of the radius by its square, 1 on the axis.
    """
    terms = np.array([1.0, *slope])
    roots = np.roots(terms[::-1])
    ends = np.sort(roots.real[(roots.real > 0.0) & (np.abs(roots.imag) <= 1e-6 * np.abs(roots.real))])
    for number, end in enumerate(ends):
        after = 0.5 * (end + (ends[number + 1] if number + 1 < len(ends) else 3.0 * end))
        values = terms * after ** np.arange(len(terms))
        if values.sum() < -_ROUNDING * np.abs(values).max():
            return float(end)
    return math.inf
