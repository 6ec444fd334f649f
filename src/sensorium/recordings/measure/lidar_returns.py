"""Returns of a lidar: range quantum, separation of two returns, dropout against reflectivity or signal."""

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.intervals import Estimate, quantile, share
from sensorium.recordings.measure.lidar_noise import BINS
from sensorium.recordings.measure.lidar_rays import Rays, matched
from sensorium.recordings.measurement import Curve, Figure
from sensorium.recordings.scans import LidarRecording

# Smallest separations that tell the end of their distribution, and draws of the bootstrap
_RANK, _DRAWS = 20, 1000

_LEAST_RAYS = 200


def quantum_figure(recording: LidarRecording) -> Figure:
    """The largest step of which ranges are multiples, apart from a constant: at least 999 of 1000 ranges are.

    It has no interval: ranges are counts.
    """
    counts = np.rint(recording.range_m[recording.range_m > 0.0].astype(np.float64) / recording.range_unit_m)
    values = counts.astype(np.int64)
    step = 1
    for factor in (2, 3, 5):
        while step < 1024:
            remainder = values % (step * factor)
            if np.bincount(remainder, minlength=2).max() < 0.999 * len(values):
                break
            step *= factor
    quantum_m = step * recording.range_unit_m
    return Figure("quantum", quantum_m, "m", quantum_m, quantum_m, len(values))


def separation_figures(recording: LidarRecording) -> tuple[list[Figure], list[Curve]]:
    """Least and 1 % separation of two returns of a ray, and the share of rays with two; none for single returns."""
    if len(recording.returns) < 2:
        return [], []
    first, second = (recording.range_m[:, :, k].astype(np.float64) for k in (0, 1))
    both = (first > 0.0) & (second > 0.0) & (first != second)
    rays = int(np.count_nonzero((first > 0.0) | (second > 0.0)))
    two = share(int(np.count_nonzero(both)), rays)
    figures = [Figure("returns.two", two.value, "1", two.low, two.high, rays)]
    apart = np.abs(first[both] - second[both])
    if len(apart) < _RANK:
        return figures, []
    least, common = least_separation(apart), quantile(apart, 0.01)
    figures.append(Figure("separation.least", least.value, "m", least.low, least.high, len(apart)))
    figures.append(Figure("separation.percentile_1", common.value, "m", common.low, common.high, len(apart)))
    edges = np.linspace(0.0, 5.0, 51)
    counts, _ = np.histogram(apart, edges)
    shares = np.array([share(int(count), len(apart)) for count in counts])
    centers = 0.5 * (edges[1:] + edges[:-1])
    return figures, [Curve("separation", "separation of two returns", "m", "share", "1", centers, *shares.T)]


def least_separation(apart: NDArray[np.float64]) -> Estimate:
    """The separation that one of the n given ones is expected to be below: the quantile 1/n, with its interval.

    The smallest one itself scatters more. The 20 smallest are taken for exceedances y below the largest of them with a
    generalized Pareto law, P(y > Y) = (1 + k Y / b)^(-1/k), whose k and b follow from mean and variance (J. R. M.
    Hosking and J. R. Wallis, Technometrics 29, 1987, 339): ends that are sharp and ends that fade are of this kind. The
    interval is by the bootstrap with that law, and holds 99 % of its draws, since few values tell the law: it covers 88
    % of ends that fade exponentially to 99 % of sharp ones.

    Args:
        apart: Separations [m], shape (n,), at least 20.
    """
    ordered = np.sort(apart)[:_RANK]
    value, shape, scale = _end(ordered)
    below = np.cumsum(np.random.default_rng(0).standard_exponential((_DRAWS, _RANK)), axis=1)
    drawn = _end(ordered[-1] - _exceedance(_RANK / below, shape, scale))[0]
    half = np.quantile(np.abs(drawn - value), 0.99)
    return Estimate(float(value), float(max(value - half, 0.0)), float(value + half))


def _end(ordered: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """Quantile of which 1 of the samples is below, by the smallest 20, shape (..., 20), and shape and scale."""
    above = ordered[..., -1:] - ordered[..., :-1]
    mean = above.mean(axis=-1)
    ratio = mean**2 / np.maximum(above.var(axis=-1, ddof=1), 1e-12)
    shape, scale = 0.5 * (1.0 - ratio), 0.5 * mean * (1.0 + ratio)
    return ordered[..., -1] - _exceedance(float(_RANK), shape, scale), shape, scale


def _exceedance(
    share: NDArray[np.float64] | float, shape: NDArray[np.float64], scale: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Exceedance that one in `share` is above."""
    k = np.where(np.abs(shape) < 1e-9, 1e-9, shape)
    return np.asarray(scale / k * np.expm1(k * np.log(share)))


def dropout_figures(recording: LidarRecording, rays: Rays, *, is_temporal: bool) -> tuple[list[Figure], list[Curve]]:
    """Share of rays without a return on surfaces that return others, by signal, or reflectivity without signal.

    From turn to turn: the ray of one turn is on a smooth surface, and the one of the next turn has no return. Along a
    ring: the two neighbors on each side are on one surface. The signal is that of the ray of the first turn, or the
    mean of the neighbors.
    """
    field = "signal" if recording.signal is not None else "reflectivity"
    values = recording.reflectivity if recording.signal is None else recording.signal
    strength = values[:, :, recording.primary]
    known, lost = (_lost_in_turns if is_temporal else _lost_in_rings)(recording, rays, strength)
    name, unit, edges = BINS[field]
    figures, rows = list[Figure](), list[tuple[float, ...]]()
    if len(known) >= _LEAST_RAYS:
        found = share(int(lost.sum()), len(known))
        figures.append(Figure("dropout", found.value, "1", found.low, found.high, len(known)))
    number = np.searchsorted(edges, known, side="right") - 1
    for k in range(len(edges) - 1):
        inside = number == k
        if np.count_nonzero(inside) < _LEAST_RAYS:
            continue
        found = share(int(lost[inside].sum()), int(inside.sum()))
        place = f"{name} {edges[k]:g} to {edges[k + 1]:g}"
        figures.append(Figure(f"dropout.by_{name}", found.value, "1", found.low, found.high, int(inside.sum()), place))
        rows.append((float(np.median(known[inside])), *found))
    if len(rows) < 2:
        return figures, []
    return figures, [Curve(f"dropout.by_{name}", name, unit, "share without a return", "1", *np.array(rows).T)]


def _lost_in_turns(
    recording: LidarRecording, rays: Rays, strength: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    known, lost = [np.zeros(0)], [np.zeros(0, np.bool_)]
    for turn in range(int(recording.turn[-1])):
        found = matched(recording, turn)
        if found is None:
            continue
        mine, theirs, _ = found
        smooth = rays.is_whole[mine]
        known.append(strength[mine][smooth].astype(np.float64))
        lost.append((rays.range_m[theirs] == 0.0)[smooth])
    return np.concatenate(known), np.concatenate(lost)


def _lost_in_rings(
    recording: LidarRecording, rays: Rays, strength: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    if len(rays.range_m) < 5:
        return np.zeros(0), np.zeros(0, np.bool_)
    sides = [rays.range_m[k : len(rays.range_m) - 4 + k] for k in (0, 1, 3, 4)]
    low, high = np.minimum.reduce(sides), np.maximum.reduce(sides)
    one = (low > 0.0) & (high - low < np.maximum(0.1, 0.01 * high))
    near = sum(strength[k : len(strength) - 4 + k].astype(np.float64) for k in (0, 1, 3, 4)) / 4.0
    return np.asarray(near)[one], (rays.range_m[2:-2] == 0.0)[one]
