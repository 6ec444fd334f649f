"""Signal, background and reflectivity of a lidar: how they scatter from turn to turn."""

import numpy as np
from numpy.typing import NDArray

from sensorium.recordings.measure.clipped_tails import OUTLIER, ROBUST
from sensorium.recordings.measure.intervals import jackknife, jackknife_root
from sensorium.recordings.measure.lidar_noise import REFLECTIVITY_EDGES, SIGNAL_EDGES, block_sums
from sensorium.recordings.measure.lidar_rays import Rays, blocks_of, matched
from sensorium.recordings.measurement import Curve, Figure
from sensorium.recordings.scans import LidarRecording

_LEAST_SAMPLES, _LEAST_BLOCKS = 300, 8


def signal_figures(recording: LidarRecording, rays: Rays) -> tuple[list[Figure], list[Curve]]:
    """Variance over mean of signal and background, which is 1 for counted photons, and noise of reflectivity."""
    figures, curves = list[Figure](), list[Curve]()
    for name, values in (("signal", _primary(recording, recording.signal)), ("background", recording.background)):
        if values is not None:
            more, drawn = _counts(recording, rays, values, name)
            figures, curves = figures + more, curves + drawn
    reflectivity = recording.reflectivity[:, :, recording.primary]
    return figures + _reflectivity(recording, rays, reflectivity), curves


def _primary(recording: LidarRecording, values: NDArray[np.uint16] | None) -> NDArray[np.uint16] | None:
    return None if values is None else values[:, :, recording.primary]


def _pairs(
    recording: LidarRecording, rays: Rays, values: NDArray[np.integer]
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.int64]]:
    """Mean and difference of values of successive turns on smooth surfaces, and their blocks."""
    means, differences, blocks = [np.zeros(0)], [np.zeros(0)], [np.zeros(0, np.int64)]
    for turn in range(int(recording.turn[-1])):
        found = matched(recording, turn)
        if found is None:
            continue
        mine, theirs, _ = found
        at = np.nonzero(rays.is_whole[mine] & rays.is_whole[theirs])
        first, second = (values[columns[at[0]], at[1]].astype(np.float64) for columns in (mine, theirs))
        means.append(0.5 * (first + second))
        differences.append(second - first)
        blocks.append(blocks_of(recording.azimuth[mine[at[0]]], at[1]))
    return np.concatenate(means), np.concatenate(differences), np.concatenate(blocks)


def _counts(
    recording: LidarRecording, rays: Rays, values: NDArray[np.uint16], name: str
) -> tuple[list[Figure], list[Curve]]:
    mean, difference, block = _pairs(recording, rays, values)
    number = np.searchsorted(SIGNAL_EDGES, mean, side="right") - 1
    figures, rows = list[Figure](), list[tuple[float, ...]]()
    for k in range(len(SIGNAL_EDGES) - 1):
        inside = _kept(difference, number == k)
        sums = block_sums(block[inside], mean[inside], 0.5 * difference[inside] ** 2)
        if np.count_nonzero(inside) < _LEAST_SAMPLES or len(sums) < _LEAST_BLOCKS or sums[:, 0].sum() == 0.0:
            continue
        found = jackknife(sums, lambda total: total[..., 1] / total[..., 0])
        place = f"{name} {SIGNAL_EDGES[k]:g} to {SIGNAL_EDGES[k + 1]:g}"
        figures.append(Figure(f"{name}.variance_over_mean", *_figure(found, "1"), int(inside.sum()), place))
        rows.append((float(np.median(mean[inside])), *found))
    if len(rows) < 2:
        return figures, []
    quantity = f"{name}.variance_over_mean"
    return figures, [Curve(quantity, name, "counts", "variance over mean", "counts", *np.array(rows).T)]


def _reflectivity(recording: LidarRecording, rays: Rays, values: NDArray[np.uint8]) -> list[Figure]:
    mean, difference, block = _pairs(recording, rays, values)
    number = np.searchsorted(REFLECTIVITY_EDGES, mean, side="right") - 1
    figures = []
    for k in range(len(REFLECTIVITY_EDGES) - 1):
        inside = _kept(difference, number == k)
        sums = block_sums(block[inside], np.ones(int(inside.sum())), 0.5 * difference[inside] ** 2)
        if np.count_nonzero(inside) < _LEAST_SAMPLES or len(sums) < _LEAST_BLOCKS or sums[:, 1].sum() == 0.0:
            continue
        found = jackknife_root(sums, lambda total: total[..., 1] / total[..., 0])
        place = f"reflectivity {REFLECTIVITY_EDGES[k]:g} to {REFLECTIVITY_EDGES[k + 1]:g}"
        figures.append(Figure("reflectivity.noise", *_figure(found, "1"), int(inside.sum()), place))
    return figures


def _figure(found: tuple[float, float, float], unit: str) -> tuple[float, str, float, float]:
    return found[0], unit, found[1], found[2]


def _kept(difference: NDArray[np.float64], inside: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Those inside that are no outliers."""
    if not inside.any():
        return inside
    limit = OUTLIER * max(ROBUST * float(np.median(np.abs(difference[inside]))), 1.0)
    return inside & (np.abs(difference) <= limit)
