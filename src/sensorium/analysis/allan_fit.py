"""Fits an Allan deviation: white noise N, bias instability B, rate random walk K."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.analysis.allan import Allan
from sensorium.analysis.allan_regression import TERMS, Regression, design
from sensorium.core.errors import SpecError

Array = NDArray[np.float64]

_OCTAVE = 1.8  # least ratio of neighboring averaging times in the fit; closer ones add no information
_SCALE_POWER = {"Q": 1.0, "N": 0.5, "B": 0.0, "K": -0.5, "R": -1.0}  # of dt, from samples to seconds


@dataclass(frozen=True)
class AllanFit:
    """Coefficients of a sensor's noise, one for each channel, with their 95 % intervals.

    With u the unit of the signal, the Allan variance is

        sigma^2(tau) = 3 Q^2 / tau^2 + N^2 / tau + (2 ln 2 / pi) B^2 + K^2 tau / 3 + R^2 tau^2 / 2

    (IEEE 952). N is two-sided: white noise sampled at a rate f has the standard deviation N sqrt(f), while data sheets
    give the one-sided density sqrt(2) N (E-19). The random walk gains the variance K^2 t in a time t (E-45). The floor
    of bias instability alone is sqrt(2 ln 2 / pi) B = 0.664282 B.

    Attributes:
        coefficients: By letter, of those in `terms`: Q [u s], N [u/sqrt(Hz)], B [u], K [u/sqrt(s)], R [u/s], shape
            (*channels). Estimates are as often too high as too low; 0 says that the recording does not show it.
        intervals: By letter, lower and upper end of the 95 % interval, shape (2, *channels). A lower end of 0 says
            that the recording may be without it, an infinite upper end that it sets no limit.
        model_error: Deviation of the variances from this model, beyond their scatter, relative to them [1], shape
            (*channels): 0.002 if the model holds; the intervals contain it.
        fit_range_s: Shortest and longest averaging time of the fit [s].
        allan: The fitted Allan deviation.
        channels: Name of each channel, in C order of the channel axes.
        units: Unit of each channel, such as "rad/s"; "" where it is not known.
    """

    coefficients: dict[str, Array]
    intervals: dict[str, Array]
    model_error: Array
    fit_range_s: tuple[float, float]
    allan: Allan
    channels: tuple[str, ...]
    units: tuple[str, ...]

    @property
    def terms(self) -> str:
        """The fitted terms, some of Q, N, B, K, R in this order."""
        return "".join(self.coefficients)

    @property
    def Q(self) -> Array:
        """Quantization [u s], shape (*channels); 0 where it was not fitted."""
        return self._coefficient("Q")

    @property
    def N(self) -> Array:
        """White noise [u/sqrt(Hz)], two-sided, shape (*channels); angle or velocity random walk."""
        return self._coefficient("N")

    @property
    def B(self) -> Array:
        """Bias instability [u], shape (*channels); the floor of the curve is at 0.664282 B."""
        return self._coefficient("B")

    @property
    def K(self) -> Array:
        """Rate random walk [u/sqrt(s)], shape (*channels)."""
        return self._coefficient("K")

    @property
    def R(self) -> Array:
        """Rate ramp [u/s], shape (*channels); 0 where it was not fitted."""
        return self._coefficient("R")

    @property
    def correlation_time_s(self) -> Array:
        """Averaging time of the lowest point of the fitted curve within the measured taus [s], shape (*channels).

        That is sqrt(3) N / K where white noise and walk meet: a bias redrawn after that time, or a Gauss-Markov process
        of it, represents the bias instability in models without flicker.
        """
        tau = np.geomspace(self.allan.tau_s[0], self.allan.tau_s[-1], 2001)
        return tau[np.argmin(self.deviation(tau), axis=0)]

    def deviation(self, tau_s: ArrayLike) -> Array:
        """Allan deviation of the fit [u] at averaging times [s] of shape (taus,); shape (taus, *channels)."""
        return np.sqrt(sum(part**2 for part in self.parts(tau_s).values()))

    def parts(self, tau_s: ArrayLike) -> dict[str, Array]:
        """Allan deviation of each term alone [u], by letter, shape (taus, *channels)."""
        roots = np.sqrt(design(np.asarray(tau_s, np.float64), self.terms))
        return {
            term: np.multiply.outer(roots[:, i], self.coefficients[term]).reshape(len(roots), *self.model_error.shape)
            for i, term in enumerate(self.terms)
        }

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fit and the measured curve as JSON; see `sensorium.analysis.allan_file` for the format."""
        from sensorium.analysis.allan_file import save

        save(self, path)

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "AllanFit":
        """Read a file written by `save` or `sensorium allan`."""
        from sensorium.analysis.allan_file import load

        return load(path)

    def _coefficient(self, term: str) -> Array:
        return self.coefficients.get(term, np.zeros(self.model_error.shape))


def fit_allan(
    allan: Allan,
    *,
    terms: str = "NBK",
    fit_range_s: tuple[float, float] | None = None,
    channels: Sequence[str] | None = None,
    units: str | Sequence[str] = "",
    progress: Callable[[int], None] | None = None,
) -> AllanFit:
    """Fit white noise, bias instability and rate random walk to an Allan deviation, with 95 % intervals.

    Generalized least squares on the variance with no negative part, weighted by the covariance of overlapping
    variances for the fitted mixture, and intervals by inverting tests against drawn recordings; see
    `sensorium.analysis.allan_regression`. Signals are taken to be Gaussian.

    Args:
        allan: Result of `allan_deviation`.
        terms: Letters of the terms to fit: any of Q, N, B, K, R with at least one of N, B, K.
        fit_range_s: Shortest and longest averaging time to use [s], for instance to leave out times that a sensor's own
            low-pass filter shapes; None uses all.
        channels: Name of each channel, in C order of the channel axes; None numbers them.
        units: Unit of every channel, or one for each.
        progress: Called with the number of channels done after each.
    """
    shape = allan.deviation.shape[1:]
    size = math.prod(shape)
    letters = _checked_terms(terms)
    names = _checked_names(channels, shape)
    unit = (units,) * size if isinstance(units, str) else tuple(units)
    if len(unit) != size:
        raise SpecError(f"units has {len(unit)} entries; there are {size} channels")
    picked = _octaves(allan, fit_range_s, len(letters))

    # One channel at a time, time in samples
    counts = tuple(int(count) for count in allan.counts[picked])
    variances = allan.deviation.reshape(len(allan.tau_s), size)[picked] ** 2
    found, error = np.zeros((3, len(letters), size)), np.zeros(size)
    for channel in range(size):
        if not (variances[:, channel] > 0.0).all():
            raise SpecError(
                f"channel {names[channel]!r} has an Allan deviation of 0; a signal that is stuck has no fit"
            )
        with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
            regression = Regression(counts, allan.samples, variances[:, channel], letters)
            least = regression.estimate()
            for k in range(len(letters)):
                found[:, k, channel] = np.sqrt(regression.interval(k, least))
        error[channel] = regression.model_error
        if not (np.isfinite(found[:2, :, channel]).all() and np.isfinite(error[channel])):
            raise SpecError(
                f"channel {names[channel]!r} has no fit of {letters}: its coefficients are not finite; the signal must "
                "be noise, not a pattern that repeats"
            )
        if progress is not None:
            progress(channel + 1)

    # From samples to seconds
    coefficients, intervals = {}, {}
    for k, term in enumerate(letters):
        low, middle, high = found[:, k] * allan.rate_hz ** -_SCALE_POWER[term]
        coefficients[term] = middle.reshape(shape)
        intervals[term] = np.stack([low, high]).reshape(2, *shape)
    used = allan.tau_s[picked]
    return AllanFit(
        coefficients=coefficients,
        intervals=intervals,
        model_error=error.reshape(shape),
        fit_range_s=(float(used[0]), float(used[-1])),
        allan=allan,
        channels=names,
        units=unit,
    )


def _octaves(allan: Allan, fit_range_s: tuple[float, float] | None, terms: int) -> list[int]:
    """Which averaging times to fit: about an octave apart, within the range."""
    low, high = (0.0, math.inf) if fit_range_s is None else fit_range_s
    if not 0.0 <= low < high:
        raise SpecError(f"fit_range_s is {fit_range_s}; it must be two times of which the second is the larger")
    picked: list[int] = []
    for i, tau in enumerate(allan.tau_s.tolist()):
        if low <= tau <= high and (not picked or tau >= _OCTAVE * allan.tau_s[picked[-1]]):
            picked.append(i)
    if len(picked) < terms + 2:
        rule = f"{terms} terms need at least {terms + 2}, that is a longer recording or a wider range"
        raise SpecError(f"the fit has {len(picked)} averaging times an octave apart; {rule}")
    return picked


def _checked_terms(terms: str) -> str:
    letters = "".join(term for term in TERMS if term in terms)
    if len(letters) != len(terms) or not set(letters) & set("NBK"):
        raise SpecError(f"terms is {terms!r}; it must be letters of {TERMS!r}, each once, with N, B or K among them")
    return letters


def _checked_names(channels: Sequence[str] | None, shape: tuple[int, ...]) -> tuple[str, ...]:
    if channels is None:
        return tuple(",".join(map(str, index)) or "signal" for index in np.ndindex(shape))
    names = tuple(channels)
    if len(names) != math.prod(shape) or len(set(names)) != len(names):
        raise SpecError(f"channels is {names}; it must be {math.prod(shape)} different names")
    return names
