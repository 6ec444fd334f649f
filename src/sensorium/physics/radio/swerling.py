"""Fluctuation of a body's echo from look to look, and its probability of detection."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.physics.optics.checks import Array, checked

NDArrayComplex = NDArray[np.complex128]


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
