"""Noise of pixels by EMVA 1288: shot, dark, read, and fixed pattern.

    electrons = min(Poisson(mu_e (1 + PRNU) + mu_I t) + DSNU + N(0, sigma_r^2), full well)

PRNU and DSNU belong to the pixel and stay from frame to frame. DSNU is an offset in electrons, as the standard measures
it, rather than a factor of the dark current. The sum of two Poisson numbers is one of the summed mean, so light and
dark current share a draw.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec
from sensorium.random import Stream, draw_words, normal_pair_f32, poisson_quantile, uniform_f64
from sensorium.runtime import jit, worker_pool

# Stages of the counter: draws of a frame, and those made once
STAGE_FRAME, STAGE_PRNU, STAGE_DSNU = np.int64(1), np.int64(2), np.int64(3)
_DRAW = np.int64(0)

# Above this mean Poisson's law is its normal approximation with two corrections, off by less than 1e-3 of an electron
_EXACT_BELOW = np.float32(16.0)


class PixelNoise(Spec):
    """Noise figures of a pixel, as EMVA 1288 reports give them."""

    model_config = ConfigDict(frozen=True)

    read_noise_e: float = Field(default=0.0, ge=0.0)
    """Temporal dark noise sigma_r [e-]."""
    dark_current_e_s: float = Field(default=0.0, ge=0.0)
    """Dark current mu_I [e-/s]."""
    prnu: float = Field(default=0.0, ge=0.0, lt=1.0)
    """Standard deviation of sensitivity over pixels, PRNU1288 [1]."""
    dsnu_e: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the dark signal over pixels, DSNU1288 [e-]."""
    shot: bool = True
    """Whether light is counted photon by photon."""


class FixedPattern(NamedTuple):
    """Fixed pattern of the pixels."""

    sensitivity: NDArray[np.float32]  # (values,): 1 + PRNU
    offset_e: NDArray[np.float32]  # (values,): DSNU [e-]


def fixed_pattern(noise: PixelNoise, stream: Stream, *, values: int, first: int = 0, world: int = 0) -> FixedPattern:
    """Draw PRNU and DSNU of pixels, once.

    Args:
        noise: Figures.
        stream: Where random numbers come from.
        values: Pixels times bands.
        first: Number of the first among all of a world.
        world: World they belong to.
    """

    def normal(stage: np.int64) -> NDArray[np.float32]:
        drawn: NDArray[np.float32] = stream.normal(
            int(stage), 0, 0, elements=values, first_element=first, first_world=world, dtype=np.float32
        )
        return drawn[0]

    return FixedPattern(
        np.maximum(1.0 + np.float32(noise.prnu) * normal(STAGE_PRNU), 0.0).astype(np.float32),
        (np.float32(noise.dsnu_e) * normal(STAGE_DSNU)).astype(np.float32),
    )


def noisy_electrons(
    electrons: NDArray[np.float32],
    noise: PixelNoise,
    pattern: FixedPattern,
    *,
    exposure_s: float,
    full_well_e: float,
    key: tuple[np.uint32, np.uint32],
    tick: int,
    first: int = 0,
    world: int = 0,
) -> None:
    """Add the noise of one frame, in place.

    Args:
        electrons: Mean number of electrons from light of each pixel and band, contiguous.
        noise: Figures.
        pattern: Of `fixed_pattern`, one value each.
        exposure_s: Time that dark current flows [s].
        full_well_e: Most electrons a pixel holds.
        key: Of the stream.
        tick: Number of the frame.
        first: Number of the first value among all of a world.
        world: World they belong to.
    """
    flat = electrons.reshape(-1)
    numbers = np.array([noise.dark_current_e_s * exposure_s, noise.read_noise_e, full_well_e], np.float32)
    words = np.array(key, np.uint32)
    blocks = -(-len(flat) // _BLOCK)
    worker_pool.run(_add_noise, blocks, flat, pattern, numbers, noise.shot, words, tick, first, world)


_BLOCK = 4096


@jit.kernel
def _add_noise(first, step, count, electrons, pattern, numbers, shot, key, tick, element, world):
    """Blocks first, first + step, ... of values."""
    dark, read, full = numbers[0], numbers[1], numbers[2]
    for block in range(first, count, step):
        start, end = block * _BLOCK, min(electrons.shape[0], (block + 1) * _BLOCK)
        for k in range(start, end):
            w0, w1, w2, w3 = draw_words(key[0], key[1], element + k, STAGE_FRAME, _DRAW, tick, world)
            z_shot, z_read = normal_pair_f32(w0, w1)
            mean = electrons[k] * pattern.sensitivity[k] + dark
            collected = mean
            if shot:
                if mean < _EXACT_BELOW:
                    collected = np.float32(poisson_quantile(uniform_f64(w2, w3), np.float64(mean)))
                else:
                    collected = _counted(mean, z_shot)
            electrons[k] = min(collected + pattern.offset_e[k] + read * z_read, full)


@jit.function
def _counted(mean, z):
    """A Poisson number of a mean that is not small, from a normal one (Cornish and Fisher).

    Rounding adds the variance 1/12 of a uniform error, which is taken off before.
    """
    root = np.sqrt(mean - np.float32(1.0 / 12.0))
    z2 = z * z
    bent = (z2 - np.float32(1.0)) / np.float32(6.0) + z * (np.float32(1.0) - z2) / (np.float32(72.0) * root)
    return max(np.floor(mean + root * z + bent + np.float32(0.5)), np.float32(0.0))
