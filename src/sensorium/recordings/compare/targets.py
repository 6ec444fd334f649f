"""The geometry of a recording as targets: a small square for each ray, facing it, at the range that was recorded."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.patterns import RayTable
from sensorium.recordings.measure.lidar_rays import WINDOW, rays_of
from sensorium.recordings.measure.lidar_timing import nearest
from sensorium.recordings.scans import FULL_TURN, LidarRecording
from sensorium.scene.mesh import Mesh

Array = NDArray[np.float64]

# Half the width of a target, as an angle [rad]; beams of all known lidars are farther apart
_HALF_WIDTH = 4e-4

# Ranges of one direction in several turns that differ by less are of one surface [m]
_SAME_M = 0.25

# A hole between two ranges that differ by less is in one surface [m]
_HOLE_M = 0.1

_DARKEST = 0.005

# Period of the finest waves of a ring that are left to half [columns]: four windows
_PERIOD = 4 * WINDOW


class Targets(NamedTuple):
    """Targets of c channels and k columns, shape (c, k) each.

    Attributes:
        range_m: Range [m], 0 for none.
        reflectance: Diffuse reflectance [1], as the device reported it.
    """

    range_m: Array
    reflectance: Array


def targets_of(recording: LidarRecording, columns: int, *, is_still: bool) -> Targets:
    """Targets at even azimuths: means over turns of a still scene, one turn of a moving one; smooth along rings.

    Noise that is left after the mean over turns is taken out along rings, where neighbors lie on one surface by the
    rule of `measure`, and the roughness of surfaces with it: noise along rings has it already. Of a moving scene
    reflectivities too are means of 9 neighbors there, since their noise would count as dark targets.

    Args:
        recording: A real recording.
        columns: Columns of a turn of the simulated device.
        is_still: Whether the scene is still.
    """
    wanted = FULL_TURN * np.arange(columns) / columns
    range_m, reflectivity = recording.range_m[:, :, recording.primary], recording.reflectivity[:, :, recording.primary]
    sizes = np.bincount(recording.turn)
    turns = np.flatnonzero(sizes > 0.5 * sizes.max())
    if not is_still:
        turns = turns[np.argmax(sizes[turns])][None]
    ranges, shown = [], []
    for turn in turns:
        mine = np.flatnonzero(recording.turn == turn)
        mine = mine[np.argsort(recording.azimuth[mine], kind="stable")]
        azimuth = recording.azimuth[mine]
        found = mine[nearest(azimuth, wanted)]
        far = np.abs(recording.azimuth[found] - wanted) > FULL_TURN / columns
        ranges.append(np.where(far[:, None], 0.0, range_m[found].astype(np.float64)).T)
        shown.append(reflectivity[found].astype(np.float64).T)
    seen = np.stack(ranges)
    middle = _median(seen)
    agree = (seen > 0.0) & (np.abs(seen - middle) < _SAME_M)
    count = np.maximum(agree.sum(axis=0), 1)
    present = agree.sum(axis=0) * 2 > len(seen)
    mean_m = np.where(present, np.where(agree, seen, 0.0).sum(axis=0) / count, 0.0)
    mean = np.where(agree, np.stack(shown), 0.0).sum(axis=0) / count
    filled_m = _filled(mean_m)
    mean = np.where((mean_m == 0.0) & (filled_m > 0.0), np.roll(mean, 1, axis=1), mean)
    ring = recording._replace(
        azimuth=wanted,
        range_m=filled_m.T[..., None].astype(np.float32),
        returns=("strongest",),
    )
    on_one = rays_of(ring).is_smooth.T
    if not is_still:
        mean = np.where(on_one, _around(mean).mean(axis=-1), mean)
    return Targets(_smoothed(filled_m, on_one), np.clip(mean / 100.0, _DARKEST, 1.0))


def _median(seen: Array) -> Array:
    """Median over turns of the ranges that are there; 0 where none is."""
    ordered = np.sort(np.where(seen > 0.0, seen, np.inf), axis=0)
    count = (seen > 0.0).sum(axis=0)
    middle = np.take_along_axis(ordered, np.maximum((count - 1) // 2, 0)[None], axis=0)[0]
    return np.where(count > 0, middle, 0.0)


def _filled(range_m: Array) -> Array:
    """Ranges with the mean of both neighbors of the ring in single holes of a surface: there returns were lost."""
    before, after = np.roll(range_m, 1, axis=1), np.roll(range_m, -1, axis=1)
    hole = (range_m == 0.0) & (before > 0.0) & (after > 0.0) & (np.abs(after - before) < _HOLE_M)
    return np.where(hole, 0.5 * (before + after), range_m)


def _smoothed(range_m: Array, on_one: NDArray[np.bool_]) -> Array:
    """Ranges z of rings without what changes faster than in `_PERIOD` columns, where neighbors lie on one surface.

    z minimizes sum (r - z)^2 + lambda sum (third difference of z)^2 (E. T. Whittaker, Proc. Edinb. Math. Soc. 41, 1923,
    63), with the third differences of four neighbors that a smooth window holds: edges stay, parabolas too, and a sine
    of the period loses half. A parabola through 9 neighbors alone would leave a tenth of the noise's variance to the
    windows of `measure`.
    """
    from scipy.linalg import solveh_banded

    channels, columns = range_m.shape
    values = np.pad(range_m, ((0, 0), (_PERIOD, _PERIOD)), mode="wrap").reshape(-1)
    # Third differences from place i on, which a smooth window about i - 1 to i + 4 holds, and none across two rings
    smooth = np.pad(on_one, ((0, 0), (_PERIOD, _PERIOD)), mode="wrap")
    held = np.pad(smooth, ((0, 0), (1, WINDOW // 2)))
    inside = np.asarray(np.lib.stride_tricks.sliding_window_view(held, WINDOW // 2 + 2, 1).any(axis=-1))
    inside[:, -3:] = False
    weight = inside.reshape(-1) * (2.0 * np.sin(np.pi / _PERIOD)) ** -6.0
    bands = np.zeros((4, len(values)))  # the diagonal and those below it
    bands[0] = 1.0
    third = np.array([-1.0, 3.0, -3.0, 1.0])
    for first in range(4):
        for second in range(first, 4):
            bands[second - first, first:] += third[first] * third[second] * weight[: len(weight) - first]
    found = solveh_banded(bands, values, lower=True)
    return np.asarray(found).reshape(channels, -1)[:, _PERIOD : _PERIOD + columns]


def _around(values: Array) -> Array:
    """The 9 neighbors of each value of a ring, shape (channels, columns, 9)."""
    half = WINDOW // 2
    return np.lib.stride_tricks.sliding_window_view(np.pad(values, ((0, 0), (half, half)), mode="wrap"), WINDOW, 1)


def target_mesh(rays: RayTable, targets: Targets) -> Mesh:
    """The targets as one mesh in the sensor's frame, with the vertex property "reflectance"."""
    there = targets.range_m > 0.0
    direction = rays.direction_S[there].astype(np.float64)
    range_m = targets.range_m[there][:, None]
    center = direction * range_m + (0.0 if rays.origin_S is None else rays.origin_S[there])
    side = np.cross(direction, np.where(np.abs(direction[:, 2:]) < 0.9, [[0.0, 0.0, 1.0]], [[1.0, 0.0, 0.0]]))
    side *= _HALF_WIDTH * range_m / np.linalg.norm(side, axis=1, keepdims=True)
    up = np.cross(side, direction)
    corners = np.stack([center - side - up, center + side - up, center + side + up, center - side + up], axis=1)
    first = 4 * np.arange(len(center))[:, None, None]
    faces = first + np.array([[0, 1, 2], [0, 2, 3]])
    reflectance = np.repeat(targets.reflectance[there], 4)
    return Mesh(corners.reshape(-1, 3), faces.reshape(-1, 3), vertex_properties={"reflectance": reflectance})
