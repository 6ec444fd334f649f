"""Spots of pupil rays on a virtual grid of cells.

Every cell of the virtual grid gathers the rays that reach it through each of several points of the pupil: through point
p it sees the ideal image at x - delta(x, p), with the deviation delta of `optics.deviation`. Radiance is constant along
a ray, so a uniform field stays uniform with any lens. (The paper moves each sample by its deviation and takes the
nearest one for each cell, which is the same for one ray and leaves no cell empty.)

No ray is traced through the lens: the five Seidel terms vary slowly over the image, so they are tabulated for each
pupil point at the nodes of a coarse grid and interpolated; defocus, which follows the depth of each sample, is a
multiple of the pupil point and is computed cell by cell. Each cell of a pixel has its own set of pupil points.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.optics.lenses.continued_inverse import continued_inverse
from sensorium.physics.optics.lenses.seidel import Seidel, deviation, deviation_slopes, in_focus_distance

TILE = 16
"""Pixels between the nodes of the table."""

# Of the search for where a ray comes from
_STEPS = 30


Slopes = tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]
"""dx'/dx, dx'/dy, dy'/dx, dy'/dy of a map."""


class SpotTable(NamedTuple):
    """Origins of pupil rays, in cells of the virtual grid."""

    shift: NDArray[np.float32]  # (sets, points, rows + 1, tiles + 1, 2): deviation (x, y) at the nodes [cells]
    pupil: NDArray[np.float32]  # (sets, points, 2): pupil points (x, y) [m], each axis times mean pitch over its pitch
    blur: NDArray[np.float32]  # (2,): deviation per meter of pupil is blur[0] - blur[1] / depth [cells/m]
    factor: int
    """Cells along a pixel, m; set number a m + b belongs to the cell in row a and column b of each pixel."""
    margin: int
    """Cells that the ideal image has beyond each edge."""


def spot_table(
    *,
    columns: int,
    rows: int,
    pitch_m: tuple[float, float],
    factor: int,
    pupil_rays: int,
    coefficients: Seidel,
    focal_length_m: float,
    pupil_distance_m: float,
    pupil_radius_m: float,
    nearest_m: float | None = None,
) -> SpotTable:
    """Tabulate the spots of a lens.

    Args:
        columns, rows: Pixels.
        pitch_m: Width and height of a pixel [m].
        factor: Cells along a pixel, the sample factor.
        pupil_rays: Rays through the pupil for each cell: 1 (the middle) or an even number.
        coefficients: Seidel terms.
        focal_length_m, pupil_distance_m, pupil_radius_m: Of the lens [m].
        nearest_m: Nearest depth for which the ideal image has enough margin [m]; at the edges nearer points blur with
            the last sample. None takes half the depth in focus.
    """
    if factor < 1:
        raise SpecError(f"factor is {factor}; the virtual grid must have at least 1 cell a pixel")
    points = pupil_points(pupil_rays, factor * factor) * pupil_radius_m
    pitch = np.array(pitch_m)

    # Nodes at the corners of tiles; the field is the image coordinate, from the middle to the right and down
    across, down = -(-columns // TILE), -(-rows // TILE)
    x = (np.arange(across + 1) * TILE - 0.5 * columns) * pitch[0]
    y = (np.arange(down + 1) * TILE - 0.5 * rows) * pitch[1]
    node = np.stack(np.meshgrid(x, y), axis=-1)
    half = 0.5 * np.array([columns, rows]) * pitch
    missed = _missed(node, points, coefficients, pupil_distance_m, half, close=0.05 * pitch.min() / factor)
    shift = missed * factor / pitch

    # Defocus moves a ray by -2 R A p = -R (1/s - 1/r) p, as many meters on the chip in both directions
    points = points * (pitch.mean() / pitch)
    in_focus_m = in_focus_distance(focal_length_m, pupil_distance_m)
    blur = -pupil_distance_m * factor / pitch.mean() * np.array([1.0 / in_focus_m, 1.0])
    if nearest_m is None:
        nearest_m = 0.5 * in_focus_m
    widest = max(abs(blur[0]), abs(blur[0] - blur[1] / nearest_m)) * np.hypot(*points.reshape(-1, 2).T).max()
    margin = int(np.ceil(np.abs(shift).max() + widest)) + 1

    # Wide blurs are cut at the edges, but all that distortion brings into the image is cast
    beyond = np.abs(np.clip(node, -half, half) - missed) - half
    most = max(max(columns, rows) * factor // 8, int(np.ceil((beyond * factor / pitch).max())) + 1)
    return SpotTable(
        np.ascontiguousarray(shift, np.float32),
        np.ascontiguousarray(points, np.float32),
        blur.astype(np.float32),
        factor,
        min(margin, most),
    )


def _missed(
    node: NDArray[np.float64],
    points: NDArray[np.float64],
    coefficients: Seidel,
    pupil_distance_m: float,
    half_m: NDArray[np.float64],
    *,
    close: float,
) -> NDArray[np.float64]:
    """Deviation of each ray that reaches a node from its ideal point [m], shape (sets, points, *nodes, 2).

    A ray comes from the field that is off by its own deviation, not by the node's. Most lenses bend so little that a
    fixed-point iteration of the deviation converges. A point that does not converge, or leaves the neighborhood of the
    image, is followed from the axis (`continued_inverse`); if that ends, the lens folds the image.
    """
    pupil = points[:, :, None, None, :]
    missed, far = np.zeros((*points.shape[:2], *node.shape)), 4.0 * np.hypot(*half_m)
    change = np.inf
    for _ in range(_STEPS):
        before, change_before = missed, change
        missed = deviation(node - before, pupil, coefficients, image_distance_m=pupil_distance_m)
        if not np.abs(missed).max() < far:
            break
        change = np.abs(missed - before).max()
        if change < close and change <= 0.5 * change_before:  # the remainder is less than the last change
            return missed

    # Nodes beyond the image only serve to interpolate up to its edge, where the lens is still evaluated
    inside = np.clip(node, -half_m, half_m)
    wanted = np.broadcast_to(inside, missed.shape).reshape(-1, 2)
    through = np.broadcast_to(pupil, missed.shape).reshape(-1, 2)

    def imaged(field: NDArray[np.float64], which: NDArray[np.intp]) -> tuple[NDArray[np.float64], Slopes]:
        lens = {"image_distance_m": pupil_distance_m}
        bent = deviation(field, through[which], coefficients, **lens)
        xx, xy, yx, yy = deviation_slopes(field, through[which], coefficients, **lens)
        return field + bent, (1.0 + xx, xy, yx, 1.0 + yy)

    found, reached = continued_inverse(imaged, np.zeros_like(wanted), wanted)
    if not reached.all():
        raise SpecError(f"{coefficients} fold the image: some pixels would see no ray; they must be smaller")
    missed = (wanted - found).reshape(missed.shape)
    for axis in (1, 0):
        nodes = np.moveaxis(missed, 3 - axis, 0)
        last, edge = node[-1, -1, axis], half_m[axis]
        before = node[-2, -2, axis]
        nodes[-1] = nodes[-2] + (nodes[-1] - nodes[-2]) * ((last - before) / (edge - before))
    return missed


# Turns from point to point: the golden section of half a turn, as each point has an opposite
_TURN = math.pi * (3.0 - math.sqrt(5.0)) / 2.0


def pupil_points(count: int, sets: int = 1) -> NDArray[np.float64]:
    """Points (x, y) of the unit disc [1], shape (sets, count, 2), each for an equal area.

    All sets together are on a spiral of golden angles; within each set every point has its opposite, so the mean is
    exactly 0, and over all sets the mean square radius is exactly 1/2. A single point is the middle.

    Args:
        count: Points of a set: 1 or an even number.
        sets: How many different sets.
    """
    if count < 1 or sets < 1 or (count > 1 and count % 2):
        raise SpecError(f"count is {count} and sets {sets}; points are 1 or an even number, sets at least 1")
    if count == 1:
        return np.zeros((sets, 1, 2))
    half = sets * count // 2
    number = np.arange(half)
    radius, angle = np.sqrt((number + 0.5) / half), number * _TURN
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle)], axis=-1)
    dealt = points.reshape(count // 2, sets, 2).transpose(1, 0, 2)
    return np.concatenate([dealt, -dealt], axis=1)
