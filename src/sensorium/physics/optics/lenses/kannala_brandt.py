"""Fisheye lenses after Kannala and Brandt: the radius in the image as a polynomial of the angle to the axis.

    r = f (t + k1 t^3 + k2 t^5 + k3 t^7 + k4 t^9)

t [rad] is the angle between ray and axis; without coefficients the lens is equidistant. Source: Kannala & Brandt 2006,
in the form of OpenCV's fisheye model.
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.optics.lenses.brown_folds import first_turn

_STEPS = 40


def fisheye_radius(angle_rad: ArrayLike, coefficients: Sequence[float]) -> Array:
    """R / f [1] of an angle to the axis [rad]; coefficients are k1, k2, k3, k4."""
    return _radius(checked("angle_rad", angle_rad, at_least=0.0), _four(coefficients))[0]


def turning_angle(coefficients: Sequence[float]) -> float:
    """Least angle to the axis [rad] from which on the radius shrinks; infinite where it never does."""
    k1, k2, k3, k4 = _four(coefficients)
    return math.sqrt(first_turn((3.0 * k1, 5.0 * k2, 7.0 * k3, 9.0 * k4)))


def fisheye_angle(radius: ArrayLike, coefficients: Sequence[float]) -> Array:
    """Angle to the axis [rad] of a radius r / f [1]: the one up to which the radius grows.

    Newton's method from the radius finds most angles; bisection finds the rest.

    Raises:
        SpecError: No angle up to 180 degrees gives such a radius before the radius turns back.
    """
    wanted = checked("radius", radius, at_least=0.0)
    k = _four(coefficients)
    most = min(turning_angle(coefficients), np.pi * (1.0 + 1e-12))
    angle = np.array(wanted)
    with np.errstate(all="ignore"):  # a divergent one is NaN, and is bisected below
        for _ in range(_STEPS):
            at, slope = _radius(angle, k)
            step = (at - wanted) / np.where(np.abs(slope) > 1e-9, slope, 1e-9)
            angle = np.clip(angle - step, 0.0, 2.0 * np.pi)
            if np.abs(step).max(initial=0.0) < 1e-14:
                break
        unsure = ~(np.abs(_radius(angle, k)[0] - wanted) < 1e-9) | ~(angle <= most)
    if unsure.any():
        lost = wanted > _radius(np.array(most), k)[0]
        if lost.any():
            raise SpecError(
                f"no ray comes to the image radius {wanted[lost].flat[0]:.4g} f with distortion {tuple(coefficients)}; "
                "every pixel must look at most 180 degrees off the axis, and the polynomial must grow up to there"
            )
        angle = np.array(angle)
        angle[unsure] = _halved(wanted[unsure], most, k)
    return angle


def _halved(wanted: Array, most: float, k: Array) -> Array:
    """Angles of radii [1] that the polynomial reaches while it grows, up to a greatest angle [rad]."""
    low, high = np.zeros_like(wanted), np.full_like(wanted, most)
    for _ in range(60):
        middle = 0.5 * (low + high)
        beyond = _radius(middle, k)[0] > wanted
        low, high = np.where(beyond, low, middle), np.where(beyond, middle, high)
    return np.asarray(0.5 * (low + high))


def _four(coefficients: Sequence[float]) -> Array:
    if len(coefficients) != 4:
        raise SpecError(f"distortion is {tuple(coefficients)}; it must be four numbers, k1, k2, k3, k4")
    return np.array(coefficients, np.float64)


def _radius(angle: Array, k: Array) -> tuple[Array, Array]:
    """R / f and its derivative."""
    q = angle * angle
    radius = angle * (1.0 + q * (k[0] + q * (k[1] + q * (k[2] + q * k[3]))))
    slope = 1.0 + q * (3.0 * k[0] + q * (5.0 * k[1] + q * (7.0 * k[2] + q * 9.0 * k[3])))
    return radius, slope
