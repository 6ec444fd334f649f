"""Lenses inside kernels, one for each head: directions of image points, and projections of points.

The same models as `patterns.Pinhole` and `patterns.Fisheye`, for cameras with random lenses: one row of numbers per
lens, so that a thousand cameras need no tables of rays. Directions are float32, accurate to 3e-7 rad.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sensorium.patterns import Fisheye, Pinhole
from sensorium.physics.optics.lenses.brown_folds import unfolded_radius
from sensorium.physics.optics.lenses.kannala_brandt import turning_angle
from sensorium.random import cos_sin_pi_f32
from sensorium.runtime import jit

# columns of a lens: its kind, focal lengths and principal point [px], up to five coefficients, and how far from the
# axis it folds nowhere: a tangent, or an angle [rad] of a fisheye
KIND, FX, FY, CX, CY, K1 = range(6)
UNFOLDED = K1 + 5
LENS_COLUMNS = 11

# kinds
PINHOLE, BROWN, FISHEYE = 0.0, 1.0, 2.0

# Newton steps from the distorted point: six are enough for lenses that bend by half, ten for most. Points that they do
# not find, or find beyond a fold, are continued from the axis in this many steps; angles of a fisheye by bisection
_STEPS = 10
_PARTS, _STEPS_OF_A_PART, _HALVINGS = 256, 3, 40

# How far Newton's method may end from the point [1]
_CLOSE = np.float32(1e-5)

_ZERO, _ONE, _TWO, _THREE = np.float32(0.0), np.float32(1.0), np.float32(2.0), np.float32(3.0)
_PER_PI, _PI = np.float32(1.0 / math.pi), np.float32(math.pi)


def lens_row(pattern: Pinhole | Fisheye) -> NDArray[np.float64]:
    """The numbers of a lens, shape (LENS_COLUMNS,)."""
    row = np.zeros(LENS_COLUMNS)
    distorted = any(pattern.distortion)
    row[KIND] = FISHEYE if isinstance(pattern, Fisheye) else BROWN if distorted else PINHOLE
    row[FX], row[FY], row[CX], row[CY] = *pattern.focal_px, *pattern.center
    row[K1 : K1 + len(pattern.distortion)] = pattern.distortion
    row[UNFOLDED] = math.inf
    if distorted and isinstance(pattern, Fisheye):
        row[UNFOLDED] = min(turning_angle(pattern.distortion), math.pi)
    elif distorted:
        row[UNFOLDED] = unfolded_radius(pattern.distortion)
    return row


@jit.function
def look_block(u, v, lens, used, x, y, z):
    """Unit directions in S (x forward, y left, z up) of image points, into x, y, z.

    Args:
        u, v: Image points [px], float32 (used,).
        lens: Row of a lens, float64.
        used: How many.
        x, y, z: Filled, float32.
    """
    cx, cy = np.float32(lens[CX]), np.float32(lens[CY])
    per_fx, per_fy = np.float32(1.0 / lens[FX]), np.float32(1.0 / lens[FY])

    # Image coordinates to the right and down
    for k in range(used):
        y[k] = (u[k] - cx) * per_fx
        z[k] = (v[k] - cy) * per_fy
    if lens[KIND] == FISHEYE:
        _spread_fisheye(lens, used, x, y, z)
        return
    if lens[KIND] == BROWN:
        _undo_brown(lens, used, y, z)
    for k in range(used):
        scale = _ONE / math.sqrt(_ONE + y[k] * y[k] + z[k] * z[k])
        x[k], y[k], z[k] = scale, -y[k] * scale, -z[k] * scale


@jit.function
def _undo_brown(lens, used, x, y):
    """Ideal coordinates of distorted ones, in place, by Newton's method; see `optics.brown`."""
    k1, k2, k3 = np.float32(lens[K1]), np.float32(lens[K1 + 1]), np.float32(lens[K1 + 4])
    p1, p2 = np.float32(lens[K1 + 2]), np.float32(lens[K1 + 3])
    six, farthest = np.float32(6.0), np.float32(lens[UNFOLDED]) * np.float32(lens[UNFOLDED])
    for k in range(used):
        wanted_x, wanted_y = x[k], y[k]
        a, b = wanted_x, wanted_y
        for _ in range(_STEPS):
            q = a * a + b * b
            radial = _ONE + q * (k1 + q * (k2 + q * k3))
            slope = _TWO * (k1 + q * (_TWO * k2 + _THREE * q * k3))
            miss_x = a * radial + _TWO * p1 * a * b + p2 * (q + _TWO * a * a) - wanted_x
            miss_y = b * radial + p1 * (q + _TWO * b * b) + _TWO * p2 * a * b - wanted_y
            xx = radial + slope * a * a + _TWO * p1 * b + six * p2 * a
            yy = radial + slope * b * b + six * p1 * b + _TWO * p2 * a
            xy = slope * a * b + _TWO * p1 * a + _TWO * p2 * b
            inverse = _ONE / (xx * yy - xy * xy)
            a -= (yy * miss_x - xy * miss_y) * inverse
            b -= (xx * miss_y - xy * miss_x) * inverse
        close = abs(miss_x) + abs(miss_y) <= _CLOSE * (_ONE + abs(wanted_x) + abs(wanted_y))
        if not (close and a * a + b * b <= farthest):
            a, b = _followed(lens, wanted_x, wanted_y)
        x[k], y[k] = a, b


@jit.function
def _followed(lens, wanted_x, wanted_y):
    """The ideal point of a distorted one, on the branch that holds the axis: see `optics.continued_inverse`."""
    k1, k2, p1, p2, k3 = lens[K1], lens[K1 + 1], lens[K1 + 2], lens[K1 + 3], lens[K1 + 4]
    a = b = 0.0
    for part in range(_PARTS):
        share = (part + 1) / _PARTS
        for _ in range(_STEPS_OF_A_PART):
            q = a * a + b * b
            radial = 1.0 + q * (k1 + q * (k2 + q * k3))
            slope = 2.0 * (k1 + q * (2.0 * k2 + 3.0 * q * k3))
            miss_x = a * radial + 2.0 * p1 * a * b + p2 * (q + 2.0 * a * a) - share * wanted_x
            miss_y = b * radial + p1 * (q + 2.0 * b * b) + 2.0 * p2 * a * b - share * wanted_y
            xx = radial + slope * a * a + 2.0 * p1 * b + 6.0 * p2 * a
            yy = radial + slope * b * b + 6.0 * p1 * b + 2.0 * p2 * a
            xy = slope * a * b + 2.0 * p1 * a + 2.0 * p2 * b
            inverse = 1.0 / (xx * yy - xy * xy)
            a -= (yy * miss_x - xy * miss_y) * inverse
            b -= (xx * miss_y - xy * miss_x) * inverse
    return np.float32(a), np.float32(b)


@jit.function
def _spread_fisheye(lens, used, x, y, z):
    """Directions of image coordinates y, z of a fisheye, in place; the angle by Newton's method."""
    k1, k2, k3, k4 = (
        np.float32(lens[K1]),
        np.float32(lens[K1 + 1]),
        np.float32(lens[K1 + 2]),
        np.float32(lens[K1 + 3]),
    )
    five, seven, nine = np.float32(5.0), np.float32(7.0), np.float32(9.0)
    bends = k1 != _ZERO or k2 != _ZERO or k3 != _ZERO or k4 != _ZERO
    for k in range(used):
        radius = math.sqrt(y[k] * y[k] + z[k] * z[k])
        angle = radius
        if bends:
            for _ in range(_STEPS):
                q = angle * angle
                at = angle * (_ONE + q * (k1 + q * (k2 + q * (k3 + q * k4))))
                slope = _ONE + q * (_THREE * k1 + q * (five * k2 + q * (seven * k3 + q * nine * k4)))
                angle -= (at - radius) / slope
        x[k] = angle
    if bends:
        _mend_angles(lens, used, x, y, z)
    for k in range(used):
        radius = math.sqrt(y[k] * y[k] + z[k] * z[k])
        cosine, sine = cos_sin_pi_f32(min(max(x[k], _ZERO), _PI) * _PER_PI)
        outwards = sine / radius if radius > _ZERO else _ONE
        x[k], y[k], z[k] = cosine, -y[k] * outwards, -z[k] * outwards


@jit.function
def _mend_angles(lens, used, angle, y, z):
    """Angles of a fisheye that Newton's method did not find, or found beyond the fold, in place, by bisection."""
    k1, k2, k3, k4 = (
        np.float32(lens[K1]),
        np.float32(lens[K1 + 1]),
        np.float32(lens[K1 + 2]),
        np.float32(lens[K1 + 3]),
    )
    unfolded = np.float32(lens[UNFOLDED])
    wrong = 0
    for k in range(used):
        q = angle[k] * angle[k]
        at = angle[k] * (_ONE + q * (k1 + q * (k2 + q * (k3 + q * k4))))
        radius = math.sqrt(y[k] * y[k] + z[k] * z[k])
        good = (abs(at - radius) <= _CLOSE * (_ONE + radius)) & (angle[k] <= unfolded) & (angle[k] >= _ZERO)
        wrong += np.int64(not good)
    if wrong == 0:
        return
    for k in range(used):
        q = angle[k] * angle[k]
        at = angle[k] * (_ONE + q * (k1 + q * (k2 + q * (k3 + q * k4))))
        radius = math.sqrt(y[k] * y[k] + z[k] * z[k])
        if not (abs(at - radius) <= _CLOSE * (_ONE + radius) and _ZERO <= angle[k] <= unfolded):
            low, high = 0.0, lens[UNFOLDED]
            for _ in range(_HALVINGS):
                t = 0.5 * (low + high)
                q64 = t * t
                reached = t * (
                    1.0 + q64 * (lens[K1] + q64 * (lens[K1 + 1] + q64 * (lens[K1 + 2] + q64 * lens[K1 + 3])))
                )
                if reached > radius:
                    high = t
                else:
                    low = t
            angle[k] = np.float32(0.5 * (low + high))


@jit.function
def project(lens, x, y, z):
    """Projection (u, v) [px] of a point of S, and whether there is one: none behind a pinhole."""
    kind = lens[KIND]
    if kind == FISHEYE:
        aside = math.sqrt(y * y + z * z)
        angle = math.atan2(aside, x)
        q = angle * angle
        radius = angle * (1.0 + q * (lens[K1] + q * (lens[K1 + 1] + q * (lens[K1 + 2] + q * lens[K1 + 3]))))
        outwards = radius / aside if aside > 0.0 else 0.0
        return lens[CX] - lens[FX] * y * outwards, lens[CY] - lens[FY] * z * outwards, True
    if x <= 0.0:
        return 0.0, 0.0, False
    a, b = -y / x, -z / x
    if kind == BROWN:
        q = a * a + b * b
        radial = 1.0 + q * (lens[K1] + q * (lens[K1 + 1] + q * lens[K1 + 4]))
        p1, p2 = lens[K1 + 2], lens[K1 + 3]
        a, b = (
            a * radial + 2.0 * p1 * a * b + p2 * (q + 2.0 * a * a),
            b * radial + p1 * (q + 2.0 * b * b) + 2.0 * p2 * a * b,
        )
    return lens[CX] + lens[FX] * a, lens[CY] + lens[FY] * b, True
