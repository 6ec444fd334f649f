"""Fluctuation of a body's echo from look to look, and its probability of detection."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.physics.optics.checks import Array, checked
from sensorium.random.philox import draw_words
from sensorium.random.transforms import uniform_f64
from sensorium.runtime import jit

NDArrayComplex = NDArray[np.complex128]

Whole = NDArray[np.int64]


def detection_probability(snr: ArrayLike, *, false_alarm: ArrayLike) -> Array:
    """P_d = P_fa^(1 / (1 + SNR)) of a Swerling I body, over a fixed threshold and after a square-law detector.

    Its amplitude is complex normal, so that signal and noise together are exponential of mean 1 + SNR. Ref: Swerling
    1954; physics.md 13 chooses the law.

    Args:
        snr: Mean signal over mean noise [1].
        false_alarm: P_fa of noise alone [1].
    """
    chance = checked("false_alarm", false_alarm, above=0.0, at_most=1.0)
    return chance ** (1.0 / (1.0 + checked("snr", snr, at_least=0.0)))


def fluctuating_amplitude(uniform: ArrayLike, turn: ArrayLike) -> NDArrayComplex:
    """Complex amplitude sqrt(-ln u) exp(2 pi i t) of mean power 1: normal in both parts, exponential in power.

    Args:
        uniform: u in (0, 1), any shape.
        turn: t, its phase in turns, uniform in 0 to 1 and independent.
    """
    return np.sqrt(-np.log(checked("uniform", uniform, above=0.0, at_most=1.0))) * steady_amplitude(turn)


def steady_amplitude(turn: ArrayLike) -> NDArrayComplex:
    """Complex amplitude of power 1 with a phase of this many turns, uniform in 0 to 1 (Swerling 0)."""
    return np.exp(2j * np.pi * checked("turn", turn))


@jit.kernel
def uniform_pairs(
    element: Whole, world: Whole, key: NDArray[np.uint32], stage: int, tick: int, out: NDArray[np.float64]
) -> None:
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
    element: Whole, world: Whole, *, key: NDArray[np.uint32], stage: int, tick: int
) -> NDArray[np.float64]:
    """The same as a new array, shape (n, 2)."""
    out = np.empty((element.size, 2))
    uniform_pairs(element, world, key, stage, tick, out)
    return out
