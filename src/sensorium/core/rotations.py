"""Arrays of vectors (..., 3) and of quaternions w x y z (..., 4): the arithmetic under `Pose`.

All operations are elementwise, without sums by BLAS or `np.sum`, whose last bits depend on the shape: a row of a batch
has the same bits as alone. On the few bodies of one simulation step the number of NumPy calls dominates the time:
products are gathered by constant index tables.
"""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

Float = NDArray[np.float64]

# times a quaternion, elementwise: its inverse, if it is a unit quaternion
CONJUGATE = np.array([1.0, -1.0, -1.0, -1.0])

_NEXT, _AFTER = np.array([1, 2, 0]), np.array([2, 0, 1])

# (a b)_k = sum over i of a_i sign[i, k] b[index[i, k]]
_PRODUCT_INDEX = np.array([0, 1, 2, 3, 1, 0, 3, 2, 2, 3, 0, 1, 3, 2, 1, 0])
_PRODUCT_SIGN = np.array([1.0, 1, 1, 1, -1, 1, -1, 1, -1, 1, 1, -1, -1, -1, 1, 1])

# R = I + 2 (sign1 q[i1] q[j1] + sign2 q[i2] q[j2]), by rows: 1 - 2 (yy + zz), 2 (xy - wz), ...
_ROTATION_I = np.array([2, 1, 1, 1, 1, 2, 1, 2, 1, 3, 0, 0, 0, 3, 0, 0, 0, 2])
_ROTATION_J = np.array([2, 2, 3, 2, 1, 3, 3, 3, 1, 3, 3, 2, 3, 3, 1, 2, 1, 2])
_ROTATION_SIGN = 2.0 * np.array([-1.0, 1, 1, 1, -1, 1, 1, 1, -1, -1, -1, 1, 1, -1, -1, -1, 1, -1])
_IDENTITY = np.eye(3).ravel()

# below this angle [rad] the coefficients of the Jacobian come from their series; both branches hold to 1e-14
_SERIES_ANGLE = 0.3


def cross(a: Float, b: Float) -> Float:
    """Cross product of vectors (..., 3), several times quicker than `np.cross` on short arrays."""
    return a.take(_NEXT, axis=-1) * b.take(_AFTER, axis=-1) - a.take(_AFTER, axis=-1) * b.take(_NEXT, axis=-1)


def dot(a: Float, b: Float) -> Float:
    """Dot product over the last axis, added from left to right."""
    product = a * b
    total = product[..., 0]
    for i in range(1, product.shape[-1]):
        total = total + product[..., i]
    return np.asarray(total)


def unit(v: Float) -> Float:
    """Vectors divided by their length, without overflow or underflow on the way; none may be zero."""
    scaled = v / np.max(np.abs(v), axis=-1, keepdims=True)
    return scaled / np.sqrt(dot(scaled, scaled))[..., None]


def rotate(rotation: Float, v: Float) -> Float:
    """R v for shapes (..., 3, 3) and (..., 3)."""
    if rotation.ndim > 2:
        product = rotation * v[..., None, :]
        return product[..., 0] + product[..., 1] + product[..., 2]

    # One rotation for many vectors: column by column, without a product array of nine numbers a vector
    x, y, z = v[..., 0], v[..., 1], v[..., 2]
    out = np.empty(v.shape)
    for i in range(3):
        out[..., i] = rotation[i, 0] * x + rotation[i, 1] * y + rotation[i, 2] * z
    return out


def multiply(a: Float, b: Float) -> Float:
    """Quaternion product a b, shapes (..., 4). Lengths drift by about an ulp a product."""
    terms = (b.take(_PRODUCT_INDEX, axis=-1) * _PRODUCT_SIGN).reshape(*b.shape[:-1], 4, 4) * a[..., None]
    return terms[..., 0, :] + terms[..., 1, :] + terms[..., 2, :] + terms[..., 3, :]


def normalize(q: Float) -> Float:
    """Unit quaternions; one that is unit to rounding is not changed: stored poses reload bit for bit."""
    if np.any(np.all(q == 0.0, axis=-1)):
        raise SpecError("quaternion is (0, 0, 0, 0); it must have a length")
    with np.errstate(over="ignore"):
        is_unit = np.abs(dot(q, q) - 1.0)[..., None] < 1e-15
    return q if np.all(is_unit) else np.where(is_unit, q, unit(q))


def quaternion_exp(phi: Float) -> Float:
    """Unit quaternions w x y z (..., 4) of rotation vectors phi [rad] (..., 3)."""
    half = 0.5 * np.sqrt(dot(phi, phi))
    scale = np.divide(np.sin(half), half + half, out=np.full(half.shape, 0.5), where=half > 0.0)
    out = np.empty((*half.shape, 4))
    out[..., 0] = np.cos(half)
    out[..., 1:] = scale[..., None] * phi
    return out


def quaternion_log(q: Float) -> Float:
    """Rotation vectors phi [rad] (..., 3), |phi| <= pi, of unit quaternions w x y z (..., 4)."""
    # The angle, 2 atan2(|v|, |w|), is exact near 0 and near pi; the sign of w gives the short way
    w, v = q[..., 0], q[..., 1:]
    sine = np.sqrt(dot(v, v))
    half = np.arctan2(sine, np.abs(w))
    scale = np.divide(half + half, sine, out=np.full(half.shape, 2.0), where=sine > 0.0)
    return np.where(w < 0.0, -scale, scale)[..., None] * v


def jacobian_times(phi: Float, v: Float) -> Float:
    """V v, with V = I + (1 - cos t) / t^2 phi^ + (t - sin t) / t^3 phi^ phi^ and t = |phi|.

    V is the left Jacobian of rotation vectors, exp((phi + d)^) = exp((V d)^) exp(phi^) to first order in d:
    a rotation vector phi(t) turns at the angular velocity V phi' in the fixed axes.
    """
    angle2 = dot(phi, phi)[..., None]
    angle = np.sqrt(angle2)
    near = angle < _SERIES_ANGLE
    safe = np.where(near, 1.0, angle)
    half_sine = np.sin(0.5 * safe)
    b_series = 1 / 2 - angle2 * (1 / 24 - angle2 * (1 / 720 - angle2 * (1 / 40320 - angle2 / 3628800)))
    c_series = 1 / 6 - angle2 * (1 / 120 - angle2 * (1 / 5040 - angle2 * (1 / 362880 - angle2 / 39916800)))
    b = np.where(near, b_series, 2.0 * half_sine * half_sine / (safe * safe))
    c = np.where(near, c_series, (safe - np.sin(safe)) / (safe * safe * safe))
    turned = cross(phi, v)
    return v + b * turned + c * cross(phi, turned)


def jacobian_inverse_times(phi: Float, v: Float) -> Float:
    """V^-1 v, with V^-1 = I - phi^ / 2 + (1 - (t/2) cot(t/2)) / t^2 phi^ phi^ and t = |phi| < 2 pi."""
    angle2 = dot(phi, phi)[..., None]
    near = angle2 < _SERIES_ANGLE**2
    safe2 = np.where(near, 1.0, angle2)
    half = 0.5 * np.sqrt(safe2)
    series = 1 / 12 + angle2 * (1 / 720 + angle2 * (1 / 30240 + angle2 * (1 / 1209600 + angle2 / 47900160)))
    c = np.where(near, series, (1.0 - half * np.cos(half) / np.sin(half)) / safe2)
    turned = cross(phi, v)
    return v - 0.5 * turned + c * cross(phi, turned)


def rotation_from_quaternion(q: Float) -> Float:
    """Rotation matrices (..., 3, 3) of unit quaternions (..., 4)."""
    terms = q.take(_ROTATION_I, axis=-1) * q.take(_ROTATION_J, axis=-1) * _ROTATION_SIGN
    return (_IDENTITY + (terms[..., :9] + terms[..., 9:])).reshape(*q.shape[:-1], 3, 3)


def quaternion_from_rotation(r: Float) -> Float:
    """Unit quaternions (..., 4) of rotation matrices (..., 3, 3), from the longest column of 4 q q^T."""
    r00, r11, r22 = r[..., 0, 0], r[..., 1, 1], r[..., 2, 2]
    wx, wy, wz = r[..., 2, 1] - r[..., 1, 2], r[..., 0, 2] - r[..., 2, 0], r[..., 1, 0] - r[..., 0, 1]
    xy, xz, yz = r[..., 0, 1] + r[..., 1, 0], r[..., 0, 2] + r[..., 2, 0], r[..., 1, 2] + r[..., 2, 1]
    ww, xx, yy, zz = 1 + r00 + r11 + r22, 1 + r00 - r11 - r22, 1 - r00 + r11 - r22, 1 - r00 - r11 + r22
    columns = np.stack([ww, wx, wy, wz, wx, xx, xy, xz, wy, xy, yy, yz, wz, xz, yz, zz], axis=-1)
    columns = columns.reshape(*r.shape[:-2], 4, 4)
    best = np.argmax(np.stack([ww, xx, yy, zz], axis=-1), axis=-1)
    return unit(np.take_along_axis(columns, best[..., None, None], axis=-2)[..., 0, :])
