"""Brown's lens distortion, with the coefficients of OpenCV's and ROS' plumb_bob.

With ideal coordinates x, y (tangents of the angles) and q = x^2 + y^2, the distorted ones are

    x' = x (1 + k1 q + k2 q^2 + k3 q^3) + 2 p1 x y + p2 (q + 2 x^2)
    y' = y (1 + k1 q + k2 q^2 + k3 q^3) + p1 (q + 2 y^2) + 2 p2 x y

Source: Brown 1966. A lens may fold the image over itself (`brown_folds`); a pixel sees the branch that contains the
axis (`continued_inverse`).
"""

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked
from sensorium.physics.optics.lenses.brown_folds import Five, fold_curve, turning_radius, unfolded_radius
from sensorium.physics.optics.lenses.continued_inverse import continued_inverse

_STEPS = 40
_CLOSE = 1e-12

# Directions that folds are looked for in over half a turn, and how many more between two where one comes near the image
_ANGLES, _FINER, _NEAR = 181, 16, 1.1

# Margin beyond a fold that the branch must not reach
_BEYOND = 1.0 + 1e-5


def brown_distorted(points: ArrayLike, coefficients: Sequence[float]) -> Array:
    """Distorted coordinates x', y' [1], shape (*batch, 2), of ideal ones; coefficients are k1, k2, p1, p2, k3."""
    return _distorted(checked("points", points), *_five(coefficients))[0]


def brown_ideal(points: ArrayLike, coefficients: Sequence[float]) -> Array:
    """Ideal coordinates x, y [1] of distorted ones, on the branch that holds the axis; shape (*batch, 2).

    Newton's method from the distorted point finds most; where it may have left the branch, it is followed from the
    axis.

    Raises:
        SpecError: The polynomial turns back before it reaches a point.
    """
    wanted = checked("points", points)
    k = _five(coefficients)
    found = np.array(wanted)
    with np.errstate(all="ignore"):  # a divergent one is NaN, and is followed below
        for _ in range(_STEPS):
            at, (xx, xy, yx, yy) = _distorted(found, *k)
            miss = at - wanted
            determinant = xx * yy - xy * yx
            safe = np.where(np.abs(determinant) > 1e-9, determinant, 1e-9)
            step = np.stack([yy * miss[..., 0] - xy * miss[..., 1], xx * miss[..., 1] - yx * miss[..., 0]], -1)
            found = found - step / safe[..., None]
            if np.abs(miss).max(initial=0.0) < _CLOSE:
                break
        at, (xx, xy, yx, yy) = _distorted(found, *k)
        unsure = ~(np.abs(at - wanted).max(axis=-1) < 1e-9) | (xx * yy - xy * yx <= 0.0) | (xx + yy <= 0.0)
        unsure |= ~(np.hypot(found[..., 0], found[..., 1]) <= unfolded_radius(k))
    if unsure.any():
        found[unsure], reached = _followed(wanted[unsure], k)
        if not reached.all():
            raise _unreached(wanted[unsure][~reached][0], k)
    return found


def check_brown_field(low: ArrayLike, high: ArrayLike, coefficients: Sequence[float]) -> None:
    """Raise SpecError where a lens folds an image over itself.

    Without tangential terms it does if a corner is beyond the radius that turns back. With them it does if a point with
    det J = 0 comes to be in the image, or between it and the principal point, on the branch that contains the axis.

    Args:
        low, high: Least and greatest distorted coordinates (x', y') of the image [1].
        coefficients: k1, k2, p1, p2, k3.
    """
    k = _five(coefficients)
    field = np.array([low, high], np.float64)
    farthest = field[np.abs(field).argmax(axis=0), [0, 1]]
    corner = float(np.hypot(*farthest))
    if not any(k[2:4]):
        turn = turning_radius(k)
        if math.isfinite(turn) and corner > float(_distorted(np.array([turn, 0.0]), *k)[0][0]):
            raise _unreached(farthest, k)
        return
    angle = np.linspace(0.0, math.pi, _ANGLES)
    at, points = fold_curve(k, angle, unit=corner)
    _check_curve(field, points, k)

    # Once more where the curve passes close by, as it may cut a corner between two directions
    close = np.unique(at[_holds(_NEAR * field, _distorted(points, *k)[0])])
    if len(close):
        between = np.linspace(-1.0, 1.0, 2 * _FINER + 1) * angle[1]
        _check_curve(field, fold_curve(k, (close[:, None] + between).ravel(), unit=corner)[1], k)


def _check_curve(field: Array, ideal: Array, k: Five) -> None:
    """Raise SpecError if points with det J = 0 are in the image, on the branch that contains the axis."""
    image = _distorted(ideal, *k)[0]
    inside = image[_holds(field, image)]
    reached = _followed(_BEYOND * inside, k)[1]
    if not reached.all():
        raise _unreached(inside[~reached][0], k)


def _holds(field: Array, points: Array) -> NDArray[np.bool_]:
    """Whether points (n, 2) are in an image, or on a line to it from the principal point."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ends = np.sort(field[:, None, :] / points[None], axis=0)
    flat, across = points == 0.0, (field[0] <= 0.0) & (field[1] >= 0.0)
    near = np.where(flat, np.where(across, -np.inf, np.inf), ends[0]).max(axis=-1)
    far = np.where(flat, np.where(across, np.inf, -np.inf), ends[1]).min(axis=-1)
    return np.asarray(np.maximum(near, 1.0) <= far)


def _followed(wanted: Array, k: Five) -> tuple[Array, NDArray[np.bool_]]:
    """Ideal points on the branch from the axis, and which were reached; shapes (n, 2) and (n,)."""
    return continued_inverse(lambda points, _: _distorted(points, *k), np.zeros_like(wanted), wanted)


def _unreached(point: Array, k: Five) -> SpecError:
    return SpecError(
        f"no ray comes to the image point ({point[0]:.4g}, {point[1]:.4g}) with distortion {k}; "
        "the polynomial must grow outwards over the whole image"
    )


def _five(coefficients: Sequence[float]) -> Five:
    if len(coefficients) != 5:
        raise SpecError(f"distortion is {tuple(coefficients)}; it must be five numbers, k1, k2, p1, p2, k3")
    k1, k2, p1, p2, k3 = (float(number) for number in coefficients)
    return k1, k2, p1, p2, k3


def _distorted(
    points: Array, k1: float, k2: float, p1: float, p2: float, k3: float
) -> tuple[Array, tuple[Array, Array, Array, Array]]:
    """Distorted points, and the derivatives dx'/dx, dx'/dy, dy'/dx, dy'/dy."""
    x, y = points[..., 0], points[..., 1]
    q = x * x + y * y
    radial = 1.0 + q * (k1 + q * (k2 + q * k3))
    slope = 2.0 * (k1 + q * (2.0 * k2 + 3.0 * q * k3))  # (d radial / dx) / x
    out = np.stack(
        [
            x * radial + 2.0 * p1 * x * y + p2 * (q + 2.0 * x * x),
            y * radial + p1 * (q + 2.0 * y * y) + 2.0 * p2 * x * y,
        ],
        axis=-1,
    )
    xx = radial + slope * x * x + 2.0 * p1 * y + 6.0 * p2 * x
    yy = radial + slope * y * y + 6.0 * p1 * y + 2.0 * p2 * x
    across = slope * x * y + 2.0 * p1 * x + 2.0 * p2 * y
    return out, (xx, across, across, yy)
