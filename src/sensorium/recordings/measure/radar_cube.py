"""Noise of a radar's receivers from raw samples: its level and whether it is complex Gaussian.

Samples are weighted by Hann's window along samples and chirps, and transformed into cells of range and Doppler. Cells
of fast targets, beyond a quarter of the Doppler span on both sides, hold noise almost alone: their power is exponential
where the noise of samples is complex Gaussian. With m cells of a range bin and their mean,

    sigma^2 = mean / (sum w_r^2 sum w_d^2)                       variance of a complex sample [DN^2]
    law = (m + 1) / (m - 1) (mean of squares / mean^2 - 1)       1 for exponential cells, for any m

Every third cell is used, since the window correlates neighbors. Both are medians over bins of range, so that few bins
with targets do not matter. Ref: M. Richards, "Fundamentals of Radar Signal Processing", 2nd ed., 6.3.
"""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.figures import median_figure
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.readers.radar_cube import RadarCube

Float = NDArray[np.float64]

_APART = 3
_LEAST_CELLS = 8


def measure_radar_cube(cube: RadarCube) -> Measurement:
    """Level and law of the noise, offset of the converters, and the strongest cell above the noise."""
    chirps, receivers, count = cube.samples.shape
    power, weight = range_doppler_power(cube.samples)
    fast = np.abs(np.fft.fftfreq(chirps)) > 0.25
    noise = power[fast][::_APART, :, ::_APART].reshape(-1, receivers * len(range(0, count, _APART)))
    cells = len(noise)
    if cells < _LEAST_CELLS:
        rule = f"it must leave {_LEAST_CELLS} cells of fast targets"
        raise SpecError(f"{cube.path.name!r} has {chirps} chirps; {rule}")
    mean = noise.mean(axis=0)
    if not (mean > 0.0).all():
        raise SpecError(f"{cube.path.name!r} has bins of range without noise; samples of a receiver have it")
    sigma = np.sqrt(mean / (weight * (1.0 - 1.0 / (3.0 * cells))))  # the median of a mean of m cells is below theirs
    law = (cells + 1) / (cells - 1) * ((noise**2).mean(axis=0) / mean**2 - 1.0)
    level = median_figure("adc_noise", sigma, "DN", noise.size)
    figures = [level, median_figure("noise_law", law * _median_of_law(cells), "1", noise.size)]
    parts = (cube.samples.real, cube.samples.imag)
    for name, part in zip(("in phase", "in quadrature"), parts, strict=True):
        offsets = part.reshape(chirps, -1).mean(axis=1)
        figures.append(median_figure("dc_offset", offsets, "DN", part.size, where=name))
    peak = 10.0 * np.log10(float(power.max()) / (level.value**2 * weight))
    ends = 20.0 * np.log10(np.array([level.high, level.low]) / level.value)
    low, high = float(peak - ends[0]), float(peak - ends[1])
    figures.append(Figure("peak_over_noise", float(peak), "dB", low, high, power.size))
    by_range = np.sqrt(power[fast].mean(axis=(0, 1)) / weight)
    half = 1.96 * by_range / (2.0 * np.sqrt(cells * receivers))
    labels = ("range", "bin", "noise of a sample", "DN")
    bins = np.arange(count, dtype=np.float64)
    curve = Curve("adc_noise.by_range", *labels, bins, by_range, by_range - half, by_range + half)
    remarks = (f"{chirps} chirps of {count} samples, {receivers} receivers; noise is that of Doppler beyond a quarter",)
    return Measurement("radar", "", cube.path.name, tuple(figures), (curve,), remarks)


def range_doppler_power(samples: NDArray[np.complex128]) -> tuple[Float, float]:
    """Power of cells, shape (Doppler, receivers, range), and their power for samples of variance 1."""
    chirps, _, count = samples.shape
    along, across = np.hanning(count + 2)[1:-1], np.hanning(chirps + 2)[1:-1]
    weighted = (samples - samples.mean()) * along * across[:, None, None]
    cells = np.fft.fft(np.fft.fft(weighted, axis=2), axis=0)
    return np.abs(cells) ** 2, float((along**2).sum() * (across**2).sum())


def _median_of_law(cells: int) -> float:
    """Factor from the median to the mean of the law's estimate for exponential cells, by its skewness, drawn once."""
    drawn = np.random.default_rng(28).exponential(size=(2000, cells))
    law = (cells + 1) / (cells - 1) * ((drawn**2).mean(axis=1) / drawn.mean(axis=1) ** 2 - 1.0)
    return float(1.0 / np.median(law))
