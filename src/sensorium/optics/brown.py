"""Brown's lens distortion, with the coefficients of OpenCV's and ROS' plumb_bob.

With ideal coordinates x, y (tangents of the angles) and q = x^2 + y^2, the distorted ones are

    x' = x (1 + k1 q + k2 q^2 + k3 q^3) + 2 p1 x y + p2 (q + 2 x^2)
    y' = y (1 + k1 q + k2 q^2 + k3 q^3) + p1 (q + 2 y^2) + 2 p2 x y

Source: Brown 1966.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from sensorium.errors import SpecError
from sensorium.optics.checks import Array, checked

_STEPS = 40
_CLOSE = 1e-12


def brown_distorted(points: ArrayLike, coefficients: Sequence[float]) -> Array:
    """Distorted coordinates x', y' [1], shape (*batch, 2), of ideal ones; coefficients are k1, k2, p1, p2, k3."""
    return _distorted(checked("points", points), *_five(coefficients))[0]


def brown_ideal(points: ArrayLike, coefficients: Sequence[float]) -> Array:
    """Ideal coordinates x, y [1] of distorted ones, by Newton's method; shape (*batch, 2).

    Raises:
        SpecError: No ideal point near by gives a distorted one, since the polynomial turns back before it.
    """
    wanted = checked("points", points)
    k = _five(coefficients)
    found = np.array(wanted)
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
    lost = ~(np.abs(at - wanted).max(axis=-1) < 1e-9) | (xx * yy - xy * yx <= 0.0) | (xx + yy <= 0.0)
    if lost.any():
        worst = wanted[lost][0]
        raise SpecError(
            f"no ray comes to the image point ({worst[0]:.4g}, {worst[1]:.4g}) with distortion {tuple(coefficients)}; "
            "the polynomial must grow outwards over the whole image"
        )
    return found


def _five(coefficients: Sequence[float]) -> tuple[float, float, float, float, float]:
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
