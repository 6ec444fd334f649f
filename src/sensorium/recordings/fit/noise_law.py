"""The noise of a lidar as a product: a number, times a factor by range, times a factor by reflectance."""

import itertools
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.clipped_tails import OUTLIER, ROBUST, kept_variance
from sensorium.recordings.measure.lidar_noise import RANGE_EDGES_M, REFLECTIVITY_EDGES, edges_of, joined_bins
from sensorium.recordings.measure.lidar_rays import WINDOW, pairs_of, rays_of, windows_of
from sensorium.recordings.measurement import Figure, Measurement
from sensorium.recordings.scans import LidarRecording

Array = NDArray[np.float64]
Edges = Sequence[tuple[float, float]]

# Reflectance that a reflectivity of 0 is taken for [1]
_DARKEST = 0.005

# Samples that a bin needs: pairs of turns, or windows of a ring
_LEAST_PAIRS, _LEAST_WINDOWS = 100, 40

# Share of a bin's noise that its 95 % interval may reach to either side: an uncertain factor is better than none
_KNOWN = 0.2

_ROUNDS = 20


class NoiseSamples(NamedTuple):
    """Errors of ranges on smooth surfaces, shape (n,) each.

    Attributes:
        error_m: Difference of two turns over sqrt(2), or standard deviation about a parabola in a window of a ring [m].
        range_m: Range [m].
        reflectivity: Reflectivity as reported.
        along_rings: Which of both the errors are.
        quantum_m: Step of the ranges, whose rounding is in the errors [m].
        signal: Signal as reported; empty if the device reports none.
        block: Number of the block of each, whose errors are taken for independent of others.
        range_bins, reflectivity_bins: Edges of bins in which the noise is known well enough to be fitted.
        kept: Part of the variance that is left without outliers [1].
    """

    error_m: Array
    range_m: Array
    reflectivity: Array
    along_rings: bool
    quantum_m: float
    signal: Array = np.zeros(0)
    block: NDArray[np.int64] = np.zeros(0, np.int64)
    range_bins: Edges = tuple(itertools.pairwise(RANGE_EDGES_M))
    reflectivity_bins: Edges = tuple(itertools.pairwise(REFLECTIVITY_EDGES))
    kept: float = 1.0

    @property
    def reflectance(self) -> Array:
        """Reflectance that each return shows [1]."""
        return np.maximum(self.reflectivity / 100.0, _DARKEST)

    def where(self, chosen: NDArray[np.bool_]) -> "NoiseSamples":
        """Some of them."""
        fields = ("error_m", "range_m", "reflectivity", "signal", "block")
        return self._replace(**{name: values[chosen] for name in fields if len(values := getattr(self, name))})


class FactorTable(NamedTuple):
    """Factors of the noise at places that rise; arrays have shape (n,).

    Attributes:
        place: Ranges [m] or reflectances [1], medians of bins.
        factor: Noise there over `NoiseLaw.std_m` [1].
        error: Standard error of the factor [1].
    """

    place: Array
    factor: Array
    error: Array


class NoiseLaw(NamedTuple):
    """sigma = std_m g(range) f(reflectance), without the rounding of ranges.

    Attributes:
        std_m: Noise of the whole recording, with a factor by reflectance whose mean square is 1 [m].
        by_range: The factor g.
        by_reflectance: The factor f.
    """

    std_m: float
    by_range: FactorTable
    by_reflectance: FactorTable

    def sigma_m(self, range_m: Array, reflectance: Array) -> Array:
        """Noise at ranges [m] on reflectances [1], as the model of the lidar interpolates it [m]."""
        g = np.interp(range_m, self.by_range.place, self.by_range.factor)
        f = np.interp(np.log(reflectance), np.log(self.by_reflectance.place), self.by_reflectance.factor)
        return self.std_m * g * f


class Law(Protocol):
    """Noise by range and reflectance."""

    def sigma_m(self, range_m: Array, reflectance: Array) -> Array:
        """Standard deviation at ranges [m] on reflectances [1], without the rounding of ranges [m]."""


def noise_samples(recording: LidarRecording, measurement: Measurement) -> NoiseSamples:
    """Errors of ranges, along rings or between turns as in the measurement of the same recording."""
    rays, along_rings = rays_of(recording), is_along_rings(measurement)
    rough_m = max(recording.range_unit_m, *(each.value for each in measurement.of("noise.along_ring")))
    samples = windows_of(recording, rays) if along_rings else pairs_of(recording, rays, rough_m).samples
    error_m = samples.difference_m if along_rings else samples.difference_m / np.sqrt(2.0)
    way: dict[str, Any] = {"is_temporal": not along_rings, "unit_m": recording.range_unit_m}
    by_range, by_reflectivity = (
        joined_bins(samples, field, known=_KNOWN, **way) for field in ("range_m", "reflectivity")
    )
    tails = [] if along_rings else measurement.of("noise.excess_kurtosis")
    return NoiseSamples(
        error_m,
        samples.range_m,
        samples.reflectivity,
        along_rings,
        measurement.figure("quantum").value,
        samples.signal,
        samples.block,
        by_range,
        by_reflectivity,
        kept_variance(max((each.value for each in tails), default=0.0)),
    )


def is_along_rings(measurement: Measurement) -> bool:
    """Whether the noise was measured along rings, because the scene moved or there is one turn."""
    if not measurement.of("noise"):
        raise SpecError(f"{measurement.source!r} shows no noise: it has too few rays on smooth surfaces")
    along = measurement.of("noise.along_ring")
    return bool(along) and along[0].value == measurement.figure("noise").value


def noise_law(samples: NoiseSamples) -> NoiseLaw:
    """The product in which the errors of each bin of range, and of each bin of reflectivity, have the spread 1.

    Factors at the medians of the bins begin with 1 and are corrected in turn by the spread of the errors over the law:
    the fixed point is the maximum likelihood of normal errors in a table of bins, but for the interpolation.
    """
    by = (samples.range_m, samples.range_bins), (samples.reflectivity, samples.reflectivity_bins)
    places = [_places(values, bins, samples) for values, bins in by]
    usual_m = np.full(len(samples.error_m), max(float(np.median(np.abs(samples.error_m))), samples.quantum_m))
    whole_m = float(usual_m[0]) * spread(samples, usual_m)
    values = [np.ones(len(each)) for each, _ in places]
    x, rho = samples.range_m, np.log(samples.reflectance)
    nodes = places[0][0], np.log(np.maximum(places[1][0] / 100.0, _DARKEST))
    for _ in range(_ROUNDS):
        for axis in (1, 0):
            law = whole_m * np.interp(x, nodes[0], values[0]) * np.interp(rho, nodes[1], values[1])
            for k, inside in enumerate(places[axis][1]):
                values[axis][k] *= spread(samples.where(inside), law[inside])
    mean = float(np.sqrt(np.mean(np.interp(rho, nodes[1], values[1]) ** 2)))
    values = [values[0] * mean, values[1] / mean]
    tables = []
    for place, factor, (_, members) in zip((nodes[0], np.exp(nodes[1])), values, places, strict=True):
        free = np.array([np.count_nonzero(inside) for inside in members]) * (6.0 if samples.along_rings else 1.0)
        tables.append(FactorTable(place, factor, factor / np.sqrt(2.0 * free)))
    return NoiseLaw(whole_m / np.sqrt(samples.kept), *tables)


def predicted(law: Law, samples: NoiseSamples, figures: Sequence[Figure]) -> list[tuple[Figure, float]]:
    """Measured noise of all rays, or of bins of range or reflectivity, beside what a law gives for these rays [m]."""
    variance = samples.kept * law.sigma_m(samples.range_m, samples.reflectance) ** 2
    sigma_m = np.sqrt(variance + samples.quantum_m**2 / 12.0)
    found = []
    for figure in figures:
        low, high = edges_of(figure.where) if figure.where else (0.0, np.inf)
        values = samples.range_m if figure.where.startswith("range") else samples.reflectivity
        inside = (values >= low) & (values < high)
        if inside.any():
            found.append((figure, _pooled_m(sigma_m[inside], along_rings=samples.along_rings)))
    return found


def _places(values: Array, bins: Edges, samples: NoiseSamples) -> tuple[Array, list[NDArray[np.bool_]]]:
    """Medians of the bins that have enough samples, rising, and the members of each."""
    least = _LEAST_WINDOWS if samples.along_rings else _LEAST_PAIRS
    members = [(values >= low) & (values < high) for low, high in bins]
    members = [inside for inside in members if np.count_nonzero(inside) >= least]
    if not members:
        members = [np.ones(len(values), np.bool_)]
    places = np.array([np.median(values[inside]) for inside in members])
    kept = np.flatnonzero(np.diff(places, prepend=-1.0) > 0.0)
    return places[kept], [members[k] for k in kept]


def spread(samples: NoiseSamples, law_m: Array) -> float:
    """Factor by which a law must grow to have the spread of the errors, next to the rounding of ranges.

    The spread is the mean square, without errors beyond 6 robust standard deviations as in `measure`, or the lower
    quartile of windows.
    """
    rounding = samples.quantum_m**2 / 12.0
    size = np.abs(samples.error_m) / np.sqrt(law_m**2 + rounding)
    if samples.along_rings:
        from scipy.special import chdtri

        free = WINDOW - 3
        found = float(np.quantile(size, 0.25)) ** 2 * free / float(chdtri(free, 0.75))
    else:
        limit = OUTLIER * max(ROBUST * float(np.median(size)), float(samples.quantum_m / np.median(law_m)))
        found = float(np.mean(size[size <= limit] ** 2))
    square = float(np.median(law_m)) ** 2
    return float(np.sqrt(max((found * (square + rounding) - rounding) / square, 1e-4)))


def _pooled_m(std_m: Array, *, along_rings: bool) -> float:
    """Noise that `measure` finds in a mixture of normal errors [m].

    Between turns it is the root of the mean variance; along rings the lower quartile of the standard deviations of
    windows with 6 degrees of freedom, scaled as for one normal law.
    """
    if not along_rings:
        return float(np.sqrt(np.mean(std_m**2)))
    from scipy.optimize import brentq
    from scipy.special import chdtr, chdtri

    free = WINDOW - 3

    def below(quartile_m: float) -> float:
        return float(np.mean(chdtr(free, free * (quartile_m / std_m) ** 2))) - 0.25

    found = brentq(below, 0.1 * std_m.min(), 3.0 * std_m.max())
    return float(found * np.sqrt(free / chdtri(free, 0.75)))
