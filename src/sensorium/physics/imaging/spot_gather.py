"""Gathers pixels through the spots of a lens.

Every cell of the virtual grid gathers the rays that reach it through each of several points of the pupil. If all depths
around are equal, the depth of its own cell gives the origin of a ray. At a depth edge, a ray may pass the near object
or be blocked by it: the search goes along the ray from the nearest depth that can block it to the depth of its cell,
and the first surface as near as the ray at that point blocks it. The background behind the edge of a near object, which
the ideal image does not show, is taken from the background beside it.

The choice between the two is made tile by tile, and only saves time: in a tile of equal depths the search finds no
blocker. So no result depends on the other content of a tile, or on the tile borders.
"""

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.imaging.spots import TILE, SpotTable
from sensorium.runtime import jit, worker_pool

_HALF = np.float32(0.5)
_ZERO, _ONE = np.float32(0.0), np.float32(1.0)

# Depth bands that are searched for blockers, by the number of cells between the ray's origin there and at the depth of
# its cell: one by one, from 16 cells on eight to an octave; before the first, up to a cell, is one more
_EDGES = np.concatenate([np.arange(1.0, 16.0), 16.0 * 2.0 ** (np.arange(113) / 8.0)]).astype(np.float32)
_LAST = _EDGES.size - 2

# Distance of a band's middle beyond a surface's own blur, and the addition of rounding to cells [cells]
_WIDER, _ROUNDING = 1.05, 2.0


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
    worker_pool.run(_find_extremes, tiles[0], inverse_depth, table.factor, table.margin, extremes)

    # Depths that differ by less than this move no ray by a cell
    widest = np.abs(table.pupil).max()
    alike = _ONE / max(abs(table.blur[1]) * widest, np.float32(1e-20))
    around = np.zeros_like(extremes)
    if extremes[..., 1].max() - extremes[..., 0].min() > alike:
        off = np.abs(table.blur[0] - table.blur[1] * extremes).max(axis=-1) * widest
        reach = np.float32(_WIDER) * off + np.abs(table.shift).max() + np.float32(_ROUNDING)
        worker_pool.run(_find_around, tiles[0], extremes, reach, np.float32(TILE * table.factor), around)
    worker_pool.run(_gather, rows, ideal.reshape(-1), inverse_depth, around, alike, table, out)


@jit.kernel
def _find_extremes(first, step, count, inverse_depth, m, margin, out):
    """Least and largest inverse depth of each tile with the margin beside it, rows first, first + step, ..."""
    size, height, width = TILE * m, inverse_depth.shape[0], inverse_depth.shape[1]
    for row in range(first, count, step):
        top = margin + row * size if row else 0
        bottom = margin + (row + 1) * size if row + 1 < out.shape[0] else height
        for tile in range(out.shape[1]):
            left = margin + tile * size if tile else 0
            right = margin + (tile + 1) * size if tile + 1 < out.shape[1] else width
            least, most = np.float32(np.inf), np.float32(0.0)
            for y in range(top, bottom):
                for x in range(left, right):
                    least, most = min(least, inverse_depth[y, x]), max(most, inverse_depth[y, x])
            out[row, tile, 0], out[row, tile, 1] = least, most


@jit.kernel
def _find_around(first, step, count, extremes, reach, size, out):
    """Least and largest of all that can be in the way of a tile's rays, rows first, first + step, ... of tiles.

    Args:
        first, step, count: Rows of tiles.
        extremes: Least and largest inverse depth of each tile [1/m].
        reach: Distance that rays of a tile cover, and from which its content is seen [cells].
        size: Of a tile [cells].
        out: Filled.
    """
    rows, columns = reach.shape
    farthest = _ZERO
    for row in range(rows):
        for tile in range(columns):
            farthest = max(farthest, reach[row, tile])
    rings = np.int64(min(farthest / size, np.float32(max(rows, columns)))) + 1
    for row in range(first, count, step):
        for tile in range(columns):
            least, most = extremes[row, tile, 0], extremes[row, tile, 1]
            for i in range(max(row - rings, 0), min(row + rings + 1, rows)):
                for j in range(max(tile - rings, 0), min(tile + rings + 1, columns)):
                    between = np.float32(max(abs(i - row), abs(j - tile)) - 1) * size
                    if between < max(reach[row, tile], reach[i, j]):
                        least, most = min(least, extremes[i, j, 0]), max(most, extremes[i, j, 1])
            out[row, tile, 0], out[row, tile, 1] = least, most


@jit.kernel
def _gather(first, step, count, samples, inverse_depth, around, alike, table, out):
    """Rows first, first + step, ... of pixels: find the origin of each ray, then sum the image there band by band.

    Loops, where NumPy has a word for it: Numba compiles whole-array arithmetic and assignment for seconds each.
    """
    m, points = table.factor, table.pupil.shape[1]
    rays, bands = m * m * points, out.shape[2]
    share = _ONE / np.float32(rays)
    aims = jit.zeros((6, rays), np.float32)
    place = jit.zeros(rays, np.int32)
    for q in range(rays):
        for axis in range(2):
            aims[4 + axis, q] = table.pupil[q // points, q % points, axis]
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
    """Origins of the rays of a tile's first pixel, counted from its first cell, and their change along the tile.

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
    """Nearest cell, inside the image; negative values are truncated towards it."""
    return min(max(np.int32(at + _HALF), np.int32(0)), np.int32(most))


@jit.function
def _find_even(inverse_depth, blur, m, points, aims, along, y, x, place):
    """Samples at the origins of a pixel's rays, if depths around blur equally."""
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
    """The same at a depth edge; nothing around is nearer than `nearest` [1/m]."""
    height, width = inverse_depth.shape
    top, left = np.float32(y), np.float32(x) - along * np.float32(m)
    for number in range(m * m):
        own = inverse_depth[y + number // m, x + number % m]
        for q in range(number * points, (number + 1) * points):
            at_x = left + aims[0, q] + along * aims[2, q]
            at_y = top + aims[1, q] + along * (aims[3, q] - np.float32(m))
            px, py = aims[4, q], aims[5, q]

            # Aberrations may bring the ray from another depth than that of its cell
            here = inverse_depth[_cell(at_y, height - 1), _cell(at_x, width - 1)]
            here = here if abs(here - own) > alike else own

            # A possible blocker: is the surface at the ray's origin for some nearer depth that near?
            moved = abs(blur[1]) * max(abs(px), abs(py))  # cells for each 1/m
            span, least = (nearest - here) * moved, alike * moved
            stopped = False
            if span > least:
                band = -1
                while band < _LAST and _EDGES[band + 1] < span:
                    band += 1
                while band >= -1 and not stopped:
                    low = _EDGES[band] if band >= 0 else least
                    high = _EDGES[band + 1]
                    off = blur[0] - blur[1] * (here + _HALF * (low + high) / moved)
                    there = inverse_depth[_cell(at_y - off * py, height - 1), _cell(at_x - off * px, width - 1)]
                    nearer = (there - here) * moved
                    stopped = nearer > low and (nearer <= high or band == _LAST)
                    off = blur[0] - blur[1] * there
                    band -= 1
            if not stopped:
                # Else the surface at the depth here, or past its edge the one behind
                off = blur[0] - blur[1] * here
                there = inverse_depth[_cell(at_y - off * py, height - 1), _cell(at_x - off * px, width - 1)]
                off = _ZERO if there - here > alike else off
            place[q] = _cell(at_y - off * py, height - 1) * np.int32(width) + _cell(at_x - off * px, width - 1)
