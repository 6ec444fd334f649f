"""Random numbers of single elements at any place of the counter: those of scatterers, which appear and vanish."""

import numpy as np
from numpy.typing import NDArray

from sensorium.random.philox import draw_words
from sensorium.random.transforms import uniform_f64
from sensorium.runtime import jit


@jit.kernel
def uniform_pairs(element, world, key, stage, tick, out):
    """Two uniform numbers in (0, 1) for each element.

    Args:
        element: Numbers of the elements, int64 (n,).
        world: World of each, int64 (n,).
        key: Of the stream, uint32 (2,).
        stage: Which quantity.
        tick: Of the sensor's clock.
        out: Filled, float64 (n, 2).
    """
    for i in range(element.size):
        w0, w1, w2, w3 = draw_words(key[0], key[1], element[i], stage, 0, tick, world[i])
        out[i, 0], out[i, 1] = uniform_f64(w0, w1), uniform_f64(w2, w3)


def drawn(
    element: NDArray[np.int64], world: NDArray[np.int64], *, key: NDArray[np.uint32], stage: int, tick: int
) -> NDArray[np.float64]:
    """The same as a new array, shape (n, 2)."""
    out = np.empty((element.size, 2))
    uniform_pairs(element, world, key, np.int64(stage), np.int64(tick), out)
    return out
