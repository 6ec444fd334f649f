"""A line segment in the cone: the interval that is inside, and its nearest point.

Replaces the three cases of the thesis (3.3, 3.4 to 3.6): points behind the sensor are cut off first, so that no root of
the mirrored cone is taken (E-22), and if both roots are beyond the front nothing is left, instead of one point that
both slide to (E-21). Ref: physics.md 8.1.
"""

import math

from sensorium.physics.cone.volume import is_inside
from sensorium.runtime import jit

# Below this share of the terms that cancel in it, the coefficient of t^2 is zero: the line is parallel to the side
_PARALLEL = 1e-14


@jit.function
def clipped_segment(
    x: float, y: float, z: float, dx: float, dy: float, dz: float, a: float, b: float, reach: float, spherical: bool
) -> tuple[float, float]:
    """The stretch of q + t d, 0 <= t <= 1, that is in the cone.

    With M = diag(-1, a^-2, b^-2) a point is between the sides where A t^2 + B t + C <= 0, A = d M d, B = 2 q M d,
    C = q M q; of A > 0 that is between the roots, of A < 0 beyond the later one (going forward) or before the earlier.

    Args:
        x, y, z: Start q [m].
        dx, dy, dz: From start to end, d [m].
        a, b, reach, spherical: As for `is_inside`.

    Returns:
        First and last t [1]; the first is above the last if nothing is inside.
    """
    low, high = 0.0, 1.0

    # In front of the sensor, and before a flat front
    if dx == 0.0:
        if x < 0.0 or (x > reach and not spherical):
            return 1.0, 0.0
    else:
        behind = -x / dx
        if dx > 0.0:
            low = max(low, behind)
        else:
            high = min(high, behind)
        if not spherical:
            front = (reach - x) / dx
            if dx > 0.0:
                high = min(high, front)
            else:
                low = max(low, front)
        if low > high:
            return 1.0, 0.0

    # Within a spherical front: between the roots of |q + t d|^2 = r^2
    if spherical:
        first, last = _between_roots(
            dx * dx + dy * dy + dz * dz, 2.0 * (x * dx + y * dy + z * dz), x * x + y * y + z * z - reach * reach
        )
        low, high = max(low, first), min(high, last)
        if low > high:
            return 1.0, 0.0

    # Between the sides
    aa, bb = 1.0 / (a * a), 1.0 / (b * b)
    across, along = dy * dy * aa + dz * dz * bb, dx * dx
    A = across - along
    B = 2.0 * (y * dy * aa + z * dz * bb - x * dx)
    C = y * y * aa + z * z * bb - x * x
    if abs(A) <= _PARALLEL * (across + along):
        if B > 0.0:
            high = min(high, -C / B)
        elif B < 0.0:
            low = max(low, -C / B)
        elif C > 0.0:
            return 1.0, 0.0
    elif A > 0.0:
        first, last = _between_roots(A, B, C)
        low, high = max(low, first), min(high, last)
    else:
        first, last = _roots(A, B, max(B * B - 4.0 * A * C, 0.0), C)
        if dx > 0.0:
            low = max(low, last)
        else:
            high = min(high, first)
    return low, high


@jit.function
def nearest_on_segment(
    x: float,
    y: float,
    z: float,
    dx: float,
    dy: float,
    dz: float,
    a: float,
    b: float,
    reach: float,
    spherical: bool,
    within: float,
) -> tuple[float, float, float, float]:
    """The point of a piece of line in the cone that is nearest to the sensor.

    Eq. 3.2, t = -q d / |d|^2, within the stretch that is inside; for d = 0 the one point.

    Args:
        x, y, z, dx, dy, dz: As for `clipped_segment`.
        a, b, reach, spherical: As for `is_inside`.
        within: Square of the distance that it must be below to be of interest [m^2], inf for any.

    Returns:
        Square of its distance [m^2] and the point [m]; the square is inf without a point, or without one within reach.
    """
    # Without the cone: most pieces are too far, or have that point inside
    length2 = dx * dx + dy * dy + dz * dz
    foot = -(x * dx + y * dy + z * dz) / length2 if length2 > 0.0 else 0.0
    t = min(max(foot, 0.0), 1.0)
    px, py, pz = x + t * dx, y + t * dy, z + t * dz
    distance2 = px * px + py * py + pz * pz
    if distance2 >= within:
        return math.inf, 0.0, 0.0, 0.0
    if is_inside(px, py, pz, a, b, reach, spherical):
        return distance2, px, py, pz

    low, high = clipped_segment(x, y, z, dx, dy, dz, a, b, reach, spherical)
    if low > high:
        return math.inf, 0.0, 0.0, 0.0
    t = min(max(foot, low), high)
    px, py, pz = x + t * dx, y + t * dy, z + t * dz
    distance2 = px * px + py * py + pz * pz
    return distance2 if distance2 < within else math.inf, px, py, pz


@jit.function
def _between_roots(A: float, B: float, C: float) -> tuple[float, float]:
    """The stretch where A t^2 + B t + C <= 0, for A >= 0."""
    if A == 0.0:
        return (-math.inf, math.inf) if C <= 0.0 else (1.0, 0.0)
    delta = B * B - 4.0 * A * C
    if delta < 0.0:
        return 1.0, 0.0
    return _roots(A, B, delta, C)


@jit.function
def _roots(A: float, B: float, delta: float, C: float) -> tuple[float, float]:
    """Both roots in order, without cancellation: q = -(B + sgn(B) sqrt(delta)) / 2, then q / A and C / q."""
    q = -0.5 * (B + math.copysign(math.sqrt(delta), B))
    if q == 0.0:
        return 0.0, 0.0
    one, other = q / A, C / q
    return min(one, other), max(one, other)
