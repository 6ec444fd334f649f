"""Flying pixels: a pixel that sees two surfaces tells a distance between them.

    r = sum_i w_i r_i / sum_i w_i        w_i = rho_i cos(theta_i) / r_i^2

over k x k rays in each pixel, each weighted by the power that comes back along it; a ray that meets nothing brings
none. Source: physics.md section 13, Flying pixels.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field

from sensorium import jit, threads
from sensorium.imaging.depth_errors.frame import BLOCK
from sensorium.optics.checks import Array, checked
from sensorium.spec import Spec

_ZERO, _INFINITE = np.float32(0.0), np.float32(np.inf)


class FlyingPixels(Spec):
    """How many rays a pixel is made of."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["flying_pixels"] = "flying_pixels"
    rays: int = Field(default=3, ge=2, le=16)
    """k: rays along each side of a pixel, k x k in all."""


def returned_power(range_m: ArrayLike, *, reflectance: ArrayLike = 1.0, cos_incidence: ArrayLike = 1.0) -> Array:
    """Power rho cos(theta) / r^2 [1/m^2]: what comes back of a matt surface, up to a factor of the device."""
    r = checked("range_m", range_m, above=0.0)
    return np.asarray(reflectance) * np.asarray(cos_incidence) / r**2


def mixed_pixels(
    range_m: NDArray[np.float32], power: NDArray[np.float32], *, rays: int, width: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Range and power of pixels from those of their rays.

    Args:
        range_m: Of all heads' rays, k times as many rows and columns as pixels, shape (heads, k rows * k width),
            contiguous; 0 or infinite where a ray meets nothing.
        power: That comes back along each, same shape.
        rays: k, along each side of a pixel.
        width: Columns of the image of pixels.

    Returns:
        Range, 0 where nothing comes back, and mean power of all rays, shape (heads, rows * width).
    """
    heads, count = range_m.shape
    pixels = count // rays**2
    mixed = np.zeros((heads, pixels), np.float32)
    mean = np.zeros((heads, pixels), np.float32)
    blocks = heads * -(-pixels // BLOCK)
    threads.run(_mix, blocks, range_m, power, np.int64(rays), np.int64(width), mixed, mean)
    return mixed, mean


@jit.kernel
def _mix(first, step, count, ranges, power, rays, width, mixed, mean):
    """Blocks first, first + step, ... of all heads."""
    pixels = mixed.shape[1]
    blocks = (pixels + BLOCK - 1) // BLOCK
    share = np.float32(1.0) / np.float32(rays * rays)
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        for pixel in range(start, min(pixels, start + BLOCK)):
            row, column = pixel // width, pixel % width
            total, weighted = _ZERO, _ZERO
            for i in range(rays):
                at = (row * rays + i) * width * rays + column * rays
                for j in range(rays):
                    r, w = ranges[head, at + j], power[head, at + j]
                    if _ZERO < r < _INFINITE and w > _ZERO:
                        total += w
                        weighted += w * r
            mixed[head, pixel] = weighted / total if total > _ZERO else _ZERO
            mean[head, pixel] = total * share
