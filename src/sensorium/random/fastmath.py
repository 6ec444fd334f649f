"""Logarithm, exponential and sine as polynomials the compiler can vectorize; libm calls are not.

Coefficients interpolate the power series at Chebyshev nodes (computed in rational arithmetic for this file). Stated
errors bound the differences from float64 or long double over the whole domain; the tests repeat the search.
"""

import numpy as np

from sensorium.random.exact import bits_of, float_of, fma
from sensorium.runtime import jit

_f32 = np.float32
_i32 = np.int32
_i64 = np.int64

# Bits of sqrt(1/2): subtracting them makes the exponent field round to the nearest power of two
_SQRT_HALF_32 = np.int32(0x3F3504F3)
_SQRT_HALF_64 = np.int64(0x3FE6A09E667F3BCD)
_MANTISSA_32 = np.int32(0x007FFFFF)
_MANTISSA_64 = np.int64(0x000FFFFFFFFFFFFF)

# ln 2 = high + low; the high part has trailing zeros, so exponent * high is exact
_LN2_HIGH_32 = np.float32(0.693359375)
_LN2_LOW_32 = np.float32(-2.12194440e-4)
_LN2_HIGH_64 = 0.6931471803691238
_LN2_LOW_64 = 1.9082149292705877e-10

# Adding 1.5 * 2^23 to a small float32 leaves its nearest integer in the low mantissa bits
_ROUNDER_32 = np.float32(12582912.0)
_LOG2_E_32 = np.float32(1.4426950408889634)
_EXP_LOWEST_32 = np.float32(-87.33)
_EXP_HIGHEST_32 = np.float32(88.37)


@jit.inlined
def log_f32(x: np.float32) -> np.float32:
    """Natural logarithm of a positive, normal, finite float32; relative error below 1.2e-7, log(1) = 0."""
    # x = 2^exponent (1 + f) with 1 + f in [sqrt(1/2), sqrt(2))
    shifted = _i32(bits_of(x) - _SQRT_HALF_32)
    exponent = _f32(_i32(shifted >> _i32(23)))
    f = float_of(_i32((shifted & _MANTISSA_32) + _SQRT_HALF_32)) - _f32(1.0)

    # ln(1 + f) = f - f^2 / 2 + f^3 P(f)
    p = fma(f, _f32(-0.07902744), _f32(0.12622319))
    p = fma(f, p, _f32(-0.12998183))
    p = fma(f, p, _f32(0.14214496))
    p = fma(f, p, _f32(-0.16641282))
    p = fma(f, p, _f32(0.20001045))
    p = fma(f, p, _f32(-0.25000307))
    p = fma(f, p, _f32(0.3333333))
    p = fma(f, p, _f32(-0.5))
    tail = fma(f * f, p, exponent * _LN2_LOW_32)
    return fma(exponent, _LN2_HIGH_32, f + tail)


@jit.inlined
def exp_f32(x: np.float32) -> np.float32:
    """Exponential in float32; relative error below 1.2e-7. 0 below -87.33, inf above 88.37, NaN for NaN."""
    # x = n ln 2 + r with |r| <= ln(2) / 2
    rounded = fma(x, _LOG2_E_32, _ROUNDER_32)
    n = rounded - _ROUNDER_32
    r = fma(n, -_LN2_LOW_32, fma(n, -_LN2_HIGH_32, x))

    # e^r = 1 + r + r^2 P(r), then 2^n through the exponent bits
    p = fma(r, _f32(0.0013926182), _f32(0.008363178))
    p = fma(r, p, _f32(0.041666556))
    p = fma(r, p, _f32(0.16666576))
    p = fma(r, p, _f32(0.5))
    power = float_of(_i32((bits_of(rounded) << _i32(23)) + _i32(0x3F800000)))
    y = fma(r * r, p, r)
    y = fma(y, power, power)

    # Outside the range the exponent bits mean nothing
    y = _f32(0.0) if x < _EXP_LOWEST_32 else y
    return _f32(np.inf) if x > _EXP_HIGHEST_32 else y


@jit.inlined
def cos_sin_pi_f32(a: np.float32) -> tuple[np.float32, np.float32]:
    """cos(pi a) and sin(pi a) in float32 for a in [-1, 1]; absolute error below 1.6e-7."""
    half = _f32(0.5)
    size = abs(a)
    sine = _sin_pi_f32(half - abs(size - half))
    return _sin_pi_f32(half - size), -sine if a < _f32(0.0) else sine


@jit.inlined
def _sin_pi_f32(y: np.float32) -> np.float32:
    """sin(pi y) for |y| <= 1/2."""
    z = y * y
    p = fma(z, _f32(0.07765591), _f32(-0.5982904))
    p = fma(z, p, _f32(2.5500774))
    p = fma(z, p, _f32(-5.1677103))
    p = fma(z, p, _f32(3.1415927))
    return y * p


@jit.inlined
def log_f64(x: float) -> float:
    """Natural logarithm of a positive, normal, finite float64; relative error below 2.3e-16, log(1) = 0."""
    # x = 2^exponent (1 + f) with 1 + f in [sqrt(1/2), sqrt(2))
    shifted = bits_of(x) - _SQRT_HALF_64
    exponent = np.float64(_i32(shifted >> _i64(52)))
    f = float_of((shifted & _MANTISSA_64) + _SQRT_HALF_64) - 1.0

    # ln(1 + f) = 2 atanh(s) = f - s (f - s^2 P(s^2)), s = f / (2 + f)
    s = f / (2.0 + f)
    z = s * s
    p = fma(z, 0.14616576421644387, 0.15331711346672997)
    p = fma(z, p, 0.18182889433757515)
    p = fma(z, p, 0.22222211130560726)
    p = fma(z, p, 0.28571428626001427)
    p = fma(z, p, 0.3999999999989945)
    p = fma(z, p, 0.666666666666667)
    tail = fma(-s, fma(-z, p, f), exponent * _LN2_LOW_64)
    return fma(exponent, _LN2_HIGH_64, f + tail)


@jit.inlined
def cos_sin_pi_f64(a: float) -> tuple[float, float]:
    """cos(pi a) and sin(pi a) for a in [-1, 1]; absolute error below 3e-16."""
    size = abs(a)
    sine = _sin_pi_f64(0.5 - abs(size - 0.5))
    return _sin_pi_f64(0.5 - size), -sine if a < 0.0 else sine


@jit.inlined
def _sin_pi_f64(y: float) -> float:
    """sin(pi y) for |y| <= 1/2."""
    z = y * y
    p = fma(z, 7.697826768224191e-07, -2.1903497074626018e-05)
    p = fma(z, p, 0.0004662998161898394)
    p = fma(z, p, -0.007370430505916944)
    p = fma(z, p, 0.0821458865731029)
    p = fma(z, p, -0.5992645293189447)
    p = fma(z, p, 2.5501640398773007)
    p = fma(z, p, -5.167712780049969)
    p = fma(z, p, 3.141592653589793)
    return y * p
