"""The quadratic law: noise of depth as fitted to a device of any principle.

    sigma_z = a + b z + c z^2

b alone is noise in proportion to distance, c alone that of stereo.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec
from sensorium.physics.imaging.depth_errors.frame import BLOCK, Frames, blocks_of
from sensorium.physics.optics.checks import Array, checked
from sensorium.random import draw_words, normal_pair_f32
from sensorium.runtime import jit, worker_pool

STAGE_QUADRATIC = np.int64(18)
"""Of the counter."""

_DRAW = np.int64(0)
_ZERO, _INFINITE = np.float32(0.0), np.float32(np.inf)


class QuadraticError(Spec):
    """Noise of depth by a fitted law."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["quadratic"] = "quadratic"
    base_m: float = Field(default=0.0, ge=0.0)
    """a [m]."""
    slope: float = Field(default=0.0, ge=0.0)
    """b [1]."""
    square_per_m: float = Field(default=0.0, ge=0.0)
    """c [1/m]."""
    along: Literal["depth", "range"] = "depth"
    """Meaning of z: depth along the camera's axis, or range along the ray, as for a fisheye."""


def quadratic_std(depth_m: ArrayLike, error: QuadraticError) -> Array:
    """Standard deviation of depth, a + b z + c z^2 [m]."""
    z = checked("depth_m", depth_m, at_least=0.0)
    return error.base_m + error.slope * z + error.square_per_m * z * z


def quadratic_error(depth_m: NDArray[np.float32], error: QuadraticError, *, frames: Frames) -> None:
    """Add the noise, in place.

    Args:
        depth_m: Of all heads, shape (heads, pixels), contiguous; 0 or infinite without a hit, which stays. 0 afterwards
            if noise would make a depth 0 or below.
        error: Figures.
        frames: Which images they are.
    """
    numbers = np.array([error.base_m, error.slope, error.square_per_m], np.float32)
    worker_pool.run(_add, blocks_of(depth_m), depth_m, numbers, frames)


@jit.kernel
def _add(first, step, count, depth, numbers, frames):
    """Blocks first, first + step, ... of all heads."""
    pixels = depth.shape[1]
    blocks = (pixels + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        world, base = frames.first_world + head // frames.sensors, (head % frames.sensors) * pixels
        for k in range(start, min(pixels, start + BLOCK)):
            z = depth[head, k]
            if _ZERO < z < _INFINITE:
                w0, w1, _, _ = draw_words(
                    frames.key[0], frames.key[1], base + k, STAGE_QUADRATIC, _DRAW, frames.tick, world
                )
                normal, _ = normal_pair_f32(w0, w1)
                std = numbers[0] + z * (numbers[1] + z * numbers[2])
                depth[head, k] = max(z + std * normal, _ZERO)
