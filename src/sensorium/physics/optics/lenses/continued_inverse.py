"""Inverse of a map of the plane, on the branch that begins at a given point.

A lens that distorts maps ideal points to image points by a polynomial, which folds where the determinant of its
Jacobian vanishes. A pixel sees the ideal point on the branch that contains the axis: the straight line from the image
of the axis to the pixel is followed, and the ideal point with it, as long as the determinant is positive. If every line
to an image point can be followed, the branch is one to one over them all, since they fill a region without holes; if
one cannot, the image folds over itself there. The determinant at the end of Newton's method from the pixel itself is no
such test: a second fold makes it positive again.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.checks import Array

Map = Callable[[Array, NDArray[np.intp]], tuple[Array, tuple[Array, Array, Array, Array]]]
"""Images of points, shape (n, 2), and the derivatives dx'/dx, dx'/dy, dy'/dx, dy'/dy, shape (n,); the second argument
gives the indices of the wanted points."""

_FIRST_STEP, _LEAST_STEP = 0.25, 1e-6
_NEWTON, _CLOSE = 6, 1e-12


def continued_inverse(forward: Map, start: Array, wanted: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Ideal points of image points, and which of them were reached, shape (n, 2) and (n,).

    Args:
        forward: The map.
        start: Ideal points that the branch begins at, shape (n, 2).
        wanted: Image points, shape (n, 2).
    """
    found = np.array(start, np.float64)
    every = np.arange(len(found))
    begin, slopes = forward(found, every)
    way = wanted - begin
    scale = 1.0 + np.abs(wanted).max(axis=-1, initial=0.0)
    done, step = np.zeros(len(found)), np.full(len(found), _FIRST_STEP)
    active = every[_determinant(slopes) > 0.0]
    reached = np.zeros(len(found), np.bool_)
    while len(active):
        ahead = np.minimum(done[active] + step[active], 1.0)
        target = begin[active] + ahead[:, None] * way[active]
        at, moves = found[active], []
        with np.errstate(all="ignore"):  # a divergent step is NaN, and not taken
            for _ in range(_NEWTON):
                image, slopes = forward(at, active)
                moved = _solved(slopes, target - image)
                at = at + moved
                moves.append(np.abs(moved).max(axis=-1))
            image, slopes = forward(at, active)
            missed = np.abs(image - target).max(axis=-1)
            size = 1.0 + np.abs(at).max(axis=-1)
            good = (missed <= _CLOSE * scale[active]) & (_determinant(slopes) > 0.0)
            # Corrections as long as the step itself may have led to another branch
            good &= np.sum(moves[1:], axis=0) <= 0.25 * moves[0] + _CLOSE * size
        taken = active[good]
        found[taken], done[taken] = at[good], ahead[good]
        step[taken] *= 2.0
        step[active[~good]] *= 0.5
        reached[taken] = done[taken] >= 1.0
        active = active[~reached[active] & (step[active] >= _LEAST_STEP)]
    return found, reached


def _determinant(slopes: tuple[Array, Array, Array, Array]) -> Array:
    xx, xy, yx, yy = slopes
    return np.asarray(xx * yy - xy * yx)


def _solved(slopes: tuple[Array, Array, Array, Array], miss: Array) -> Array:
    """The step that the derivatives say a miss needs."""
    xx, xy, yx, yy = slopes
    step = np.stack([yy * miss[:, 0] - xy * miss[:, 1], xx * miss[:, 1] - yx * miss[:, 0]], axis=-1)
    return np.asarray(step / _determinant(slopes)[:, None])
