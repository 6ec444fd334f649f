"""Covariances of ROS 2 messages, from the white noise of a specification."""

import numpy as np
from numpy.typing import NDArray

from sensorium.corruption import Noise, White
from sensorium.corruption.engine.base import Layout

Float = NDArray[np.float64]

# sensor_msgs: all zeros is "not known", and -1 in the first place "there is no such measurement"
UNKNOWN = np.zeros(9)
ABSENT = np.array([-1.0, *[0.0] * 8])


def white_variance(noise: Noise, *, width: int, period_s: float) -> Float:
    """Variance of one sample by its white noise [unit^2], shape (width,); zeros where none is specified.

    Biases and walks are left out: they are errors that stay from sample to sample, which filters estimate as states.

    Args:
        noise: Of the specification.
        width: Number of channels.
        period_s: Time between samples [s], which a spectral density needs.
    """
    for part in noise.parts():
        if isinstance(part, White) and part.on and noise.on:
            return np.asarray(part.sigma(Layout(width, period_s)) ** 2)
    return np.zeros(width)


def diagonal(variances: Float) -> Float:
    """A matrix with these variances, row by row; shape (n * n,)."""
    return np.diag(np.asarray(variances, np.float64)).ravel()
