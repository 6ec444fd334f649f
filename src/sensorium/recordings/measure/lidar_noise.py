"""Range noise of a lidar: by range, reflectivity and signal, and its distribution.

From turn to turn where the scene is still: half the variance of the difference of two ranges in one direction. Along a
ring where it is not: the variance about a parabola through 9 neighbors, of which the lower quartile is taken, since
surfaces are not all smooth: for normal errors, var = q25 / (chi2_6(0.25) / 6).
"""

import itertools
import re
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.clipped_tails import OUTLIER, ROBUST, true_excess
from sensorium.recordings.measure.intervals import Estimate, jackknife, jackknife_root, quantile, share
from sensorium.recordings.measure.lidar_rays import WINDOW, Samples
from sensorium.recordings.measurement import Curve, Figure, Measurement

RANGE_EDGES_M = (0.0, 0.3, 1.0, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0, 50.0, 80.0, 120.0, 200.0, 500.0)
REFLECTIVITY_EDGES = (0.0, 1.0, 3.0, 8.0, 15.0, 30.0, 60.0, 100.0, 150.0, 256.0)
SIGNAL_EDGES = (0.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 400.0, 800.0, 1600.0, 3200.0, 6400.0, 65536.0)

KNOWN = 0.1
"""Share of a bin's noise that its 95 % interval may reach to either side; bins of less are joined with the next."""

_LEAST_SAMPLES, _LEAST_BLOCKS = 150, 8
_EDGES = re.compile(r"([-+.\de]+) to ([-+.\de]+)")
_HISTOGRAM = np.linspace(-6.0, 6.0, 61)


class Bins(NamedTuple):
    """A quantity by which noise is sorted.

    Attributes:
        name: As "range".
        unit: "m", or "1".
        edges: Edges of the bins.
    """

    name: str
    unit: str
    edges: Sequence[float]


BINS = {
    "range_m": Bins("range", "m", RANGE_EDGES_M),
    "reflectivity": Bins("reflectivity", "1", REFLECTIVITY_EDGES),
    "signal": Bins("signal", "1", SIGNAL_EDGES),
}


def noise(samples: Samples, *, is_temporal: bool, unit_m: float) -> Estimate | None:
    """Standard deviation of one range [m]; None for too few samples.

    Args:
        samples: Differences of turns, or deviations in windows.
        is_temporal: Which of both.
        unit_m: Range of one count [m].
    """
    if len(samples.difference_m) < (_LEAST_SAMPLES if is_temporal else _LEAST_SAMPLES // 3):
        return None
    if not is_temporal:
        from scipy.special import chdtri

        free = WINDOW - 3
        scale = float(np.sqrt(free / chdtri(free, 0.75)))
        return quantile(samples.difference_m, 0.25, samples.block).scaled(scale)
    kept = samples.where(np.abs(samples.difference_m) <= limit_m(samples, unit_m))
    sums = block_sums(kept.block, np.ones(len(kept.block)), kept.difference_m**2)
    if len(sums) < _LEAST_BLOCKS:
        return None
    return jackknife_root(sums, lambda total: 0.5 * total[..., 1] / total[..., 0])


def limit_m(samples: Samples, unit_m: float) -> float:
    """Differences beyond this are outliers [m]."""
    return OUTLIER * max(ROBUST * float(np.median(np.abs(samples.difference_m))), unit_m)


def block_sums(block: NDArray[np.int64], *values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of each value over each block that has some, shape (blocks, values)."""
    number = np.unique(block, return_inverse=True)[1]
    return np.stack([np.bincount(number, each) for each in values], axis=1)


def noise_figures(
    samples: Samples, *, is_temporal: bool, unit_m: float, like: Measurement | None = None
) -> tuple[list[Figure], list[Curve]]:
    """Noise over all, by range, by reflectivity, by signal, and by range and reflectivity together.

    Args:
        samples: Differences of turns, or deviations in windows.
        is_temporal: Which of both.
        unit_m: Range of one count [m].
        like: A measurement whose bins are taken, whatever is known in them.
    """
    found = noise(samples, is_temporal=is_temporal, unit_m=unit_m)
    if found is None:
        return [], []
    figures = [Figure("noise", found.value, "m", found.low, found.high, len(samples.difference_m))]
    curves = []
    for field, (name, _, _) in BINS.items():
        if len(getattr(samples, field)):
            if like is None:
                bins = joined_bins(samples, field, known=KNOWN, is_temporal=is_temporal, unit_m=unit_m)
            else:
                bins = [edges_of(each.where) for each in like.of(f"noise.by_{name}")]
            more, curve = _noise_by(samples, field, bins, is_temporal=is_temporal, unit_m=unit_m)
            figures += more
            curves += curve
    for text, part in _binned(samples, "range_m"):
        for other, cell in _binned(part, "reflectivity"):
            found = noise(cell, is_temporal=is_temporal, unit_m=unit_m)
            if found is not None:
                place = f"{text}, {other}"
                figures.append(
                    Figure("noise.by_range_and_reflectivity", found.value, "m", *found[1:], len(cell.block), place)
                )
    return figures, curves


def edges_of(where: str) -> tuple[float, float]:
    """Edges of the bin that a figure is of."""
    low, high = _EDGES.findall(where)[0]
    return float(low), float(high)


def _place(field: str, low: float, high: float) -> str:
    name, unit, _ = BINS[field]
    return f"{name} {low:g} to {high:g}" + (f" {unit}" if unit != "1" else "")


def _binned(samples: Samples, field: str) -> list[tuple[str, Samples]]:
    """Samples of each bin that has 50 or more, with its name."""
    values, edges = getattr(samples, field), BINS[field].edges
    number = np.searchsorted(edges, values, side="right") - 1
    kept = [k for k in range(len(edges) - 1) if np.count_nonzero(number == k) >= 50]
    return [(_place(field, edges[k], edges[k + 1]), samples.where(number == k)) for k in kept]


def joined_bins(
    samples: Samples, field: str, *, known: float, is_temporal: bool, unit_m: float
) -> list[tuple[float, float]]:
    """Edges of bins of a field whose noise is known: others are joined with the next, the last with the one before.

    Args:
        samples: Differences of turns, or deviations in windows.
        field: By which they are sorted, of `BINS`.
        known: Share of the noise that its 95 % interval may reach to either side.
        is_temporal: Which of both samples are.
        unit_m: Range of one count [m].
    """
    values, found = getattr(samples, field), list[tuple[float, float]]()
    start: float | None = None
    for low, high in itertools.pairwise(BINS[field].edges):
        if not np.any((values >= low) & (values < high)):
            continue
        start, last = (low if start is None else start), high
        estimate = noise(_between(samples, field, start, high), is_temporal=is_temporal, unit_m=unit_m)
        if estimate is not None and estimate.high - estimate.low <= 2.0 * known * estimate.value:
            found.append((start, high))
            start = None
    if start is not None and found:
        found[-1] = found[-1][0], last
    return found


def _between(samples: Samples, field: str, low: float, high: float) -> Samples:
    values = getattr(samples, field)
    return samples.where((values >= low) & (values < high))


def _noise_by(
    samples: Samples, field: str, bins: Sequence[tuple[float, float]], *, is_temporal: bool, unit_m: float
) -> tuple[list[Figure], list[Curve]]:
    name, unit, _ = BINS[field]
    quantity = f"noise.by_{name}"
    figures, rows = [], list[tuple[float, ...]]()
    for low, high in bins:
        part = _between(samples, field, low, high)
        found = noise(part, is_temporal=is_temporal, unit_m=unit_m)
        if found is not None:
            figures.append(Figure(quantity, found.value, "m", *found[1:], len(part.block), _place(field, low, high)))
            rows.append((float(np.median(getattr(part, field))), *found))
    if len(rows) < 2:
        return figures, []
    return figures, [Curve(quantity, name, unit, "range noise", "m", *np.array(rows).T)]


def distribution_figures(samples: Samples, *, unit_m: float) -> tuple[list[Figure], list[Curve]]:
    """Excess kurtosis of one range, share of outliers, and the histogram of differences in standard deviations.

    Differences of a bin of range and reflectivity are divided by the bin's standard deviation first, so that the
    kurtosis is that of the noise, and not of the mixture. The excess of a difference of two independent values is half
    of theirs; what the clip of outliers took from it is put back for the law that the lidar model draws.
    """
    scaled, blocks, outliers, all_count = [], [], 0, 0
    cells = [cell for _, part in _binned(samples, "range_m") for _, cell in _binned(part, "reflectivity")]
    for part in cells:
        inside = np.abs(part.difference_m) <= limit_m(part, unit_m)
        kept = part.difference_m[inside]
        spread = float(np.sqrt(np.mean(kept**2))) if len(kept) else 0.0
        if len(kept) < _LEAST_SAMPLES or spread == 0.0:
            continue
        scaled.append(kept / spread)
        blocks.append(part.block[inside])
        outliers += int(np.count_nonzero(~inside))
        all_count += len(inside)
    if not scaled:
        return [], []
    z, block = np.concatenate(scaled), np.concatenate(blocks)
    sums = block_sums(block, np.ones(len(z)), z**2, z**4)
    if len(sums) < _LEAST_BLOCKS:
        return [], []
    excess = true_excess(jackknife(sums, lambda t: 2.0 * (t[..., 2] * t[..., 0] / t[..., 1] ** 2 - 3.0)))
    wild = share(outliers, all_count)
    figures = [
        Figure("noise.excess_kurtosis", excess.value, "1", excess.low, excess.high, len(z)),
        Figure("noise.outliers", wild.value, "1", wild.low, wild.high, all_count),
    ]
    counts, _ = np.histogram(z, _HISTOGRAM)
    width = float(_HISTOGRAM[1] - _HISTOGRAM[0])
    shares = np.array([share(int(count), len(z)) for count in counts]) / width
    centers = 0.5 * (_HISTOGRAM[1:] + _HISTOGRAM[:-1])
    curve = Curve(
        "noise.distribution", "difference of two turns", "standard deviations", "density", "1", centers, *shares.T
    )
    return figures, [curve]
