"""Spots of pupil rays on a virtual grid of cells, and the pixels that sum them.

Every cell of the virtual grid gathers the rays that reach it through each of several points of the pupil: through point
p it sees the ideal image at x - delta(x, p), with the deviation delta of `optics.deviation`. Radiance is constant along
a ray, so an even field stays even whatever the lens does. (The paper moves each sample by its deviation and takes the
nearest one for each cell, which is the same for one ray and leaves no cell empty.)

No ray is traced through the lens: the five Seidel terms vary slowly over the image, so they are tabulated for each
pupil point at the nodes of a coarse grid and interpolated; defocus, which follows the depth of each sample, is a
multiple of the pupil point and is worked out cell by cell. Each cell of a pixel has its own set of pupil points.

Where near and far things meet, a ray may pass the near one's edge or be stopped by it: a ray is stopped if the place
that it would come from at the nearest depth around is that near indeed. What the ideal image does not show, the
background behind the near thing's edge, is taken from the background beside it. "Around" is the tile and its
neighbours, so blurs wider than a tile end there.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium import jit, threads
from sensorium.errors import SpecError
from sensorium.imaging.pupil import pupil_points
from sensorium.optics.seidel import Seidel, deviation, in_focus_distance

TILE = 16
"""Pixels between the nodes of the table."""

_HALF = np.float32(0.5)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)

# Of the search for where a ray comes from
_STEPS = 30


class SpotTable(NamedTuple):
    """Where pupil rays come from, in cells of the virtual grid."""

    shift: NDArray[np.float32]  # (sets, points, rows + 1, tiles + 1, 2): deviation (x, y) at the nodes [cells]
    pupil: NDArray[np.float32]  # (sets, points, 2): pupil points (x, y) [m]
    blur: NDArray[np.float32]  # (2,): deviation per metre of pupil is blur[0] - blur[1] / depth [cells/m]
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
            what the last sample shows. None takes half the depth in focus.
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
    pupil, missed = points[:, :, None, None, :], np.zeros((*points.shape[:2], *node.shape))

    # A ray that reaches the node comes from the field that is off by its own deviation, not by the node's
    close, far = 0.05 * pitch.min() / factor, 2.0 * np.hypot(x[0], y[0])
    for _ in range(_STEPS):
        before = missed
        found = deviation(node - before, pupil, coefficients, image_distance_m=pupil_distance_m)
        missed = np.clip(found, -far, far)
        if np.abs(missed - before).max() < close:
            break
    else:
        raise SpecError(f"{coefficients} fold the image: some pixels would see no ray; they must be smaller")
    shift = missed * factor / pitch

    # Defocus moves a ray by -2 R A p = -R (1/s - 1/r) p; pixels are as good as square where it matters
    in_focus_m = in_focus_distance(focal_length_m, pupil_distance_m)
    blur = -pupil_distance_m * factor / pitch.mean() * np.array([1.0 / in_focus_m, 1.0])
    if nearest_m is None:
        nearest_m = 0.5 * in_focus_m
    widest = max(abs(blur[0]), abs(blur[0] - blur[1] / nearest_m)) * np.hypot(*points.reshape(-1, 2).T).max()
    margin = int(np.ceil(np.abs(shift).max() + widest)) + 1
    most = max(columns, rows) * factor // 8
    return SpotTable(
        np.ascontiguousarray(shift, np.float32),
        np.ascontiguousarray(points, np.float32),
        blur.astype(np.float32),
        factor,
        min(margin, most),
    )


def pixel_means(
    ideal: NDArray[np.float32], inverse_depth: NDArray[np.float32], table: SpotTable, out: NDArray[np.float32]
) -> None:
    """Mean of the ideal image over each pixel, through the lens.

    Args:
        ideal: Virtual image with its margin, shape (rows m + 2 margin, columns m + 2 margin, bands).
        inverse_depth: One over the depth of each sample along the axis [1/m], 0 for the sky; shape without bands.
        table: Spots of the lens.
        out: Pixels, shape (rows, columns, bands).
    """
    rows, columns, bands = out.shape
    wanted = (rows * table.factor + 2 * table.margin, columns * table.factor + 2 * table.margin)
    if ideal.shape != (*wanted, bands) or inverse_depth.shape != wanted:
        raise SpecError(
            f"ideal has shape {ideal.shape} and inverse_depth {inverse_depth.shape}; "
            f"{rows} x {columns} pixels need {(*wanted, bands)} and {wanted}"
        )
    tiles = table.shift.shape[2] - 1, table.shift.shape[3] - 1
    extremes = np.empty((*tiles, 2), np.float32)
    threads.run(_find_extremes, tiles[0], inverse_depth, table.factor, table.margin, extremes)
    threads.run(_gather, rows, ideal.reshape(-1), inverse_depth, _around(extremes), table, out)


def _around(extremes: NDArray[np.float32]) -> NDArray[np.float32]:
    """Least and largest of each tile and its eight neighbours."""
    padded = np.pad(extremes, ((1, 1), (1, 1), (0, 0)), mode="edge")
    rows, columns = extremes.shape[:2]
    windows = [padded[i : i + rows, j : j + columns] for i in range(3) for j in range(3)]
    return np.stack([np.min([w[..., 0] for w in windows], 0), np.max([w[..., 1] for w in windows], 0)], axis=-1)


@jit.kernel
def _find_extremes(first, step, count, inverse_depth, m, margin, out):
    """Least and largest inverse depth of each tile, rows first, first + step, ... of tiles."""
    size = TILE * m
    bottom, right = inverse_depth.shape[0] - margin, inverse_depth.shape[1] - margin
    for row in range(first, count, step):
        for tile in range(out.shape[1]):
            least, most = np.float32(np.inf), np.float32(0.0)
            for y in range(margin + row * size, min(margin + (row + 1) * size, bottom)):
                for x in range(margin + tile * size, min(margin + (tile + 1) * size, right)):
                    least, most = min(least, inverse_depth[y, x]), max(most, inverse_depth[y, x])
            out[row, tile, 0], out[row, tile, 1] = least, most


@jit.kernel
def _gather(first, step, count, samples, inverse_depth, around, table, out):
    """Rows first, first + step, ... of pixels: find where each ray comes from, then sum what is there band by band.

    Loops, where NumPy has a word for it: Numba compiles whole-array arithmetic and assignment for seconds each.
    """
    m, points = table.factor, table.pupil.shape[1]
    rays, bands = m * m * points, out.shape[2]
    share = _ONE / np.float32(rays)
    aims = jit.zeros((6, rays), np.float32)
    place = jit.zeros(rays, np.int32)

    # Depths that differ by less than this move no ray by a cell
    widest = _ZERO
    for q in range(rays):
        for axis in range(2):
            aims[4 + axis, q] = table.pupil[q // points, q % points, axis]
            widest = max(widest, abs(aims[4 + axis, q]))
    alike = _ONE / max(abs(table.blur[1]) * widest, np.float32(1e-20))
    for row in range(first, count, step):
        tile_row = row // TILE
        for tile in range(table.shift.shape[3] - 1):
            _aim(table.shift, m, points, row - tile_row * TILE, tile_row, tile, aims)
            nearest = around[tile_row, tile, 1]
            mixed = nearest - around[tile_row, tile, 0] > alike
            start, end = tile * TILE, min((tile + 1) * TILE, out.shape[1])
            for pixel in range(start, end):
                y, x = row * m + table.margin, pixel * m + table.margin
                along = np.float32(pixel - start)
                if mixed:
                    _find_mixed(inverse_depth, table.blur, m, points, aims, along, y, x, nearest, alike, place)
                else:
                    _find_even(inverse_depth, table.blur, m, points, aims, along, y, x, place)
                for band in range(bands):
                    total = _ZERO
                    for q in range(rays):
                        total += samples[np.uint32(place[q] * bands + band)]
                    out[row, pixel, band] = total * share


@jit.function
def _aim(shift, m, points, down, tile_row, tile, aims):
    """Where rays of a tile's first pixel come from, counted from its first cell, and how that changes along the tile.

    Rows of `aims` are x, y, the changes of both from pixel to pixel [cells], and the pupil point (x, y) [m].
    """
    for number in range(m * m):
        a, b = number // m, number % m
        part = (np.float32(down) + (np.float32(a) + _HALF) / np.float32(m)) / np.float32(TILE)
        into = (np.float32(b) + _HALF) / np.float32(m)
        for p in range(points):
            q = number * points + p
            for axis in range(2):
                left, low = shift[number, p, tile_row, tile, axis], shift[number, p, tile_row + 1, tile, axis]
                right = shift[number, p, tile_row, tile + 1, axis]
                low_right = shift[number, p, tile_row + 1, tile + 1, axis]
                left, right = left + part * (low - left), right + part * (low_right - right)
                slope = (right - left) / np.float32(TILE)
                cell = np.float32(a) if axis else np.float32(b)
                aims[axis, q] = cell - left - into * slope
                aims[2 + axis, q] = np.float32(m) - slope


@jit.inlined
def _cell(at, most):
    """Nearest cell, inside the image; what is below 0 is cut towards it."""
    return min(max(np.int32(at + _HALF), np.int32(0)), np.int32(most))


@jit.function
def _find_even(inverse_depth, blur, m, points, aims, along, y, x, place):
    """Samples that the rays of a pixel come from, where depths around blur alike."""
    height, width = inverse_depth.shape
    top, left = np.float32(y), np.float32(x) - along * np.float32(m)
    for number in range(m * m):
        off = blur[0] - blur[1] * inverse_depth[y + number // m, x + number % m]
        for q in range(number * points, (number + 1) * points):
            sx = _cell(left + aims[0, q] + along * aims[2, q] - off * aims[4, q], width - 1)
            sy = _cell(top + aims[1, q] + along * (aims[3, q] - np.float32(m)) - off * aims[5, q], height - 1)
            place[q] = sy * np.int32(width) + sx


@jit.function
def _find_mixed(inverse_depth, blur, m, points, aims, along, y, x, nearest, alike, place):
    """The same where near and far things meet."""
    height, width = inverse_depth.shape
    far, near = blur[0], blur[1]
    top, left = np.float32(y), np.float32(x) - along * np.float32(m)
    for number in range(m * m):
        here = inverse_depth[y + number // m, x + number % m]
        for q in range(number * points, (number + 1) * points):
            at_x = left + aims[0, q] + along * aims[2, q]
            at_y = top + aims[1, q] + along * (aims[3, q] - np.float32(m))
            px, py = aims[4, q], aims[5, q]

            # Something near in the way: where would this ray come from, and is that so near?
            stopped = False
            if nearest - here > alike:
                off = far - near * nearest
                there = inverse_depth[_cell(at_y - off * py, height - 1), _cell(at_x - off * px, width - 1)]
                stopped = there > _HALF * (here + nearest)
                off = far - near * there
            if not stopped:
                # Else from the depth that is here, or past its edge from what is behind
                off = far - near * here
                there = inverse_depth[_cell(at_y - off * py, height - 1), _cell(at_x - off * px, width - 1)]
                off = _ZERO if there - here > alike else off
            place[q] = _cell(at_y - off * py, height - 1) * np.int32(width) + _cell(at_x - off * px, width - 1)
