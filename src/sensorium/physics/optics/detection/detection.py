"""Detection of a weak return: its probability, and the receiver's noise that stated detection ranges imply.

A receiver compares signal plus Gaussian noise with a threshold of k standard deviations of that noise, which keeps its
rate of false alarms the same in any light. Ref: Skolnik, Introduction to Radar Systems, on threshold detection;
McManamon, Field Guide to Lidar, on the probability of detection.
"""

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.optics.checks import Array, checked


def detection_probability(intensity: ArrayLike, *, noise: ArrayLike, ratio: ArrayLike) -> Array:
    """P = Phi(I / sigma - k): signal I plus normal noise of deviation sigma exceeds the threshold k sigma.

    Args:
        intensity: I, in any unit.
        noise: sigma, in the same unit.
        ratio: k, threshold over noise [1].
    """
    from scipy.special import ndtr

    sigma = checked("noise", noise, above=0.0)
    return np.asarray(ndtr(checked("intensity", intensity, at_least=0.0) / sigma - checked("ratio", ratio)))


def noise_of_detection(intensity: ArrayLike, *, probability: ArrayLike, ratio: ArrayLike) -> Array:
    """Sigma = I / (k + Phi^-1(P)): the noise at which the intensity I is detected with the probability P.

    Args:
        intensity: I, in any unit.
        probability: P [1], above Phi(-k).
        ratio: k, threshold over noise [1].
    """
    above = checked("ratio", ratio) + _quantile(probability)
    if np.any(above <= 0.0):
        least = float(np.min(probability))
        raise SpecError(f"probability is {least:g}; noise alone exceeds the threshold as often")
    return checked("intensity", intensity, above=0.0) / above


def ratio_of_detections(intensity: tuple[float, float], *, probability: tuple[float, float]) -> float:
    """K = (z_1 I_2 - z_2 I_1) / (I_1 - I_2), z = Phi^-1(P): threshold over noise, from two detections in one noise."""
    (one, two), (z_one, z_two) = intensity, (float(_quantile(p)) for p in probability)
    if (one - two) * (z_one - z_two) <= 0.0:
        raise SpecError(
            f"probability is {probability} of intensities that are as {one / two:.3g} to 1; the stronger return must "
            "be the one that is detected more often"
        )
    return (z_one * two - z_two * one) / (one - two)


def sunlit_noise(noise: tuple[float, float], *, reflectance: tuple[float, float]) -> tuple[float, float]:
    """Variances s_0^2 and s_1^2 of sigma^2 = s_0^2 + s_1^2 rho, from the noise on targets of two reflectances.

    Sunlight on the target is a background in proportion to its reflectance rho at any distance, and the photon noise of
    that background is its square root; s_0 is the receiver's noise in darkness. Stated ranges show it: if noise is the
    same on all targets, an 80 % target is detected 2.83 times as far as a 10 % one, and if it is all sunlight 1.68
    times. Stated ranges for daylight are between: 90 and 170 m are 1.89.
    """
    (sigma_one, sigma_two), (rho_one, rho_two) = noise, reflectance
    sun = (sigma_two**2 - sigma_one**2) / (rho_two - rho_one)
    dark = sigma_one**2 - sun * rho_one
    if sun < 0.0 or dark < 0.0:
        raise SpecError(
            f"noise on a target of {rho_two:g} is {sigma_two / sigma_one:.3g} times that on one of {rho_one:g}; "
            f"sunlight on it accounts for 1 to {(rho_two / rho_one) ** 0.5:.3g} times"
        )
    return dark, sun


def noise_electrons_of_detection(
    signal: ArrayLike, *, probability: float, sigmas: float, counted: bool = True
) -> float:
    """Noise of a receiver's electronics at which a return is detected with a probability, in darkness.

    The return is detected where one of its samples reaches k sigma. A sample of S electrons has the variance
    S + sigma^2, Poisson counts beside the electronics' noise: 1 - P is the product of Phi((k sigma - S) / sqrt(S +
    sigma^2)) over samples.

    Args:
        signal: S of each sample [electrons], or of a receiver that takes but one; Poisson laws are taken for normal.
        probability: P [1].
        sigmas: k, threshold over noise [1].
        counted: Whether photons arrive at random; without, the variance is sigma^2.

    Returns:
        Sigma [electrons], root mean square.
    """
    from scipy.optimize import brentq
    from scipy.special import log_ndtr

    _quantile(probability)
    electrons = np.atleast_1d(checked("signal", signal, at_least=0.0))
    most = float(checked("signal", electrons.max(), above=0.0))

    def excess(log_sigma: float) -> float:
        sigma = np.exp(log_sigma)
        below = (sigmas * sigma - electrons) / np.sqrt(counted * electrons + sigma**2)
        return float(-np.expm1(log_ndtr(below).sum()) - probability)

    low, high = np.log(1e-3 * np.sqrt(most)), np.log(most * 1e3)
    if excess(low) < 0.0:
        raise SpecError(
            f"signal is {most:.3g} electrons; too few to be detected with {probability:g} without any noise"
        )
    if excess(high) > 0.0:
        raise SpecError(f"probability is {probability:g}; noise alone exceeds {sigmas:.3g} of its deviations as often")
    return float(np.exp(brentq(excess, low, high, xtol=1e-12)))


def _quantile(probability: ArrayLike) -> Array:
    """Phi^-1(P) of a probability between 0 and 1."""
    from scipy.special import ndtri

    array = checked("probability", probability, above=0.0)
    if np.any(array >= 1.0):
        raise SpecError(f"probability is {array[array >= 1.0].flat[0]:g}; it must be below 1")
    return np.asarray(ndtri(array))
