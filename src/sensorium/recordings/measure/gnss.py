"""Code noise of a GNSS receiver against signal strength, from observations at rest or in motion.

Pseudorange minus carrier phase is free of geometry, clocks and troposphere:

    P - lambda phi = 2 I + multipath + const + noise of P - noise of lambda phi

Its second difference over three epochs that follow each other takes off the ionosphere and multipath, which are slow,
and a constant; of white noise it has the variance 6 sigma^2. Noise of the phase is a hundredth of the code's. Triples
with a loss of lock, a gap, or a jump of more than six robust deviations (a cycle slip) are left out.

Loops and smoothing correlate the noise of real receivers from epoch to epoch, which the second difference takes off in
part. The whole error of the code, with that noise and multipath, is the deviation of P - lambda phi from a parabola
over each stretch of a minute or more without a slip (`code_error`); its correlation time is where the autocorrelation
of the residuals falls to 1/e.

Noise by signal is pooled in steps of 3 dB of C/N0 [dBHz]; its degrees of freedom are n / 1.944, since second
differences of white noise are correlated by -2/3 and 1/6. Over C/N0 the noise of a delay lock loop falls as
sigma = sigma_45 10^(-(C/N0 - 45) / 20 p), p = 1 where thermal noise is white and the loop linear; sigma_45 and p are
fitted for each signal. Ref: E. Kaplan and C. Hegarty, "Understanding GPS/GNSS", 3rd ed., 8.3 (delay lock loop).
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.recordings.measure.figures import deviation_figure, median_figure, student_figure
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.readers.rinex import Arc, Observations

Float = NDArray[np.float64]

_MHZ = 1e6
_GPS = {"1": 1575.42, "2": 1227.60, "5": 1176.45, "6": 1278.75}
_BANDS_MHZ = {
    "G": _GPS,
    "J": _GPS,
    "S": _GPS,
    "E": {"1": 1575.42, "5": 1176.45, "6": 1278.75, "7": 1207.14, "8": 1191.795},
    "C": {"1": 1575.42, "2": 1561.098, "5": 1176.45, "6": 1268.52, "7": 1207.14, "8": 1191.795},
    "I": {"5": 1176.45, "9": 2492.028},
}
_GLONASS_MHZ = {"1": (1602.0, 0.5625), "2": (1246.0, 0.4375), "3": (1202.025, 0.0)}

_SQUARES = 6.0
"""Variance of a second difference of white noise, in variances."""
_SHARED = 1.0 + 2.0 * ((2.0 / 3.0) ** 2 + (1.0 / 6.0) ** 2)
_SLIP = 6.0
_STEP_DB = 3.0
_LEAST, _LEAST_OF_ARC = 60, 30
_AT_DBHZ = 45.0
_STRETCH_S = 60.0
_NAMES = {"G": "GPS", "R": "GLONASS", "E": "Galileo", "C": "BeiDou", "J": "QZSS", "I": "NavIC", "S": "SBAS"}


class CodeNoise(NamedTuple):
    """Second differences of code minus phase of one signal, shape (n,) each.

    Attributes:
        deviation_m: Each over sqrt(6), so that their deviation is that of the code [m].
        strength_dbhz: C/N0 [dBHz].
        arc: Number of the satellite.
    """

    deviation_m: Float
    strength_dbhz: Float
    arc: NDArray[np.int64]


def measure_gnss(observations: Observations) -> Measurement:
    """Code noise by signal and C/N0, and its law over C/N0."""
    signals, errors = code_noise(observations), code_error(observations)
    figures: list[Figure] = []
    curves = []
    for name, noise in signals.items():
        rows = []
        cell = np.floor(noise.strength_dbhz / _STEP_DB).astype(np.int64)
        for number in np.unique(cell):
            inside = cell == number
            count = int(inside.sum())
            if count < _LEAST:
                continue
            sigma = float(np.sqrt((noise.deviation_m[inside] ** 2).mean()))
            where = f"{name}, {_STEP_DB * number:g} to {_STEP_DB * (number + 1):g} dBHz"
            figure = deviation_figure("code_noise.by_strength", sigma, "m", count / _SHARED, count, where=where)
            figures.append(figure)
            rows.append((float(noise.strength_dbhz[inside].mean()), sigma, figure.low, figure.high))
        if rows:
            labels = ("C/N0", "dBHz", "code noise", "m")
            curves.append(Curve(f"code_noise.{_plain(name)}", *labels, *np.array(rows).T))
        figures += _law(name, noise)
        figures += _whole_error(name, errors.get(name, []))
    if not figures:
        raise SpecError(f"{observations.path.name!r} has no signal with {_LEAST} epochs of code, phase and strength")
    count, step_s = len(observations.time_s), _step_s(observations)
    remarks = (f"{count} epochs of {step_s:g} s, {len(observations.arcs)} satellites",)
    return Measurement(
        "gnss", observations.receiver, observations.path.name, tuple(figures), tuple(curves), remarks
    )


def code_noise(observations: Observations) -> dict[str, CodeNoise]:
    """Second differences of code minus phase by signal, as "GPS C1C"."""
    found: dict[str, list[tuple[Float, Float]]] = defaultdict(list)
    for name, arc, columns, wavelength in _signals(observations):
        difference, times, usable = _code_minus_phase(observations, arc, columns, wavelength)
        second, middle = _second_differences(difference, times, usable, _step_s(observations))
        strength = arc.values[middle, columns[2]]
        there = np.isfinite(strength)
        if np.count_nonzero(there) >= _LEAST_OF_ARC:
            found[name].append((second[there], strength[there]))
    return {
        name: CodeNoise(
            np.concatenate([differences for differences, _ in parts]),
            np.concatenate([strengths for _, strengths in parts]),
            np.repeat(np.arange(len(parts)), [len(differences) for differences, _ in parts]),
        )
        for name, parts in sorted(found.items())
    }


def wavelength_m(satellite: str, band: str, slots: dict[str, int]) -> float | None:
    """Wavelength of a satellite's carrier [m]; None for an unknown band, or a GLONASS satellite without a slot.

    Args:
        satellite: Name, as "G05".
        band: Digit of the observation code, as "1" of C1C.
        slots: Frequency numbers of GLONASS satellites.
    """
    if satellite[0] == "R":
        if band not in _GLONASS_MHZ or satellite not in slots:
            return None
        middle, spacing = _GLONASS_MHZ[band]
        frequency = middle + spacing * slots[satellite]
    else:
        frequency = _BANDS_MHZ.get(satellite[0], {}).get(band, 0.0)
    return SPEED_OF_LIGHT_M_S / (frequency * _MHZ) if frequency > 0.0 else None


def code_error(observations: Observations) -> dict[str, list[Float]]:
    """Deviations of code minus phase from a parabola over each stretch without a slip [m], by signal."""
    found: dict[str, list[Float]] = defaultdict(list)
    step_s = _step_s(observations)
    for name, arc, columns, wavelength in _signals(observations):
        difference, times, usable = _code_minus_phase(observations, arc, columns, wavelength)
        _, middle = _second_differences(difference, times, usable, step_s)
        joined = np.zeros(len(times), bool)  # whether a sample follows the one before it without a slip
        joined[middle + 1] = True
        for stretch in np.split(np.arange(len(times)), np.flatnonzero(~joined)):
            if len(stretch) * step_s >= _STRETCH_S and len(stretch) >= _LEAST_OF_ARC:
                x = (times[stretch] - times[stretch].mean()) / max(float(np.ptp(times[stretch])), 1e-9)
                design = np.stack([np.ones(len(x)), x, x**2], axis=1)
                y = difference[stretch] - difference[stretch[0]]
                found[name].append(y - design @ np.linalg.lstsq(design, y, rcond=None)[0])
    return found


def _whole_error(name: str, stretches: list[Float]) -> list[Figure]:
    """Deviation of the code with multipath over all satellites, and its correlation time in epochs."""
    if len(stretches) < 2:
        return []
    squares = np.array([float(each @ each) / max(len(each) - 3, 1) for each in stretches])
    sigma = float(np.sqrt(squares.mean()))
    samples = sum(len(each) for each in stretches)
    error = float(squares.std(ddof=1) / np.sqrt(len(squares)))
    around = student_figure("", sigma**2, "", error, len(squares) - 1, samples)
    low, high = (float(np.sqrt(max(each, 0.0))) for each in (around.low, around.high))
    figures = [Figure("code_error", sigma, "m", low, high, samples, name)]
    times = np.array([_correlation_epochs(each) for each in stretches])
    return [*figures, median_figure("code_error.correlation_epochs", times, "1", samples, where=name)]


def _correlation_epochs(residual: Float) -> float:
    """Lag at which the autocorrelation falls to 1/e, by lines between lags [epochs]."""
    count = len(residual)
    power = np.abs(np.fft.rfft(residual, 2 * count)) ** 2
    correlation = np.fft.irfft(power)[: count // 2]
    correlation = correlation / max(float(correlation[0]), 1e-300)
    below = np.flatnonzero(correlation < np.exp(-1.0))
    if len(below) == 0 or below[0] == 0:
        return float(count // 2)
    k = int(below[0])
    return float(k - 1 + (correlation[k - 1] - np.exp(-1.0)) / (correlation[k - 1] - correlation[k]))


_Columns = tuple[int, int, int]


def _signals(observations: Observations) -> Iterator[tuple[str, Arc, _Columns, float]]:
    """Signal, satellite, columns of code, phase and strength, and wavelength [m]."""
    for arc in observations.arcs:
        system = arc.satellite[0]
        types = observations.types[system]
        for k, code in enumerate(types):
            phase, strength = f"L{code[1:]}", f"S{code[1:]}"
            wavelength = wavelength_m(arc.satellite, code[1:2], observations.slots)
            if code[:1] == "C" and phase in types and strength in types and wavelength is not None:
                columns = (k, types.index(phase), types.index(strength))
                yield f"{_NAMES[system]} {code}", arc, columns, wavelength


def _step_s(observations: Observations) -> float:
    """Time between epochs [s]."""
    return float(np.median(np.diff(observations.time_s))) if len(observations.time_s) > 1 else 1.0


def _code_minus_phase(
    observations: Observations, arc: Arc, columns: _Columns, wavelength: float
) -> tuple[Float, Float, NDArray[np.bool_]]:
    """Code minus phase [m], times [s], and whether phase was held since the epoch before."""
    difference = arc.values[:, columns[0]] - wavelength * arc.values[:, columns[1]]
    return difference, observations.time_s[arc.epoch], ~arc.lost_lock[:, columns[1]]


def _second_differences(
    difference: Float, times: Float, held: NDArray[np.bool_], step_s: float
) -> tuple[Float, NDArray[np.int64]]:
    """Second differences over sqrt(6) of triples without a jump, and the number of the middle of each."""
    second = (difference[2:] - 2.0 * difference[1:-1] + difference[:-2]) / np.sqrt(_SQUARES)
    even = (np.abs(np.diff(times) - step_s) < 0.1 * step_s) & held[1:]
    usable = even[1:] & even[:-1] & np.isfinite(second)
    middle = np.flatnonzero(usable) + 1
    second = second[usable]
    if len(second) == 0:
        return second, middle
    kept = np.abs(second) <= _SLIP * 1.4826 * float(np.median(np.abs(second)))
    return second[kept], middle[kept]


def _law(name: str, noise: CodeNoise) -> list[Figure]:
    """Noise at 45 dBHz and exponent over C/N0, by a line through log sigma of the satellites."""
    points = []
    for k in range(int(noise.arc.max(initial=-1)) + 1):
        own = noise.arc == k
        sigma = float(np.sqrt((noise.deviation_m[own] ** 2).mean()))
        if np.count_nonzero(own) >= _LEAST_OF_ARC and sigma > 0.0:
            points.append((float(noise.strength_dbhz[own].mean()), np.log10(sigma)))
    if len(points) < 4 or np.ptp([x for x, _ in points]) < _STEP_DB:
        return []
    x, y = np.array(points).T
    design = np.stack([np.ones(len(x)), -(x - _AT_DBHZ) / 20.0], axis=1)
    (level, power), *_ = np.linalg.lstsq(design, y, rcond=None)
    residual = y - design @ np.array([level, power])
    degrees, samples = len(x) - 2, len(noise.arc)
    errors = np.sqrt(np.diag(np.linalg.inv(design.T @ design)) * float(residual @ residual) / degrees)
    at = student_figure("", float(level), "", float(errors[0]), degrees, samples)
    exponent = student_figure("code_noise.exponent", float(power), "1", float(errors[1]), degrees, samples, where=name)
    noise_at = Figure("code_noise.at_45_dbhz", 10.0**at.value, "m", 10.0**at.low, 10.0**at.high, samples, name)
    return [noise_at, exponent] if np.isfinite(noise_at[1:2] + noise_at[3:5]).all() else []


def _plain(name: str) -> str:
    return name.lower().replace(" ", "_")
