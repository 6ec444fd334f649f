"""A Gaussian beam that widens, and the share of its power that a round detector catches.

    I(x, y) = 2 P / (pi w_x w_y) exp(-2 x^2 / w_x^2 - 2 y^2 / w_y^2)          w = E + z tan(theta)

w is the 1/e^2 radius, E its value at the exit, theta the half divergence, z the reduced path length, the sum of d / n
(E-01). A detector of radius R whose center is r_D off the axis, along x, catches

    A = int_{-R}^{R} sqrt(2 / pi) / w_x exp(-2 (r_D + u)^2 / w_x^2) erf(sqrt(2 (R^2 - u^2)) / w_y) du

which for a round beam is 1 - Q_1(2 r_D / w, 2 R / w), the non-central chi-square law (E-16), and on the axis
1 - exp(-2 R^2 / w^2). The model `agx` is eq. (21) of the AGX Sensor paper,

    A = (1 - exp(-2 R^2 / w^2)) exp(-2 r_D^2 / w^2) / (1 - exp(-2)),    clipped to 1

which is 15.65 % too large on the axis and far away (E-15), and far too small off the axis nearby.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.optics.quadrature import gauss_legendre

CaptureModel = Literal["exact", "agx"]

# Nodes of the integral over the detector, and where it ends, in 1/e^2 radii (half a standard deviation each)
_NODES = 96
_REACH = 5.0


def beam_radius(z_m: ArrayLike, *, exit_radius_m: ArrayLike, half_divergence_rad: ArrayLike) -> Array:
    """1/e^2 radius w = E + z tan(theta) [m] of a beam.

    Args:
        z_m: Reduced path length, sum of d / n [m], >= 0.
        exit_radius_m: 1/e^2 radius at the exit [m], >= 0.
        half_divergence_rad: 1/e^2 half angle [rad], from 0 to 1.5.
    """
    z = checked("z_m", z_m, at_least=0.0)
    exit_radius = checked("exit_radius_m", exit_radius_m, at_least=0.0)
    return exit_radius + z * np.tan(checked("half_divergence_rad", half_divergence_rad, at_least=0.0, at_most=1.5))


def captured_fraction(
    z_m: ArrayLike,
    *,
    detector_radius_m: ArrayLike,
    detector_offset_m: ArrayLike = 0.0,
    exit_radius_m: ArrayLike,
    half_divergence_rad: ArrayLike,
    half_divergence_y_rad: ArrayLike | None = None,
    model: CaptureModel = "exact",
) -> Array:
    """Share A [1] of a beam's power that lands on a round detector.

    Args:
        z_m: Reduced path length, sum of d / n [m], >= 0.
        detector_radius_m: R [m], above 0.
        detector_offset_m: Distance r_D of its center from the beam's axis [m], along x.
        exit_radius_m: 1/e^2 radius E of the beam at the exit [m], >= 0; a beam of width 0 lands whole or not at all.
        half_divergence_rad: 1/e^2 half angle [rad], from 0 to 1.5; along x where the beam has two.
        half_divergence_y_rad: Along y; the same if not given.
        model: "exact", or "agx" for eq. (21), which covers round beams only.
    """
    y_rad = half_divergence_rad if half_divergence_y_rad is None else half_divergence_y_rad
    w_x, w_y, R, r_D = np.broadcast_arrays(
        beam_radius(z_m, exit_radius_m=exit_radius_m, half_divergence_rad=half_divergence_rad),
        beam_radius(z_m, exit_radius_m=exit_radius_m, half_divergence_rad=y_rad),
        checked("detector_radius_m", detector_radius_m, above=0.0),
        checked("detector_offset_m", detector_offset_m, at_least=0.0),
    )
    share = np.minimum(captured_share(w_x, w_y, R, r_D, model), 1.0)
    return np.where((w_x == 0) & (w_y == 0), r_D < R, share)[()]


def captured_share(w_x: Array, w_y: Array, R: Array, r_D: Array, model: CaptureModel) -> Array:
    """Share A of a beam of radii w_x, w_y by either model, not clipped; a width of 0 is taken as very small."""
    w_x, w_y = np.maximum(w_x, 1e-9 * R), np.maximum(w_y, 1e-9 * R)
    if model == "exact":
        return _exact(w_x, w_y, R, r_D)
    if model != "agx":
        raise SpecError(f"model is {model!r}; it must be exact or agx")
    if np.any(w_x != w_y):
        raise SpecError("half_divergence_y_rad differs from half_divergence_rad; the agx model knows round beams only")
    return -np.expm1(-2.0 * np.square(R / w_x)) * np.exp(-2.0 * np.square(r_D / w_x)) / -math.expm1(-2.0)


def _exact(w_x: Array, w_y: Array, R: Array, r_D: Array) -> Array:
    """The integral over u = R sin(phi), by Gauss-Legendre in phi over the part of the detector the beam reaches."""
    from scipy.special import erf

    w_x, w_y, R, r_D = (a[..., None] for a in np.broadcast_arrays(w_x, w_y, R, r_D))
    first = np.arcsin(np.clip((-r_D - _REACH * w_x) / R, -1.0, 1.0))
    last = np.arcsin(np.clip((-r_D + _REACH * w_x) / R, -1.0, 1.0))
    node, weight = gauss_legendre(_NODES)
    phi = 0.5 * (first + last) + 0.5 * (last - first) * node
    half_chord = R * np.cos(phi)
    across = math.sqrt(2.0 / math.pi) / w_x * np.exp(-2.0 * np.square((r_D + R * np.sin(phi)) / w_x))
    along = erf(math.sqrt(2.0) * half_chord / w_y)
    return np.sum(weight * across * along * half_chord * 0.5 * (last - first), axis=-1)
