"""Primary aberrations of a lens: deviation of a ray through each point of the pupil from its ideal image point.

With pupil coordinates (x_p, y_p), image coordinates (x, y) of the ideal point, rho^2 = x_p^2 + y_p^2, h^2 = x^2 + y^2
and u = x x_p + y y_p (which may be negative), the wavefront error is

    W = A rho^2 + B rho^4 + C u^2 + D h^2 rho^2 + E h^2 u + F rho^2 u

and the ray misses by -R grad_p W. All coordinates are metric: A [1/m], B to F [1/m^3]. Sources: VANE paper eqs. 1 to 5,
Born & Wolf 5.3. Corrected: A is half the difference of vergences, without the a^2 of eq. 3 (E-33); field coordinates
are those of the ideal image point, upright as in a raster, not of the object (E-34); the exit pupil is as large as
the entrance pupil (E-35).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked


class Seidel(NamedTuple):
    """The five coefficients [1/m^3]."""

    spherical: float = 0.0
    """B."""
    astigmatism: float = 0.0
    """C."""
    curvature: float = 0.0
    """D, of the field."""
    distortion: float = 0.0
    """E; for the ray through the middle of the pupil it is Brown's k1 = -R E [1/m^2]."""
    coma: float = 0.0
    """F."""


def in_focus_distance(focal_length_m: float, pupil_distance_m: float) -> float:
    """Distance s = 1 / (1/f - 1/d) [m] at which a lens is in focus.

    Args:
        focal_length_m: f [m].
        pupil_distance_m: d, from the pupil to the image plane [m]; more than f.
    """
    if not 0.0 < focal_length_m < pupil_distance_m:
        raise SpecError(
            f"pupil_distance_m is {pupil_distance_m} and focal_length_m {focal_length_m}; "
            "the image plane must lie behind the focus, d > f > 0"
        )
    return 1.0 / (1.0 / focal_length_m - 1.0 / pupil_distance_m)


def defocus(in_focus_m: ArrayLike, object_m: ArrayLike) -> Array:
    """Coefficient A = (1/s - 1/r) / 2 [1/m]; 0 in focus.

    Args:
        in_focus_m: s [m]; infinity is allowed.
        object_m: Depth r of the object along the axis [m], above 0; infinity is allowed.
    """
    with np.errstate(divide="ignore"):
        return 0.5 * (1.0 / np.asarray(in_focus_m, np.float64) - 1.0 / np.asarray(object_m, np.float64))


def blur_radius(focal_length_m: float, pupil_distance_m: float, pupil_radius_m: float, object_m: ArrayLike) -> Array:
    """Radius d a |1/s - 1/r| [m] of the disc of a point out of focus; a thin lens gives a |d - d_i| / d_i.

    Args:
        focal_length_m, pupil_distance_m: As in `in_focus_distance`.
        pupil_radius_m: a [m].
        object_m: Depth of the point along the axis [m].
    """
    in_focus_m = in_focus_distance(focal_length_m, pupil_distance_m)
    return np.abs(2.0 * pupil_distance_m * pupil_radius_m * defocus(in_focus_m, object_m))


def wavefront(field: ArrayLike, pupil: ArrayLike, coefficients: Seidel, *, defocus_per_m: ArrayLike = 0.0) -> Array:
    """Wavefront error W [m]; arguments as in `deviation`."""
    _, _, u, rho2, h2 = _invariants(field, pupil)
    b, c, d, e, f = coefficients
    return np.asarray(defocus_per_m) * rho2 + b * rho2**2 + c * u**2 + d * h2 * rho2 + e * h2 * u + f * rho2 * u


def deviation(
    field: ArrayLike,
    pupil: ArrayLike,
    coefficients: Seidel,
    *,
    image_distance_m: float,
    defocus_per_m: ArrayLike = 0.0,
) -> Array:
    """Deviation of a ray from its ideal image point [m], shape (*batch, 2).

        dx = -R [x_p (2A + 4B rho^2 + 2D h^2 + 2F u) + x (2C u + E h^2 + F rho^2)],   dy likewise

    Args:
        field: Ideal image point (x, y) [m], shape (*batch, 2).
        pupil: Where the ray passes the pupil (x_p, y_p) [m], shape (*batch, 2).
        coefficients: B to F.
        image_distance_m: R, from the pupil to the image plane [m].
        defocus_per_m: A [1/m], shape (*batch,).
    """
    o, p, u, rho2, h2 = _invariants(field, pupil)
    checked("image_distance_m", image_distance_m, above=0.0)
    b, c, d, e, f = coefficients
    along_pupil = 2.0 * np.asarray(defocus_per_m) + 4.0 * b * rho2 + 2.0 * d * h2 + 2.0 * f * u
    along_field = 2.0 * c * u + e * h2 + f * rho2
    return -image_distance_m * (p * along_pupil[..., None] + o * along_field[..., None])


def deviation_slopes(
    field: ArrayLike, pupil: ArrayLike, coefficients: Seidel, *, image_distance_m: float
) -> tuple[Array, Array, Array, Array]:
    """Derivatives of the deviation over the field [1]: d dx/dx, d dx/dy, d dy/dx, d dy/dy; arguments as `deviation`."""
    o, p, u, rho2, h2 = _invariants(field, pupil)
    _, c, d, e, f = coefficients
    both = 2.0 * c * u + e * h2 + f * rho2
    along_pupil = 4.0 * d * o + 2.0 * f * p  # gradient of the factor of the pupil point
    along_field = 2.0 * c * p + 2.0 * e * o  # and of the factor of the field point
    slope = p[..., :, None] * along_pupil[..., None, :] + o[..., :, None] * along_field[..., None, :]
    slope = -image_distance_m * (slope + both[..., None, None] * np.eye(2))
    return slope[..., 0, 0], slope[..., 0, 1], slope[..., 1, 0], slope[..., 1, 1]


def _invariants(field: ArrayLike, pupil: ArrayLike) -> tuple[Array, Array, Array, Array, Array]:
    """Field, pupil, u, rho^2 and h^2."""
    o, p = checked("field", field), checked("pupil", pupil)
    for name, array in (("field", o), ("pupil", p)):
        if array.shape[-1:] != (2,):
            raise SpecError(f"{name} has shape {array.shape}; its last axis must have 2 entries")
    return o, p, (o * p).sum(axis=-1), (p * p).sum(axis=-1), (o * o).sum(axis=-1)
