"""Lines over the faces of an object, as in the thesis: between two opposite sides of a quad.

A lone triangle is a quad whose last corner is its third: its lines run along its first side and shrink to the corner
opposite. Ref: Table 1 of the thesis, whose last row has the ends of the line swapped (E-23); physics.md 8.3.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.cone.segment import nearest_on_segment
from sensorium.physics.cone.triangle import Vector, nearest_on_triangle
from sensorium.runtime import jit

Float = NDArray[np.float64]


@jit.function
def corner(corners: Float, i: int) -> Vector:
    """Corner i of a face, x, y, z [m]."""
    return corners[i, 0], corners[i, 1], corners[i, 2]


@jit.function
def quad_line(corners: Float, k: int, count: int) -> tuple[float, float, float, float, float, float]:
    """Line k of `count` over a quad.

    q0 = v0 + k (v3 - v0) / (N - 1), q1 = v1 + k (v2 - v1) / (N - 1).

    Args:
        corners: v0, v1, v2, v3 around the quad [m], shape (4, 3).
        k: From 0, along v0 v1, to N - 1, along v3 v2.
        count: Number of lines N, at least 2.

    Returns:
        Start x, y, z and the way to the end dx, dy, dz [m].
    """
    s = k / (count - 1)
    x = corners[0, 0] + s * (corners[3, 0] - corners[0, 0])
    y = corners[0, 1] + s * (corners[3, 1] - corners[0, 1])
    z = corners[0, 2] + s * (corners[3, 2] - corners[0, 2])
    return (
        x,
        y,
        z,
        corners[1, 0] + s * (corners[2, 0] - corners[1, 0]) - x,
        corners[1, 1] + s * (corners[2, 1] - corners[1, 1]) - y,
        corners[1, 2] + s * (corners[2, 2] - corners[1, 2]) - z,
    )


@jit.function
def nearest_on_lines(
    corners: Float, count: int, a: float, b: float, reach: float, spherical: bool, within: float
) -> tuple[float, float, float, float]:
    """The point of a quad's lines in the cone that is nearest to the sensor.

    Args:
        corners: As for `quad_line`.
        count: Number of lines, at least 2.
        a, b, reach, spherical: As for `is_inside`.
        within: Square of the distance that it must be below to be of interest [m^2], inf for any.

    Returns:
        Square of its distance [m^2] and the point [m]; the square is inf without a point, or without one within reach.
    """
    return _nearest_of_lines(corners, count, 0, count, a, b, reach, spherical, within)


@jit.function
def _nearest_of_lines(
    corners: Float, count: int, first: int, end: int, a: float, b: float, reach: float, spherical: bool, within: float
) -> tuple[float, float, float, float]:
    """The same for the lines from `first` to `end` - 1."""
    best2, bx, by, bz = math.inf, 0.0, 0.0, 0.0
    for k in range(first, end):
        x, y, z, dx, dy, dz = quad_line(corners, k, count)
        distance2, px, py, pz = nearest_on_segment(x, y, z, dx, dy, dz, a, b, reach, spherical, within)
        if distance2 < within:
            best2, bx, by, bz, within = distance2, px, py, pz, distance2
    return best2, bx, by, bz


@jit.function
def nearest_on_parallel_lines(
    corners: Float, count: int, a: float, b: float, reach: float, spherical: bool, within: float
) -> tuple[float, float, float, float]:
    """The result of `nearest_on_lines` for a flat face whose sides v0 v1 and v3 v2 are parallel, from two of its lines.

    Rectangles are such faces, and lone triangles. Their lines are parallel too, and the points at a share s of the way
    from v0 v1 to v3 v2 are the means of points of both sides, with weights 1 - s and s. So the square of the distance
    of the line at s, in the cone, is a convex function of s. Its minimum is where the nearest point of the face is, and
    of all lines only the two beside that can be nearest.

    Args:
        corners, count, a, b, reach, spherical, within: As for `nearest_on_lines`.
    """
    distance2, px, py, pz = _nearest_on_quad(corners, a, b, reach, spherical, within)
    if distance2 == math.inf:
        return math.inf, 0.0, 0.0, 0.0

    # The point's share of the way across, along m, which is square to the lines
    ux, uy, uz = corners[1, 0] - corners[0, 0], corners[1, 1] - corners[0, 1], corners[1, 2] - corners[0, 2]
    mx, my, mz = corners[3, 0] - corners[0, 0], corners[3, 1] - corners[0, 1], corners[3, 2] - corners[0, 2]
    along = ux * ux + uy * uy + uz * uz
    if along > 0.0:
        along = (ux * mx + uy * my + uz * mz) / along
    mx, my, mz = mx - along * ux, my - along * uy, mz - along * uz
    across = mx * mx + my * my + mz * mz
    if across == 0.0:
        return nearest_on_lines(corners, count, a, b, reach, spherical, within)
    share = ((px - corners[0, 0]) * mx + (py - corners[0, 1]) * my + (pz - corners[0, 2]) * mz) / across
    before = min(max(math.floor(share * (count - 1)), 0), count - 2)
    return _nearest_of_lines(corners, count, before, before + 2, a, b, reach, spherical, within)


@jit.function
def _nearest_on_quad(
    corners: Float, a: float, b: float, reach: float, spherical: bool, within: float
) -> tuple[float, float, float, float]:
    """The nearest point of a flat quad in the cone: that of its two triangles, or of the one that it is."""
    best2, bx, by, bz = math.inf, 0.0, 0.0, 0.0
    first = corner(corners, 0)
    for i in range(1, 3):
        one, other = corner(corners, i), corner(corners, i + 1)
        if i == 2 and one == other:
            break
        distance2, px, py, pz = nearest_on_triangle(first, one, other, a, b, reach, spherical, within)
        if distance2 < within:
            best2, bx, by, bz, within = distance2, px, py, pz, distance2
    return best2, bx, by, bz


@jit.function
def worst_angle_error(extent: float, count: int, distance: float) -> float:
    """Eq. 4.1: half the angle between two lines, atan(extent / 2 / ((N - 1) r)) [rad].

    The worst error of angle where the nearest point is the foot on the face; where the cone cuts it, it can be larger.

    Args:
        extent: Side that the lines are laid along [m].
        count: Number of lines N, at least 2.
        distance: Range r [m], positive.
    """
    return math.atan(0.5 * extent / ((count - 1) * distance))


@jit.function
def lines_for_error(extent: float, error: float, distance: float, most: int) -> int:
    """The fewest lines of which two are no more than twice `error` [rad] apart: eq. 4.1 inverted.

    Args:
        extent: Side that the lines are laid along [m].
        error: The angle [rad], below pi / 2.
        distance: Range, or a lower bound of it [m]; where it is 0 no number is enough.
        most: Most lines, at least 2; taken where more were needed.
    """
    room = math.tan(error) * distance
    if 0.5 * extent >= room * (most - 1):
        return most
    return max(2, 1 + math.ceil(0.5 * extent / room))
