"""Jitter of an image's rays: each ray deviates from its pixel by an angle drawn by pixel and draw."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.random import draw_words, normal_pair_f32
from sensorium.runtime import jit

# Stage of the counter for rays that jitter
_STAGE_RAYS, _DRAW = np.int64(2), np.int64(0)

_ZERO = np.float32(0.0)


class RayJitter(NamedTuple):
    """Parameters of the jitter."""

    std: np.float32  # how far [rad], 0 for not at all
    key: NDArray[np.uint32]  # (2,) of the sensor's stream
    tick: NDArray[np.int64]  # (worlds,) when it was drawn last
    first_world: int
    pixels: int  # of a camera


@jit.function
def jitter_rays(jitter, head, sensors, pixel, used, x, y, z):
    """Tilt each ray by a small random angle, of this standard deviation about any axis across it.

    Args:
        jitter: `RayJitter`.
        head: Camera among those of all worlds; sensors: in each world.
        pixel: Of each ray, by which its angle is drawn.
        used: How many rays.
        x, y, z: Unit directions in S, float32, changed in place.
    """
    std = jitter.std
    if not std > _ZERO:
        return
    world, element = np.int64(head // sensors), np.int64(head % sensors) * jitter.pixels
    tick, among = jitter.tick[world], jitter.first_world + world
    for k in range(used):
        w0, w1, w2, w3 = draw_words(jitter.key[0], jitter.key[1], element + pixel[k], _STAGE_RAYS, _DRAW, tick, among)
        a, b = normal_pair_f32(w0, w1)
        c, _ = normal_pair_f32(w2, w3)
        p, q, r = x[k] + std * a, y[k] + std * b, z[k] + std * c
        scale = np.float32(1.0) / np.float32(np.sqrt(p * p + q * q + r * r))
        x[k], y[k], z[k] = p * scale, q * scale, r * scale
