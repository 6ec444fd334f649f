"""From random words to uniform, normal and exponential numbers; each takes a fixed number of words.

float32 for fused kernels (one word a number), float64 for array code (two words a number).
"""

import math

import numpy as np

from sensorium.random.exact import float_of
from sensorium.random.fastmath import cos_sin_pi_f32, cos_sin_pi_f64, log_f32, log_f64
from sensorium.runtime import jit

_f32 = np.float32
_u32 = np.uint32
_u64 = np.uint64

# Exponent bits of [1, 2) and [2, 4): or-ing mantissa bits in makes a float without a conversion
_ONE_32 = np.uint32(0x3F800000)
_ONE_64 = np.uint64(0x3FF0000000000000)
_TWO_64 = np.uint64(0x4000000000000000)
_BELOW_ONE_32 = np.float32(1.0 - 2.0**-24)
_BELOW_ONE_64 = 1.0 - 2.0**-53
_TWO_POW_MINUS_31 = np.float32(2.0**-31)


@jit.inlined
def uniform_f32(word: np.uint32) -> np.float32:
    """Uniform in the open (0, 1): one of the 2^23 odd multiples of 2^-24, mean exactly 1/2."""
    return float_of(_u32((word >> _u32(9)) | _ONE_32)) - _BELOW_ONE_32


@jit.inlined
def uniform_f64(high: np.uint32, low: np.uint32) -> float:
    """Uniform in the open (0, 1): one of the 2^52 odd multiples of 2^-53, mean exactly 1/2."""
    return float_of(_mantissa_f64(high, low) | _ONE_64) - _BELOW_ONE_64


@jit.inlined
def normal_pair_f32(word_radius: np.uint32, word_angle: np.uint32) -> tuple[np.float32, np.float32]:
    """Two independent standard normals by Box-Muller: sqrt(-2 ln u) (cos, sin)(pi a), u in (0, 1], |a| <= 1.

    u has 31 bits, so the tails end at 6.66. Absolute error below 1e-6 where the radius exceeds 0.1 (99.5 %);
    nearer to zero the rounding of u near 1 leaves the radius on a grid of step 6e-8 / radius.
    """
    radius = math.sqrt(_f32(-2.0) * log_f32(_fine_uniform_f32(word_radius)))
    cosine, sine = cos_sin_pi_f32(_f32(np.int32(word_angle)) * _TWO_POW_MINUS_31)
    return _f32(radius * cosine), _f32(radius * sine)


@jit.inlined
def normal_pair_f64(w0: np.uint32, w1: np.uint32, w2: np.uint32, w3: np.uint32) -> tuple[float, float]:
    """Two independent standard normals by Box-Muller from all four words of a draw; the tails end at 8.57."""
    radius = math.sqrt(-2.0 * log_f64(uniform_f64(w0, w1)))
    cosine, sine = cos_sin_pi_f64(float_of(_mantissa_f64(w2, w3) | _TWO_64) - 3.0)
    return radius * cosine, radius * sine


@jit.inlined
def exponential_f32(word: np.uint32) -> np.float32:
    """Exponential of mean 1, -ln u: from 6e-8 (its smallest step) to 22.2."""
    return -log_f32(min(_fine_uniform_f32(word), _BELOW_ONE_32))


@jit.inlined
def exponential_f64(high: np.uint32, low: np.uint32) -> float:
    """Exponential of mean 1, -ln u: from 1.1e-16 (its smallest step) to 36.7."""
    return -log_f64(uniform_f64(high, low))


@jit.inlined
def _fine_uniform_f32(word: np.uint32) -> np.float32:
    """Uniform in (0, 1] from 31 bits, at least 2^-32: finer near 0 than `uniform_f32`, can round to 1."""
    return _f32((_f32(np.int32(word >> _u32(1))) + _f32(0.5)) * _TWO_POW_MINUS_31)


@jit.inlined
def _mantissa_f64(high: np.uint32, low: np.uint32) -> np.uint64:
    """The top 52 of 64 random bits."""
    return (_u64(high) << _u64(20)) | (_u64(low) >> _u64(12))
