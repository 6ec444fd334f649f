"""Identity of the images that errors are drawn for: the part of the counter that all pixels share."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

BLOCK = 4096
"""Pixels that a kernel works on at a time."""


class Frames(NamedTuple):
    """One image of every head: `sensors` heads in each world, worlds one after the other."""

    key: NDArray[np.uint32]
    """Of the sensor's stream, two words."""
    tick: int
    """Number of the image."""
    first_world: int = 0
    """Number of the first world among all of an experiment."""
    sensors: int = 1
    """Heads in each world."""


def blocks_of(image: NDArray[np.float32]) -> int:
    """Blocks of all heads of an image (heads, pixels)."""
    return image.shape[0] * -(-image.shape[1] // BLOCK)
