"""The noise of a lidar that counts photons: sigma^2 = floor^2 + a / signal, and whether it or a table fits better."""

import itertools
from typing import NamedTuple

import numpy as np

from sensorium.recordings.fit.noise_law import Array, Law, NoiseLaw, NoiseSamples, noise_law, spread
from sensorium.recordings.measure.lidar_noise import SIGNAL_EDGES
from sensorium.recordings.measure.lidar_rays import WINDOW

REFLECTANCE = 0.1
"""Reflectance of the target that a sheet states the noise by signal for [1]."""

_LEAST_BINS, _LEAST_SAMPLES = 3, 50
_ROUNDS = 8

# Errors beyond this many standard deviations of the product are outliers, or windows of rough surfaces: of windows with
# 6 degrees of freedom one in a thousand is beyond 1.93
_FAR_PAIRS, _FAR_WINDOWS = 6.0, 2.0


class PhotonLaw(NamedTuple):
    """sigma^2 = floor_m^2 + std_m^2 (0.1 / reflectance) (range / range_m)^2, without the rounding of ranges.

    Attributes:
        floor_m: Noise of a strong signal [m].
        std_m: What the counting of photons adds on a target of 10 % at `range_m` [m].
        range_m: Range of that target [m].
        per_root_m: The same times the root of the signal, sqrt(a) [m].
    """

    floor_m: float
    std_m: float
    range_m: float
    per_root_m: float

    def sigma_m(self, range_m: Array, reflectance: Array) -> Array:
        """Noise at ranges [m] on reflectances [1], as the model of the lidar has it [m]."""
        shot = self.std_m**2 * REFLECTANCE / reflectance * (range_m / self.range_m) ** 2
        return np.asarray(np.sqrt(self.floor_m**2 + shot))


def photon_law(samples: NoiseSamples) -> PhotonLaw | None:
    """Floor and slope of the variance over the inverse of the signal, by least squares over bins of signal.

    Errors of the variance of a bin are proportional to it, and neither number is negative. The signal of the model
    falls with the square of the range and is proportional to the reflectance: signal = c reflectance / range^2, of
    which c is the median. None without signals in three bins.
    """
    from scipy.optimize import nnls

    parts = [
        samples.where((samples.signal >= max(low, 1.0)) & (samples.signal < high))
        for low, high in itertools.pairwise(SIGNAL_EDGES)
    ]
    parts = [part for part in parts if len(part.error_m) >= _LEAST_SAMPLES]
    if len(parts) < _LEAST_BINS:
        return None
    count = np.array([len(part.error_m) for part in parts], np.float64)
    inverse = np.array([np.mean(1.0 / part.signal) for part in parts])
    floor2, slope = max(float(np.median(np.abs(samples.error_m))), 0.1 * samples.quantum_m) ** 2, 0.0
    for _ in range(_ROUNDS):  # signals differ within a bin: errors are taken over the law so far
        factor = np.array([spread(part, np.sqrt(floor2 + slope / part.signal)) for part in parts])
        variance = factor**2 * (floor2 + slope * inverse)
        weight = np.sqrt(count) / variance
        (floor2, slope), _ = nnls(np.stack([weight, weight * inverse], axis=1), weight * variance)
    floor2, slope = floor2 / samples.kept, slope / samples.kept
    seen = samples.where(samples.signal > 0.0)
    c = float(np.median(seen.signal * seen.range_m**2 / seen.reflectance))
    range_m = float(np.median(seen.range_m))
    std_m = float(np.sqrt(slope * range_m**2 / (REFLECTANCE * c)))
    return PhotonLaw(float(np.sqrt(floor2)), std_m, range_m, float(np.sqrt(slope)))


class Choice(NamedTuple):
    """The law that is written into a sheet.

    Attributes:
        law: The chosen one.
        gain: Mean log likelihood of photons over the product, per sample that neither was fitted to; None without
            signals.
    """

    law: NoiseLaw | PhotonLaw
    gain: float | None


def chosen_law(samples: NoiseSamples) -> Choice:
    """Photons plus a floor where the device reports signals and this law is the more likely one; else the product.

    Each law is fitted to every second block of the samples, and the likelihood is that of the blocks between, both
    ways. Both are held in terms of range and reflectance, which is what a simulation has.
    """
    product = noise_law(samples)
    photons = photon_law(samples) if len(samples.signal) else None
    if photons is None or photons.std_m == 0.0:
        return Choice(product, None)
    odd = samples.block % 2 == 1
    gains = []
    for chosen in (odd, ~odd):
        train, test = samples.where(chosen), samples.where(~chosen)
        other = photon_law(train)
        if min(len(train.error_m), len(test.error_m)) < _LEAST_SAMPLES or other is None:
            return Choice(product, None)
        table = noise_law(train)
        far = (_FAR_WINDOWS if samples.along_rings else _FAR_PAIRS) * table.sigma_m(test.range_m, test.reflectance)
        test = test.where(np.abs(test.error_m) <= far)
        gains.append(_log_likelihood(other, test) - _log_likelihood(table, test))
    gain = float(np.mean(gains))
    return Choice(photons if gain > 0.0 else product, gain)


def _log_likelihood(law: Law, samples: NoiseSamples) -> float:
    """Mean over samples, but for a constant: normal errors, or standard deviations of windows."""
    variance = law.sigma_m(samples.range_m, samples.reflectance) ** 2 + samples.quantum_m**2 / 12.0
    degrees = WINDOW - 3 if samples.along_rings else 1
    return float(np.mean(-0.5 * degrees * (np.log(variance) + samples.error_m**2 / variance)))
