"""Sums of solid spherical harmonics outside a sphere, in Cartesian coordinates, without a singularity at the poles.

With R the radius of reference, r the distance, phi the latitude and lambda the longitude of a point,

    S_nm = (R/r)^(n+1) P_nm(sin phi) e^(i m lambda),    0 <= m <= n,

P_nm unnormalized and without the phase (-1)^m. They follow from S_00 = R/r by Cunningham's recurrences (Celestial
Mechanics 2, 1970; Montenbruck and Gill, Satellite Orbits, equations 3.29 to 3.31),

    S_mm = (2m - 1) (x + iy) R/r^2 S_m-1,m-1
    S_nm = (2n - 1)/(n - m) z R/r^2 S_n-1,m - (n + m - 1)/(n - m) R^2/r^2 S_n-2,m

and the gradient of a harmonic of degree n consists of harmonics of degree n + 1 (there, equation 3.33). So a potential,
its field and the field's gradient are all real parts of sums c_nm S_nm, each with its own coefficients: the harmonics
are computed once for each point, and the rest is a product of matrices.

A set of coefficients is a complex array of shape (degree + 1, degree + 1), in which those with m > n are 0.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.core.rotations import Float
from sensorium.runtime import jit, worker_pool

Coefficients = NDArray[np.complex128]

# With fewer points than this the calling thread sums alone
_SERIAL_POINTS = 256


def from_schmidt(g: Float, h: Float) -> Coefficients:
    """Coefficients of the potential sum (R/r)^(n+1) (g_nm cos m lambda + h_nm sin m lambda) P_nm(sin phi).

    Args:
        g: Of the cosines, for Schmidt's semi-normalized functions P_nm as geomagnetism uses them, in any unit, shape
            (degree + 1, degree + 1).
        h: Of the sines, likewise.
    """
    norm = np.zeros(g.shape, np.complex128)
    for n in range(len(g)):
        for m in range(n + 1):
            norm[n, m] = math.sqrt((1 if m == 0 else 2) * math.factorial(n - m) / math.factorial(n + m))
    return norm * (g - 1j * h)


def slopes(c: Coefficients) -> NDArray[np.complex128]:
    """Coefficients of the derivatives by x, y and z, in the unit of c over R, shape (3, degree + 2, degree + 2)."""
    degree = len(c) - 1
    out = np.zeros((3, degree + 2, degree + 2), np.complex128)
    for n in range(degree + 1):
        for m in range(n + 1):
            # The sine of order 0 is 0 everywhere, and so is the term of its coefficient
            one = c[n, m] if m else c[n, 0].real
            up = one / 2.0 if m else one
            out[0, n + 1, m + 1] -= up
            out[1, n + 1, m + 1] += 1j * up
            out[2, n + 1, m] -= (n - m + 1) * one
            if m:
                down = (n - m + 1) * (n - m + 2) * one / 2.0
                out[0, n + 1, m - 1] += down
                out[1, n + 1, m - 1] += 1j * down
    return out


def packed(c: NDArray[np.complex128]) -> Float:
    """Sets of coefficients as `summed` wants them: real and imaginary part, order by order, shape (harmonics, 2, sets).

    Args:
        c: Shape (sets, degree + 1, degree + 1).
    """
    m, n = np.triu_indices(c.shape[-1])
    return np.ascontiguousarray(np.stack([c[:, n, m].T.real, c[:, n, m].T.imag], axis=1))


def summed(rows: Float, p: Float, radius: float) -> Float:
    """The real parts of sums c_nm S_nm at points.

    Args:
        rows: Sets of coefficients, from `packed`.
        p: Points, not the origin, in the unit of the radius, shape (points, 3).
        radius: The radius R of reference.

    Returns:
        Shape (points, sets).
    """
    out = np.zeros((len(p), rows.shape[2]))
    orders = (math.isqrt(8 * len(rows) + 1) - 1) // 2
    worker_pool.run(sum_harmonics, len(p), orders, rows, p, radius, out, serial_below=_SERIAL_POINTS)
    return out


@jit.kernel
def sum_harmonics(
    first: int, step: int, count: int, orders: int, rows: Float, p: Float, radius: float, out: Float
) -> None:
    """Sum at the points first, first + step, ...

    Args:
        first: First point.
        step: Points from one to the next.
        count: Number of points.
        orders: How many orders m there are, degree + 1.
        rows: Sets of coefficients, float64 (harmonics, 2, sets).
        p: Points, float64 (points, 3).
        radius: The radius R of reference, in the unit of p.
        out: Zeros, to which the sums are added, (points, sets).
    """
    sets = rows.shape[2]
    for i in range(first, count, step):
        inverse = radius / (p[i, 0] * p[i, 0] + p[i, 1] * p[i, 1] + p[i, 2] * p[i, 2])
        x, y, z, square = p[i, 0] * inverse, p[i, 1] * inverse, p[i, 2] * inverse, radius * inverse

        # S_mm, the start of a column of rising n; the harmonic above the top of a column is 0
        top_re, top_im = math.sqrt(square), 0.0
        at = 0
        for m in range(orders):
            re, im, before_re, before_im = top_re, top_im, 0.0, 0.0
            for n in range(m, orders):
                for s in range(sets):
                    out[i, s] += rows[at, 0, s] * re - rows[at, 1, s] * im
                at += 1

                # The next degree of this order
                a, b = (2 * n + 1) * z / (n + 1 - m), (n + m) * square / (n + 1 - m)
                re, before_re = a * re - b * before_re, re
                im, before_im = a * im - b * before_im, im
            top_re, top_im = (2 * m + 1) * (x * top_re - y * top_im), (2 * m + 1) * (x * top_im + y * top_re)
