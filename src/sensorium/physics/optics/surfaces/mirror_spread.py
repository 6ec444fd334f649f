"""Divergence of light after reflection by a curved mirror.

Rays of a narrow pencil that leave one point under small angles a are displaced by B a across the pencil after some way,
B being 2 x 2. A target collects light from a point, and a point from a target, under a solid angle that goes as
1 / |det B|: the target returns as much as one that is seen directly at the distance

    z_eff = sqrt(|det B|)

Along a reduced path s, B grows to (1 + s C) B and the wavefront's curvature C = B' B^-1 falls to C (1 + s C)^-1; a
point source starts with B = z, C = 1 / z. A mirror with the curvature tensor K (positive where it bulges towards the
light) adds to C, in the axes along and across the plane of incidence,

    dC = [[2 Kxx / cos(theta), 2 Kxy], [2 Kxy, 2 Kyy cos(theta)]]

which are Coddington's equations for a mirror (Born and Wolf, "Principles of Optics", section 4.6), 1/f = 2/R at normal
incidence. After one mirror at z1 and the way s behind it z_eff = sqrt(|det((z1 + s) + z1 s dC)|), on a sphere at normal
incidence z1 + s + 2 z1 s / R. In a medium lengths are reduced, d / n, and so dC is n times that.

Curvatures are three numbers, 11, 12, 22, in the axes of `axes_across` a ray; kernels call these functions.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from sensorium.physics.optics.checks import Array, checked, checked_cosine
from sensorium.runtime import jit

Three = tuple[float, float, float]
"""A vector x, y, z, or a curvature 11, 12, 22."""

# At a focus the curvature is infinite and the pencil a point: neither exceeds this share of its initial value
_LEAST_SPREAD = 1e-9


@jit.inlined
def axes_across(x: float, y: float, z: float) -> tuple[float, float, float, float, float, float]:
    """Two unit vectors across a unit vector, without a pole: Duff et al., "Building an orthonormal basis" (2017)."""
    sign = 1.0 if z >= 0.0 else -1.0
    p = -1.0 / (sign + z)
    q = x * y * p
    return 1.0 + sign * x * x * p, sign * q, -sign * x, q, sign + y * y * p, -y


@jit.inlined
def spread_along(c11: float, c12: float, c22: float, s: float) -> float:
    """det(1 + s C): how much a pencil's section grows over the reduced path s [m] from where its curvature is C."""
    return 1.0 + s * (c11 + c22) + s * s * (c11 * c22 - c12 * c12)


@jit.inlined
def curvature_along(c11: float, c12: float, c22: float, s: float) -> tuple[float, float, float]:
    """C (1 + s C)^-1 = (C + s det C) / det(1 + s C) [1/m]."""
    spread = spread_along(c11, c12, c22, s)
    if abs(spread) < _LEAST_SPREAD:
        spread = _LEAST_SPREAD if spread >= 0.0 else -_LEAST_SPREAD
    rest = s * (c11 * c22 - c12 * c12)
    return (c11 + rest) / spread, c12 / spread, (c22 + rest) / spread


@jit.inlined
def curvature_mirrored(c: Three, d: Three, n: Three, k: Three, per_length: float) -> Three:
    """Curvature of a wavefront after a mirror [1/m], in the axes across the mirrored ray.

    Args:
        c: Before, 11, 12 and 22 in the axes across the ray.
        d: Unit direction of the ray, x, y, z.
        n: Unit normal of the mirror, on either side.
        k: Curvature of the mirror [1/m], in the axes across that normal; positive where it bulges towards the light.
        per_length: Weight of a meter in the path, 1/n for the reduced path.
    """
    (c11, c12, c22), (dx, dy, dz), (nx, ny, nz), (k11, k12, k22) = c, d, n, k
    along = dx * nx + dy * ny + dz * nz
    if abs(along) < 1e-4:
        along = -1e-4 if along <= 0.0 else 1e-4
    rx, ry, rz = dx - 2.0 * along * nx, dy - 2.0 * along * ny, dz - 2.0 * along * nz
    scale = 1.0 / math.sqrt(rx * rx + ry * ry + rz * rz)
    rx, ry, rz = rx * scale, ry * scale, rz * scale
    ax, ay, az, bx, by, bz = axes_across(dx, dy, dz)
    ux, uy, uz, vx, vy, vz = axes_across(rx, ry, rz)
    ex, ey, ez, fx, fy, fz = axes_across(nx, ny, nz)

    # Axes across the mirrored ray, as the mirror shows them: in those of the ray that came
    un, vn = ux * nx + uy * ny + uz * nz, vx * nx + vy * ny + vz * nz
    mx, my, mz = ux - 2.0 * un * nx, uy - 2.0 * un * ny, uz - 2.0 * un * nz
    wx, wy, wz = vx - 2.0 * vn * nx, vy - 2.0 * vn * ny, vz - 2.0 * vn * nz
    u1, u2 = mx * ax + my * ay + mz * az, mx * bx + my * by + mz * bz
    v1, v2 = wx * ax + wy * ay + wz * az, wx * bx + wy * by + wz * bz

    # The same axes, projected along the ray onto the mirror: hit points of rays that far apart
    shift_u, shift_v = un / along, vn / along
    px, py, pz = ux + shift_u * rx, uy + shift_u * ry, uz + shift_u * rz
    qx, qy, qz = vx + shift_v * rx, vy + shift_v * ry, vz + shift_v * rz
    p1, p2 = px * ex + py * ey + pz * ez, px * fx + py * fy + pz * fz
    q1, q2 = qx * ex + qy * ey + qz * ez, qx * fx + qy * fy + qz * fz
    bend = 2.0 * abs(along) / per_length
    return (
        _form(c11, c12, c22, u1, u2, u1, u2) + bend * _form(k11, k12, k22, p1, p2, p1, p2),
        _form(c11, c12, c22, u1, u2, v1, v2) + bend * _form(k11, k12, k22, p1, p2, q1, q2),
        _form(c11, c12, c22, v1, v2, v1, v2) + bend * _form(k11, k12, k22, q1, q2, q1, q2),
    )


@jit.function
def curvature_turned(c: Three, d: Three, r: Three) -> Three:
    """Curvature of a wavefront whose ray was turned from the unit vector d to r, by the shortest turn."""
    (c11, c12, c22), (dx, dy, dz), (rx, ry, rz) = c, d, r
    ax, ay, az, bx, by, bz = axes_across(dx, dy, dz)
    ux, uy, uz, vx, vy, vz = axes_across(rx, ry, rz)
    wx, wy, wz = dy * rz - dz * ry, dz * rx - dx * rz, dx * ry - dy * rx
    share = 1.0 / max(1.0 + dx * rx + dy * ry + dz * rz, 1e-9)
    ux, uy, uz = _turned_back(ux, uy, uz, wx, wy, wz, share)
    vx, vy, vz = _turned_back(vx, vy, vz, wx, wy, wz, share)
    u1, u2 = ux * ax + uy * ay + uz * az, ux * bx + uy * by + uz * bz
    v1, v2 = vx * ax + vy * ay + vz * az, vx * bx + vy * by + vz * bz
    return (
        _form(c11, c12, c22, u1, u2, u1, u2),
        _form(c11, c12, c22, u1, u2, v1, v2),
        _form(c11, c12, c22, v1, v2, v1, v2),
    )


@jit.function
def _turned_back(
    x: float, y: float, z: float, wx: float, wy: float, wz: float, share: float
) -> tuple[float, float, float]:
    """V - w x v + w x (w x v) / (1 + d.r), for w = d x r: the turn from r back to d."""
    cx, cy, cz = wy * z - wz * y, wz * x - wx * z, wx * y - wy * x
    return (
        x - cx + share * (wy * cz - wz * cy),
        y - cy + share * (wz * cx - wx * cz),
        z - cz + share * (wx * cy - wy * cx),
    )


@jit.inlined
def _form(c11: float, c12: float, c22: float, u1: float, u2: float, v1: float, v2: float) -> float:
    """U . C v."""
    return u1 * (c11 * v1 + c12 * v2) + u2 * (c12 * v1 + c22 * v2)


def mirrored_distance(
    before_m: ArrayLike,
    after_m: ArrayLike,
    *,
    cos_theta: ArrayLike = 1.0,
    along_per_m: ArrayLike = 0.0,
    across_per_m: ArrayLike = 0.0,
    mixed_per_m: ArrayLike = 0.0,
) -> Array:
    """Distance z_eff [m] from which a target seen directly would return as much as by a curved mirror.

    Args:
        before_m: Reduced path z1 from the sensor to the mirror [m], >= 0.
        after_m: Reduced path s from the mirror to the target [m], >= 0.
        cos_theta: Cosine of the angle of incidence on the mirror, in [0, 1]; at least 1e-4 counts.
        along_per_m: Curvature Kxx of the mirror in the plane of incidence [1/m]: 1/R on a sphere, below 0 for a concave
            mirror.
        across_per_m: Curvature Kyy across it.
        mixed_per_m: Kxy.
    """
    z1, s = checked("before_m", before_m, at_least=0.0), checked("after_m", after_m, at_least=0.0)
    c = np.maximum(checked_cosine("cos_theta", cos_theta), 1e-4)
    xx, yy = 2.0 * checked("along_per_m", along_per_m) / c, 2.0 * checked("across_per_m", across_per_m) * c
    xy = 2.0 * checked("mixed_per_m", mixed_per_m)
    z, product = z1 + s, z1 * s
    return np.sqrt(np.abs((z + product * xx) * (z + product * yy) - np.square(product * xy)))
