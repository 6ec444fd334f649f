"""Limits of the ranges that a lidar reports, and of the ranges that noise may bring between them."""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.random import johnson_numbers
from sensorium.sensors.lidar.errors.range_noise import RangeNoise
from sensorium.tracing.kernels.geometry import ray_errors as re

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar

_SPEED_OF_LIGHT = 299_792_458.0

# Noise moves a range by more than this many standard deviations twice in 10^9
_SIGMAS = 6.0

# Rays end at this multiple of the greatest range at most; the noise of real lidars is far below their range
_FARTHEST = 2.0

# The least range there is [m]: no return has range 0
ABOVE_ZERO = float(np.finfo(np.float32).tiny)


class RangeLimits(NamedTuple):
    """Range limits of a lidar [m].

    Attributes:
        least_m, most_m: Of reported ranges, errors included.
        near_m, late_m: Of ranges before noise, bias included.
        earliest_m, latest_m: Of ranges that noise may bring between the limits.
        reach_m: How far rays are followed along straight lines.
    """

    least_m: float
    most_m: float
    near_m: float
    late_m: float
    earliest_m: float
    latest_m: float
    reach_m: float


def range_limits(spec: "Lidar", index: float = 1.0) -> RangeLimits:
    """Limits of a lidar.

    A range x becomes x + bias + sigma n; it may be reported where what a normal number of 6 gives for n, 6 sigma or
    with heavy tails more, brings it between the limits.

    Args:
        spec: The lidar.
        index: Refractive index of the air around it; the sensor counts with `calibrated_index`.
    """
    noise, extra_m = spec.noise, 0.0
    if spec.mode == "radiometric":
        # A detected return has a signal-to-noise ratio of about 1 or more
        extra_m = _SIGMAS * 0.5 * _SPEED_OF_LIGHT * spec.receiver.rise_time_s
    near_m, late_m = spec.min_range_m - noise.bias_m, spec.max_range_m - noise.bias_m
    earliest_m = near_m - _most_sigmas(noise) * noise.greatest_sigma_m(near_m) - extra_m
    latest_m = _farthest_m(noise, late_m) + extra_m
    reach_m = latest_m * max((spec.calibrated_index or index) / index, 1.0)
    if spec.mode == "waveform":
        # Light of surfaces this far beyond the limit arrives before it
        reach_m += 0.5 * _SPEED_OF_LIGHT * spec.beam.pulse_s

    # Without noise the two pairs of limits are equal, so that rounding of a division decides nothing
    silent = spec.mode != "geometric" and not noise.moves_ranges and not extra_m
    least_m, most_m = (0.0, np.inf) if silent else (spec.min_range_m, spec.max_range_m)
    limits = (max(least_m, ABOVE_ZERO), most_m, near_m, late_m, earliest_m, latest_m, reach_m)
    return RangeLimits(*(max(limit, 0.0) for limit in limits))


def near_limits(spec: "Lidar") -> RangeLimits:
    """Limits that pass ranges reported below the least range, also behind the sensor, and little else.

    Args:
        spec: The lidar.
    """
    reach_m = max(_farthest_m(spec.noise, spec.min_range_m - spec.noise.bias_m), 0.0)
    return RangeLimits(-np.inf, spec.min_range_m, 0.0, reach_m, 0.0, reach_m, reach_m)


def has_errors(noise: RangeNoise) -> bool:
    """Whether there is any error along or across rays."""
    return noise.moves_ranges or noise.angle_std_rad > 0.0 or noise.dropout > 0.0


def fill_errors(number: NDArray[np.float32], noise: RangeNoise, limits: RangeLimits) -> None:
    """Write the errors of rays and their limits into the kernel's numbers, see `RayErrors`."""
    number[re.N_NEAR], number[re.N_LATE], number[re.N_FAR] = limits.near_m, limits.late_m, limits.reach_m
    number[re.N_EARLIEST], number[re.N_LATEST] = limits.earliest_m, limits.latest_m
    number[re.N_LEAST], number[re.N_MOST] = limits.least_m, limits.most_m
    number[re.N_NOISE_BASE], number[re.N_NOISE_SLOPE] = noise.base_m, noise.slope
    number[re.N_NOISE_SQUARE], number[re.N_BIAS] = noise.square_per_m, noise.bias_m
    number[re.N_DROPOUT], number[re.N_JITTER] = noise.dropout, noise.angle_std_rad
    number[re.N_TAIL_SHAPE], number[re.N_TAIL_SCALE] = johnson_numbers(noise.excess_kurtosis)


def _most_sigmas(noise: RangeNoise) -> float:
    """Multiple of its standard deviation that noise exceeds twice in 10^9."""
    shape, scale = johnson_numbers(noise.excess_kurtosis)
    return scale * math.sinh(shape * _SIGMAS) if shape else _SIGMAS


def _farthest_m(noise: RangeNoise, limit_m: float) -> float:
    """The greatest range that noise brings to a limit without its bias [m], bounded by a multiple of the limit."""
    x, sigmas = limit_m, _most_sigmas(noise)
    for _ in range(32):
        x = min(limit_m + sigmas * noise.greatest_sigma_m(x), max(_FARTHEST * limit_m, limit_m))
    return x
