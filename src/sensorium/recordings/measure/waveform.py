"""Shape and width of a lidar's pulse, from recorded waveforms of single returns.

Each pulse s_i is brought to one time and height by a Gaussian through its samples above half height, of which the
logarithm is a parabola; its squares are weighted by s^2, as the noise of ln s is that of s over s:

    ln s = a + b t + c t^2,   t_0 = -b / (2 c),   A = exp(a - b^2 / (4 c))

and all pulses (s_i - baseline) / A over t - t_0 give the mean shape on a grid ten times as fine as the samples, since
their phases are spread over a sample. Width at half height and times between 10 and 90 % are crossings of that shape.
The baseline is the median of the samples ahead of the pulse. Pulses are used that stand 20 times above the noise, are
not clipped, and lie well inside their packet. What is measured is the pulse as the receiver gives it: of the emitter,
the detector and surfaces together; sloped surfaces widen it, so the median over many pulses is near the device's own.
Ref: H. Guo, "A simple algorithm for fitting a Gaussian function", IEEE Signal Process. Mag. 28 (5), 2011; W. Wagner
et al., ISPRS J. 60, 100 (2006).
"""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.recordings.measure.figures import deviation_figure, leave_one_out, median_figure
from sensorium.recordings.measurement import Curve, Figure, Measurement
from sensorium.recordings.readers.las_waveforms import WaveformRecording, Waveforms

Float = NDArray[np.float64]

_LEAST_PULSES = 30
_LEAST_BINS = 20
_ABOVE_NOISE = 20.0
_AHEAD = 5
_FINE = 10
_BEFORE, _AFTER = 2, 4  # widths
_GROUPS, _LEAST_GROUPS = 20, 5


class Pulses(NamedTuple):
    """Pulses of single returns, brought to one time and height.

    Attributes:
        time_s: Of each sample after the peak, shape (pulses, bins).
        height: Of each sample, 1 at the peak.
        amplitude: Of each pulse above its baseline, shape (pulses,).
        noise: Standard deviation of samples ahead of the pulse, of all.
        noise_samples: Number of these samples.
    """

    time_s: Float
    height: Float
    amplitude: Float
    noise: float
    noise_samples: int


def measure_waveform(recording: WaveformRecording) -> Measurement:
    """Pulse shape of the descriptor that has most pulses."""
    group = largest_group(recording)
    spacing_s = group.spacing_s
    pulses = aligned_pulses(group)
    count = len(pulses.amplitude)
    if count < _LEAST_PULSES:
        rule = f"{_LEAST_PULSES} single returns must stand {_ABOVE_NOISE:g} times above the noise"
        raise SpecError(f"{recording.path.name!r} has {count} pulses to measure; {rule}")
    widths = pulse_widths(pulses)
    reach = int(np.ceil(np.median(widths) / spacing_s)) * _FINE
    grid = np.arange(-_BEFORE * reach, _AFTER * reach + 1) * spacing_s / _FINE
    kind = np.arange(count) % _GROUPS
    found = leave_one_out(lambda kept: _times(grid, mean_shape(pulses, grid, kept[kind])), _GROUPS)
    figures = [
        found.figure(k, quantity, "s", count)
        for k, quantity in enumerate(("pulse.fwhm", "pulse.rise_time", "pulse.fall_time"))
    ]
    figures.append(median_figure("pulse.fwhm.median", widths, "s", count))
    figures += _by_amplitude(pulses, widths)
    figures.append(deviation_figure("sample_noise", pulses.noise, "DN", pulses.noise_samples, pulses.noise_samples))
    figures.append(Figure("sample_spacing", spacing_s, "s", spacing_s, spacing_s, group.samples.size))
    shapes = np.array([mean_shape(pulses, grid, kind == k) for k in range(_GROUPS)])
    there = np.isfinite(shapes).sum(axis=0) >= _LEAST_GROUPS
    mean, groups = mean_shape(pulses, grid, np.ones(count, bool))[there], np.isfinite(shapes[:, there]).sum(axis=0)
    half = 2.093 * np.nanstd(shapes[:, there], axis=0, ddof=1) / np.sqrt(groups)
    labels = ("time after the peak", "s", "share of the peak", "1")
    curve = Curve("pulse.shape", *labels, grid[there], mean, mean - half, mean + half)
    total = sum(each.samples.shape[0] for each in recording.groups)
    used = f"{count} of {total} pulses are single returns, not clipped, and stand above the noise"
    remarks = (used, f"the file was written by {recording.software!r}")
    return Measurement("waveform", "", recording.path.name, tuple(figures), (curve,), remarks)


def largest_group(recording: WaveformRecording) -> Waveforms:
    """Packets of the descriptor that has most of them."""
    return max(recording.groups, key=lambda each: each.samples.shape[0])


def aligned_pulses(group: Waveforms) -> Pulses:
    """Pulses of single returns that can be measured, brought to one time and height."""
    samples = group.samples[group.returns == 1]
    if samples.shape[1] < _LEAST_BINS or len(samples) == 0:
        return Pulses(np.zeros((0, 0)), np.zeros((0, 0)), np.zeros(0), 0.0, 1)
    peak = samples.argmax(axis=1)
    middle = 0.5 * (samples.max(axis=1) + np.median(samples, axis=1))
    width = float(np.median((samples >= middle[:, None]).sum(axis=1)))
    guard = int(np.ceil(1.5 * width)) + 1
    inside = (peak >= guard + _AHEAD) & (peak < samples.shape[1] - guard)
    samples, peak = samples[inside], peak[inside]
    bins = np.arange(samples.shape[1])
    ahead = np.where(bins < (peak - guard)[:, None], samples, np.nan)
    baseline = np.nanmedian(ahead, axis=1) if len(samples) else np.zeros(0)
    squares = (ahead - np.nanmean(ahead, axis=1, keepdims=True)) ** 2 if len(samples) else ahead
    degrees = np.isfinite(ahead).sum() - len(samples)
    noise = float(np.sqrt(np.nansum(squares) / max(int(degrees), 1)))
    heights = samples - baseline[:, None]
    rows = np.arange(len(samples))
    reach = np.arange(-max(1, round(0.5 * width)), max(1, round(0.5 * width)) + 1)
    around = heights[rows[:, None], peak[:, None] + reach]
    top = samples.max(axis=1, initial=-np.inf)
    clipped = (top >= group.top) | ((samples == top[:, None]).sum(axis=1) > 2)
    usable = (around > 0.0).all(axis=1) & (heights[rows, peak] > _ABOVE_NOISE * noise) & ~clipped
    around = around[usable]
    powers = reach[:, None] ** np.arange(3.0)
    normal = np.einsum("nk,ki,kj->nij", around**2, powers, powers)
    right = np.einsum("nk,ki->ni", around**2 * np.log(around), powers)
    a, b, c = np.linalg.solve(normal, right[..., None])[..., 0].T if len(around) else np.zeros((3, 0))
    curved = c < 0.0
    a, b, c = a[curved], b[curved], c[curved]
    shift, amplitude = -b / (2.0 * c), np.exp(a - b**2 / (4.0 * c))
    kept = np.flatnonzero(usable)[curved]
    time_s = (bins - peak[kept, None] - shift[:, None]) * group.spacing_s
    return Pulses(time_s, heights[kept] / amplitude[:, None], amplitude, noise, max(int(degrees), 1))


def mean_shape(pulses: Pulses, grid: Float, kept: NDArray[np.bool_]) -> Float:
    """Mean height of pulses around each time of an even grid [s]; NaN where there is no sample."""
    step = grid[1] - grid[0]
    cell = np.rint((pulses.time_s[kept] - grid[0]) / step).astype(np.int64).ravel()
    inside = (cell >= 0) & (cell < len(grid))
    total = np.bincount(cell[inside], pulses.height[kept].ravel()[inside], len(grid))
    number = np.bincount(cell[inside], minlength=len(grid))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.asarray(total / number)


def pulse_widths(pulses: Pulses) -> Float:
    """Width at half height of each pulse, by lines between its samples [s], shape (pulses,)."""
    return np.array([_width(t, h, 0.5) for t, h in zip(pulses.time_s, pulses.height, strict=True)])


def _times(grid: Float, shape: Float) -> Float:
    """Width at half height, and times from 10 to 90 % and from 90 to 10 % of a shape [s]."""
    there = np.isfinite(shape)
    t, h = grid[there], shape[there]
    high, low = _crossings(t, h, 0.9), _crossings(t, h, 0.1)
    return np.array([_width(t, h, 0.5), high[0] - low[0], low[1] - high[1]])


def _width(t: Float, h: Float, height: float) -> float:
    first, last = _crossings(t, h, height)
    return last - first


def _crossings(t: Float, h: Float, height: float) -> tuple[float, float]:
    """Times nearest the peak at which a shape crosses a height before and after it; its ends where it does not."""
    peak = int(np.argmin(np.abs(t)))
    before = np.flatnonzero(h[: peak + 1] < height)
    after = np.flatnonzero(h[peak:] < height)
    i = int(before[-1]) if len(before) else 0
    j = peak + int(after[0]) if len(after) else len(h) - 1
    first = np.interp(height, h[i : i + 2], t[i : i + 2])
    last = np.interp(-height, -h[j - 1 : j + 1], t[j - 1 : j + 1]) if j >= 1 else t[j]
    return float(first), float(last)


def _by_amplitude(pulses: Pulses, widths: Float) -> list[Figure]:
    """Median width of pulses by amplitude, in octaves."""
    octave = np.floor(np.log2(pulses.amplitude)).astype(np.int64)
    figures = []
    for low, high in pairwise(range(int(octave.min()), int(octave.max()) + 2)):
        inside = octave == low
        if np.count_nonzero(inside) >= _LEAST_PULSES:
            where = f"amplitude {2.0**low:g} to {2.0**high:g} DN"
            count = int(inside.sum())
            figures.append(median_figure("pulse.fwhm.by_amplitude", widths[inside], "s", count, where=where))
    return figures
