"""Flying pixels: a pixel that sees two surfaces reports a distance between them.

    r = sum_i w_i r_i / sum_i w_i        w_i = rho_i cos(theta_i) / r_i^2

over k x k rays in each pixel, each weighted by the returned power along it; a ray without a hit returns none. Source:
physics.md section 13, Flying pixels.
"""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import ConfigDict, Field

from sensorium.core.spec import Spec
from sensorium.physics.imaging.depth_errors.frame import BLOCK, blocks_of
from sensorium.physics.optics.checks import Array, checked
from sensorium.runtime import jit, worker_pool

_ZERO, _INFINITE = np.float32(0.0), np.float32(np.inf)


class FlyingPixels(Spec):
    """Number of rays per pixel."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["flying_pixels"] = "flying_pixels"
    rays: int = Field(default=3, ge=2, le=16)
    """k: rays along each side of a pixel, k x k in all."""
    wavelength_m: float = Field(default=850e-9, gt=0.0)
    """Of the light, at which surfaces reflect [m]."""


def returned_power(range_m: ArrayLike, *, reflectance: ArrayLike = 1.0, cos_incidence: ArrayLike = 1.0) -> Array:
    """Power rho cos(theta) / r^2 [1/m^2]: the return of a matt surface, up to a factor of the device."""
    r = checked("range_m", range_m, above=0.0)
    return np.asarray(reflectance) * np.asarray(cos_incidence) / r**2


def mixed_pixels(
    range_m: NDArray[np.float32], power: NDArray[np.float32], *, rays: int
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Range and power of pixels from those of their rays.

    Args:
        range_m: Of all heads' rays, those of a pixel side by side, shape (heads, pixels * rays), contiguous; 0 or
            infinite without a hit.
        power: Returned power of each, same shape.
        rays: How many rays a pixel has.

    Returns:
        Range, infinite without a return, and mean power of all rays, shape (heads, pixels).
    """
    shape = (len(range_m), range_m.shape[1] // rays)
    out, mean = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
    worker_pool.run(_mix, blocks_of(out), range_m, power, np.int64(rays), out, mean)
    return out, mean


def power_of_pixels(
    range_m: NDArray[np.float32],
    object_id: NDArray[np.int32],
    cos_incidence: NDArray[np.float32],
    reflectance: NDArray[np.float32],
    *,
    sensors: int,
) -> NDArray[np.float32]:
    """Returned power for pixels of one ray each [1/m^2], 0 without a hit, shape (heads, pixels).

    Args:
        range_m: Of all heads, shape (heads, pixels), contiguous; 0 or infinite without a hit.
        object_id: The object hit, -1 for none, same shape.
        cos_incidence: Of the ray on it, same shape.
        reflectance: Of the objects, shape (1 | worlds, objects).
        sensors: Heads in each world.
    """
    power = np.empty_like(range_m)
    worker_pool.run(_weigh, blocks_of(range_m), range_m, object_id, cos_incidence, reflectance, sensors, power)
    return power


@jit.kernel
def _weigh(first, step, count, ranges, objects, cosine, reflectance, sensors, power):
    """Blocks first, first + step, ... of all heads."""
    pixels = ranges.shape[1]
    blocks = (pixels + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        row = head // sensors if reflectance.shape[0] > 1 else 0
        for k in range(start, min(pixels, start + BLOCK)):
            met = objects[head, k]
            rho = reflectance[row, met] if met >= 0 else _ZERO
            power[head, k] = power_back(ranges[head, k], rho, cosine[head, k])


@jit.kernel
def _mix(first, step, count, ranges, power, rays, out, mean):
    """Blocks first, first + step, ... of all heads."""
    ranges, power, out, mean = jit.uncounted((ranges, power, out, mean))
    pixels = out.shape[1]
    blocks = (pixels + BLOCK - 1) // BLOCK
    for number in range(first, count, step):
        head, start = number // blocks, (number % blocks) * BLOCK
        of_range, of_power = ranges[head], power[head]
        for pixel in range(start, min(pixels, start + BLOCK)):
            out[head, pixel], mean[head, pixel] = mixed(of_range, of_power, pixel * rays, rays)


@jit.function
def mixed(ranges, power, first, rays):
    """Range [m] and mean power [1/m^2] of a pixel, from those of its rays, which are side by side from `first` on."""
    total, weighted = _ZERO, _ZERO
    for ray in range(first, first + rays):
        r, w = ranges[ray], power[ray]
        if _ZERO < r < _INFINITE and w > _ZERO:
            total += w
            weighted += w * r
    return weighted / total if total > _ZERO else _INFINITE, total / np.float32(rays)


@jit.inlined
def power_back(r, reflectance, cosine):
    """Power rho cos(theta) / r^2 [1/m^2] in float32, as `returned_power`; 0 without a hit."""
    return reflectance * cosine / (r * r) if _ZERO < r < _INFINITE else _ZERO
