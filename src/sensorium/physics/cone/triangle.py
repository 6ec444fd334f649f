"""A triangle in the cone: its nearest point, without lines and their spacing.

The nearest point of the triangle in K is that of its whole plane in K if that is in the triangle, and on an edge
otherwise (K is convex: a minimum inside the triangle is one of the plane). Ref: physics.md 8.2.

Of the plane n p = D, D > 0, the nearest point in an endless cone is in the direction u of the cone with the greatest n
u for its length, since |p| = D |u| / (n u): that is the direction of n projected onto the cone. physics.md finds the
same point as the root of a quartic; the projection leaves one equation of one unknown that has one root for every
plane.
"""

import math

from sensorium.physics.cone.segment import nearest_on_segment
from sensorium.runtime import jit

Vector = tuple[float, float, float]

# Newton's method comes from below: a step that is this small, or goes back, is rounding; five are enough as a rule
_ROUNDS = 20
_SETTLED = 1e-14

# A line as wide as the front, and a little more
_WIDER = 1.001


@jit.function
def nearest_on_triangle(
    p0: Vector, p1: Vector, p2: Vector, a: float, b: float, reach: float, spherical: bool, within: float
) -> tuple[float, float, float, float]:
    """The point of a triangle in the cone that is nearest to the sensor.

    Args:
        p0, p1, p2: Its corners, x, y, z each [m].
        a, b, reach, spherical: As for `is_inside`.
        within: Square of the distance that it must be below to be of interest [m^2], inf for any.

    Returns:
        Square of its distance [m^2] and the point [m]; the square is inf without a point, or without one within reach.
    """
    (x0, y0, z0), (x1, y1, z1), (x2, y2, z2) = p0, p1, p2
    ux, uy, uz, vx, vy, vz = x1 - x0, y1 - y0, z1 - z0, x2 - x0, y2 - y0, z2 - z0
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    area = math.sqrt(nx * nx + ny * ny + nz * nz)
    if area > 0.0:
        # The plane, with its normal away from the sensor
        D = (nx * x0 + ny * y0 + nz * z0) / area
        sign = 1.0 if D >= 0.0 else -1.0
        nx, ny, nz, D = sign * nx / area, sign * ny / area, sign * nz / area, sign * D
        if within <= D * D:
            return math.inf, 0.0, 0.0, 0.0
        distance2, px, py, pz = nearest_on_plane(nx, ny, nz, D, a, b, reach, spherical)
        if distance2 >= within:
            return math.inf, 0.0, 0.0, 0.0

        # In the triangle: on the inner side of all three edges
        p, n = (px, py, pz), (sign * nx, sign * ny, sign * nz)
        if _side(p0, p1, p, n) >= 0.0 and _side(p1, p2, p, n) >= 0.0 and _side(p2, p0, p, n) >= 0.0:
            return distance2, px, py, pz

    # Else on an edge
    best2, bx, by, bz = nearest_on_segment(x0, y0, z0, ux, uy, uz, a, b, reach, spherical, within)
    within = min(within, best2)
    distance2, px, py, pz = nearest_on_segment(x0, y0, z0, vx, vy, vz, a, b, reach, spherical, within)
    if distance2 < within:
        best2, bx, by, bz, within = distance2, px, py, pz, distance2
    distance2, px, py, pz = nearest_on_segment(x1, y1, z1, x2 - x1, y2 - y1, z2 - z1, a, b, reach, spherical, within)
    if distance2 < within:
        best2, bx, by, bz = distance2, px, py, pz
    return best2, bx, by, bz


@jit.function
def nearest_on_plane(
    nx: float, ny: float, nz: float, D: float, a: float, b: float, reach: float, spherical: bool
) -> tuple[float, float, float, float]:
    """The point of the plane n p = D in the cone that is nearest to the sensor.

    Args:
        nx, ny, nz: Unit normal.
        D: Distance of the plane, along the normal, not negative [m].
        a, b, reach, spherical: As for `is_inside`.

    Returns:
        Square of its distance [m^2] and the point [m]; the square is inf without a point.
    """
    if D == 0.0:
        return 0.0, 0.0, 0.0, 0.0
    ux, uy, uz = direction_nearest_to(nx, ny, nz, a, b)
    along = nx * ux + ny * uy + nz * uz
    if along <= 0.0:
        return math.inf, 0.0, 0.0, 0.0
    scale = D / along
    x, y, z = scale * ux, scale * uy, scale * uz
    distance2 = x * x + y * y + z * z
    if spherical:
        return distance2 if distance2 <= reach * reach else math.inf, x, y, z
    if x <= reach:
        return distance2, x, y, z

    # Beyond the front: where the plane cuts the front, a line whose nearest point to the axis is known
    across2 = ny * ny + nz * nz
    if across2 == 0.0:
        return math.inf, 0.0, 0.0, 0.0
    off = (D - nx * reach) / across2
    y, z = off * ny, off * nz
    half = _WIDER * max(a, b) * reach / math.sqrt(across2)
    dy, dz = -half * nz, half * ny
    return nearest_on_segment(reach, y - dy, z - dz, 0.0, 2.0 * dy, 2.0 * dz, a, b, reach, False, math.inf)


@jit.function
def direction_nearest_to(nx: float, ny: float, nz: float, a: float, b: float) -> tuple[float, float, float]:
    """The direction in the endless cone with the greatest n u / |u|: n projected onto the cone.

    Outside the cone the projection is u = (s, a^2 ny s / e, b^2 nz s / f), e = (a^2 + 1) s - nx, f = (b^2 + 1) s - nx,
    on the side of the cone where (a ny / e)^2 + (b nz / f)^2 = 1. The root of that sum is the inverse of a concave
    function of s that rises, so that Newton's method comes up to 1 from below, without overshooting, and is exact where
    only one of the terms is there.

    Args:
        nx, ny, nz: A vector of length 1.
        a, b: Slopes of the sides [1].

    Returns:
        A vector of any length; zeros where n leads away from all of the cone.
    """
    u, v = ny / a, nz / b
    if nx > 0.0 and u * u + v * v <= nx * nx:
        return nx, ny, nz
    p, q = a * ny, b * nz
    if nx + math.sqrt(p * p + q * q) <= 0.0:
        return 0.0, 0.0, 0.0

    # Start below the root: where one of the terms alone is 1, or where n itself is
    g, h = a * a + 1.0, b * b + 1.0
    s = max(max(0.0, nx), max((abs(p) + nx) / g, (abs(q) + nx) / h))
    for _ in range(_ROUNDS):
        e, f = g * s - nx, h * s - nx
        i, j = p / e, q / f
        total = i * i + j * j
        slope = g * i * i / e + h * j * j / f
        rise = total * (math.sqrt(total) - 1.0) / slope
        s += rise
        if rise <= _SETTLED * s:
            break
    return s, a * p * s / (g * s - nx), b * q * s / (h * s - nx)


@jit.function
def _side(start: Vector, end: Vector, p: Vector, n: Vector) -> float:
    """On which side of an edge a point is, seen against the normal: positive to the left."""
    ex, ey, ez = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    wx, wy, wz = p[0] - start[0], p[1] - start[1], p[2] - start[2]
    return (ey * wz - ez * wy) * n[0] + (ez * wx - ex * wz) * n[1] + (ex * wy - ey * wx) * n[2]
