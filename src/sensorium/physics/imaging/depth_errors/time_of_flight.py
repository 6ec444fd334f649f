"""Range from the phase of modulated light (AMCW): its error by signal, and its wrap.

    A = A_1 rho cos(theta) / r^2        sigma = c / (4 sqrt(2) pi f) sqrt(A + B) / A        r' = (r + sigma N) mod L

A is the signal in electrons, A_1 that of a white surface straight ahead at 1 m, B that of ambient light; f is the
modulation frequency, and L = c / 2f the range at which the phase wraps. Devices with several frequencies resolve the
ambiguity up to a longer L of their own. If the signal is below a threshold there is no range.

Source: physics.md section 13, Time of flight. The range along the ray is measured; depth follows from it.
"""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.spec import Spec
from sensorium.physics.imaging.depth_errors.frame import BLOCK, Frames, blocks_of
from sensorium.physics.optics.checks import Array, checked
from sensorium.random import draw_words, normal_pair_f32
from sensorium.runtime import jit, worker_pool

STAGE_PHASE = np.int64(17)
"""Of the counter."""

_DRAW = np.int64(0)
_ZERO, _INFINITE = np.float32(0.0), np.float32(np.inf)

# Columns of the kernel's numbers
_SIGNAL, _AMBIENT, _SCALE, _WRAP, _LEAST, _BIAS, _SLOPE = range(7)


class TimeOfFlightError(Spec):
    """Errors of a camera of modulated light."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["time_of_flight"] = "time_of_flight"
    modulation_hz: float = Field(gt=0.0)
    """f, of the light [Hz]."""
    signal_e: float = Field(gt=0.0)
    """A_1, electrons in an image from a white surface straight ahead at 1 m."""
    ambient_e: float = Field(default=0.0, ge=0.0)
    """B, electrons in an image from other light."""
    ambiguity_m: float | None = Field(default=None, gt=0.0)
    """L, unambiguous range [m]; None is that of the one frequency, c / 2f."""
    min_signal_e: float = Field(default=0.0, ge=0.0)
    """Least signal that gives a range."""
    bias_m: float = 0.0
    """Systematic error [m]."""
    bias_slope: float = 0.0
    """Systematic error that grows with range [1]."""
    rays: int = Field(default=1, ge=1, le=16)
    """Rays along each side of a pixel, whose light mixes as in `FlyingPixels`; 1 takes the pixel's middle for all."""
    wavelength_m: float = Field(default=850e-9, gt=0.0)
    """Of the light, at which surfaces reflect [m]."""


def ambiguity_range(modulation_hz: ArrayLike) -> Array:
    """L = c / 2f [m]."""
    return SPEED_OF_LIGHT_M_S / (2.0 * checked("modulation_hz", modulation_hz, above=0.0))


def signal_electrons(
    range_m: ArrayLike, *, signal_e: float, reflectance: ArrayLike = 1.0, cos_incidence: ArrayLike = 1.0
) -> Array:
    """A = A_1 rho cos(theta) / r^2."""
    r = checked("range_m", range_m, above=0.0)
    return checked("signal_e", signal_e, at_least=0.0) * np.asarray(reflectance) * np.asarray(cos_incidence) / r**2


def phase_std(signal: ArrayLike, *, ambient_e: ArrayLike = 0.0, modulation_hz: float) -> Array:
    """Standard deviation of range, c / (4 sqrt(2) pi f) sqrt(A + B) / A [m], of a signal of A electrons."""
    a, b = checked("signal", signal, above=0.0), checked("ambient_e", ambient_e, at_least=0.0)
    return _scale_m(float(checked("modulation_hz", modulation_hz, above=0.0))) * np.sqrt(a + b) / a


def phase_range(
    range_m: NDArray[np.float32],
    power: NDArray[np.float32],
    error: TimeOfFlightError,
    *,
    frames: Frames,
) -> None:
    """Measure true ranges by phase, in place.

    Args:
        range_m: Along the rays of all heads, shape (heads, pixels), contiguous; 0 or infinite without a hit. Afterwards
            0 without a range.
        power: Returned power, rho cos(theta) / r^2 [1/m^2], same shape; see `returned_power`.
        error: Figures.
        frames: Which images they are.
    """
    wrap = float(ambiguity_range(error.modulation_hz)) if error.ambiguity_m is None else error.ambiguity_m
    numbers = np.array(
        [
            error.signal_e,
            error.ambient_e,
            _scale_m(error.modulation_hz),
            wrap,
            error.min_signal_e,
            error.bias_m,
            error.bias_slope,
        ],
        np.float32,
    )
    worker_pool.run(_measure, blocks_of(range_m), range_m, power, numbers, frames)


@jit.kernel
def _measure(first, step, count, ranges, power, numbers, frames):
    """Blocks first, first + step, ... of all heads."""
    pixels = ranges.shape[1]
    blocks = (pixels + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        world, base = frames.first_world + head // frames.sensors, (head % frames.sensors) * pixels
        for k in range(start, min(pixels, start + BLOCK)):
            r, signal = ranges[head, k], numbers[_SIGNAL] * power[head, k]
            if not _ZERO < r < _INFINITE or not signal > _ZERO or signal < numbers[_LEAST]:
                ranges[head, k] = _ZERO
                continue
            w0, w1, _, _ = draw_words(frames.key[0], frames.key[1], base + k, STAGE_PHASE, _DRAW, frames.tick, world)
            normal, _ = normal_pair_f32(w0, w1)
            ranges[head, k] = wrapped(r, signal, numbers, normal)


@jit.function
def wrapped(r, signal, numbers, normal):
    """Range that the phase gives of a true range [m]."""
    std = numbers[_SCALE] * np.float32(math.sqrt(signal + numbers[_AMBIENT])) / signal
    found = r + numbers[_BIAS] + numbers[_SLOPE] * r + std * normal
    return found - numbers[_WRAP] * np.float32(math.floor(found / numbers[_WRAP]))


def _scale_m(modulation_hz: float) -> float:
    """The length c / (4 sqrt(2) pi f) [m]."""
    return SPEED_OF_LIGHT_M_S / (4.0 * math.sqrt(2.0) * math.pi * modulation_hz)
