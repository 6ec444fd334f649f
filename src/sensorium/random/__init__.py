"""Counter-based randomness: Philox words, transforms with a fixed number of draws, named streams.

Array code uses `Stream`; fused kernels take `Stream.key`, call `draw_words` and a transform, and get the same
bits.
"""

from sensorium.random.fastmath import cos_sin_pi_f32, cos_sin_pi_f64, exp_f32, log_f32, log_f64
from sensorium.random.heavy_tails import johnson_f32, johnson_numbers
from sensorium.random.incomplete_gamma import gamma_tails, poisson_weight
from sensorium.random.philox import counter_words, draw_words, philox
from sensorium.random.quantiles import gamma_quantile, normal_quantile, poisson_quantile
from sensorium.random.streams import Stream, stream_key
from sensorium.random.transforms import (
    exponential_f32,
    exponential_f64,
    normal_pair_f32,
    normal_pair_f64,
    uniform_f32,
    uniform_f64,
)

__all__ = [
    "Stream",
    "cos_sin_pi_f32",
    "cos_sin_pi_f64",
    "counter_words",
    "draw_words",
    "exp_f32",
    "exponential_f32",
    "exponential_f64",
    "gamma_quantile",
    "gamma_tails",
    "johnson_f32",
    "johnson_numbers",
    "log_f32",
    "log_f64",
    "normal_pair_f32",
    "normal_pair_f64",
    "normal_quantile",
    "philox",
    "poisson_quantile",
    "poisson_weight",
    "stream_key",
    "uniform_f32",
    "uniform_f64",
]
