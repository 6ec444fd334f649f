"""Plots of lidar scans: from above, and from the sensor.

Each function takes arrays and returns a matplotlib Figure; none touches matplotlib's global state, so they are safe in
a server, a notebook and a test. `save` writes one as PNG.
"""

import os
import secrets
from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure, FigureBase

Extent = tuple[float, float, float, float]
"""Left, right, lower and upper edge of a picture, in the units of its axes."""

PAPER, INK, FAINT = "#0d1117", "#e6edf3", "#8b949e"
"""Colors of the background, of text and of secondary elements."""

# Everyday classes keep their color from picture to picture; other names take the spare ones in turn
_KNOWN = {
    "ground": "#6b7888",
    "kerb": "#b3bfcb",
    "building": "#d9b382",
    "wall": "#d9b382",
    "tree": "#3fb950",
    "pole": "#f2e34c",
    "car": "#4aa8ff",
    "cyclist": "#ff5ca8",
    "pedestrian": "#ff8c42",
    "glass": "#3ad6c5",
    "mirror": "#b48cff",
    "fog": "#dfe6ee",
    "ghost": "#ff4d4d",
}
_SPARE = ("#b48cff", "#3ad6c5", "#ff7b72", "#a5d64c", "#e3a6f0", "#f0c05a", "#7f9cf5", "#d08770")

_ROUND_M = (0.5, 1, 2, 3, 5, 10, 20, 30, 50, 100, 200, 500, 1000)
_EDGE = "#30363d"
_EMPTY = np.iinfo(np.int64).min
_DOTS_PER_INCH = 150


def label_colors(labels: Mapping[str, int]) -> NDArray[np.float64]:
    """Color of every label number.

    Args:
        labels: Number of each label name, as `scene.labels`.

    Returns:
        Red, green, blue in 0..1, shape (n + 2, 3) with n the largest number: row k is label k, row 0 is
        unlabeled, and the last row, at index -1, is for rays without a return.
    """
    from matplotlib.colors import to_rgb

    colors = np.tile(to_rgb(FAINT), (max(labels.values(), default=0) + 2, 1))
    spare = 0
    for name, number in labels.items():
        if name not in _KNOWN:
            spare += 1
        colors[number] = to_rgb(_KNOWN.get(name, _SPARE[(spare - 1) % len(_SPARE)]))
    colors[-1] = to_rgb(PAPER)
    return colors


def top_view(
    points_W: ArrayLike,
    label: ArrayLike,
    labels: Mapping[str, int],
    *,
    path_W: ArrayLike | None = None,
    extent_m: Extent | None = None,
    title: str = "From above",
) -> "Figure":
    """A point cloud seen from above, colored by label.

    Args:
        points_W: Points [m], shape (n, 3).
        label: Label number of each point, shape (n,).
        labels: Number of each label name.
        path_W: Where the sensor went, in order of time [m], shape (k, 2 or 3).
        extent_m: Extent, (x from, x to, y from, y to) [m]; None shows all points.
        title: Heading of the picture.
    """
    points, numbers = _cloud(points_W, label)
    extent = _extent(points) if extent_m is None else extent_m
    width, height = 10.0, 10.0 * (extent[3] - extent[2]) / (extent[1] - extent[0])
    figure = new_figure(11.0, min(height, 16.0) + 1.3)
    axes = figure.add_subplot()
    _draw_top_view(axes, points, numbers, labels, path_W, extent, pixels=int(width * _DOTS_PER_INCH))
    heading(axes, title)
    _legend(figure, numbers, labels, path=path_W is not None)
    return figure


def range_image(
    range_m: ArrayLike,
    label: ArrayLike,
    labels: Mapping[str, int],
    *,
    extent_deg: Extent | None = None,
    title: str = "As the lidar sees it",
) -> "Figure":
    """One sweep as the sensor sees it: range above, label below.

    Args:
        range_m: Range of each ray [m], shape (channels, columns), the top channel first.
        label: Label number of each ray, the same shape; -1 without a return.
        labels: Number of each label name.
        extent_deg: (azimuth of the first column, of the last, elevation of the last channel, of the first)
            [deg]; None counts columns and channels instead.
        title: Heading of the picture.
    """
    ranges, numbers = _organized(range_m, label)
    figure = new_figure(13.0, 5.8)
    upper, lower = figure.subplots(2, 1, sharex=True)
    _draw_ranges(figure, upper, ranges, numbers, extent_deg)
    _draw_labels(lower, ranges, numbers, labels, extent_deg)
    heading(upper, title)
    _legend(figure, numbers, labels, path=False)
    return figure


def overview(
    points_W: ArrayLike,
    point_label: ArrayLike,
    range_m: ArrayLike,
    ray_label: ArrayLike,
    labels: Mapping[str, int],
    *,
    path_W: ArrayLike | None = None,
    extent_m: Extent | None = None,
    extent_deg: Extent | None = None,
) -> "Figure":
    """The view from above beside the sensor's own; arguments as for `top_view` and `range_image`."""
    points, numbers = _cloud(points_W, point_label)
    ranges, ray_numbers = _organized(range_m, ray_label)
    extent = _extent(points) if extent_m is None else extent_m
    figure = new_figure(11.5, 5.4)
    grid = figure.add_gridspec(1, 2, width_ratios=[1.45, 1.0])
    left, right = figure.add_subfigure(grid[0]), figure.add_subfigure(grid[1])
    above = left.subplots()
    _draw_top_view(above, points, numbers, labels, path_W, extent, pixels=1200)
    upper, lower = right.subplots(2, 1)
    _draw_ranges(right, upper, ranges, ray_numbers, extent_deg)
    _draw_labels(lower, ranges, ray_numbers, labels, extent_deg)
    upper.sharex(lower)
    upper.tick_params(labelbottom=False)
    heading(above, "From above")
    heading(upper, "Range, from the sensor")
    heading(lower, "Label, from the sensor")
    _legend(figure, np.concatenate([numbers, ray_numbers.ravel()]), labels, path=path_W is not None)
    return figure


def save_figure(path: str | PathLike[str], figure: "Figure") -> None:
    """Write a figure as PNG; the file appears whole or not at all."""
    path = Path(path)
    if not path.parent.is_dir():
        raise SpecError(f"path is {str(path)!r}; its folder does not exist")
    part = path.with_name(f".{path.name}.{secrets.token_hex(4)}.part")
    try:
        figure.savefig(part, format="png", facecolor=figure.get_facecolor())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


# --- drawing ------------------------------------------------------------------------------------------------


def _draw_top_view(
    axes: "Axes",
    points: NDArray[Any],
    numbers: NDArray[Any],
    labels: Mapping[str, int],
    path_W: ArrayLike | None,
    extent: Extent,
    *,
    pixels: int,
) -> None:
    """Points as pixels, and the way the sensor went."""
    picture = _seen_from_above(points, numbers, label_colors(labels), extent, pixels)
    axes.imshow(picture, extent=extent, origin="lower", interpolation="antialiased")
    if path_W is not None:
        path = np.asarray(path_W, np.float64)
        axes.plot(path[:, 0], path[:, 1], color="white", linewidth=2.2, solid_capstyle="round")
        axes.plot(path[-1, 0], path[-1, 1], marker="o", markersize=8, color="white", markeredgecolor=PAPER)
    axes.set_aspect("equal")
    axes.set_xlim(extent[0], extent[1])
    axes.set_ylim(extent[2], extent[3])
    style(axes, "x [m]", "y [m]")


def _seen_from_above(
    points: NDArray[Any], numbers: NDArray[Any], colors: NDArray[np.float64], extent: Extent, pixels: int
) -> NDArray[np.float64]:
    """Color of each pixel's highest point, brighter where more points fell; shape (rows, columns, 3)."""
    size = (extent[1] - extent[0]) / pixels
    rows = max(1, round((extent[3] - extent[2]) / size))
    column = np.floor((points[:, 0] - extent[0]) / size).astype(np.int64)
    row = np.floor((points[:, 1] - extent[2]) / size).astype(np.int64)
    inside = (column >= 0) & (column < pixels) & (row >= 0) & (row < rows)
    pixel = row[inside] * pixels + column[inside]

    # Higher points cover lower ones: the largest of (height in mm, label) packed into one number
    height_mm = np.floor(np.clip(points[inside, 2], -1e6, 1e6) * 1e3).astype(np.int64)
    packed = np.full(rows * pixels, _EMPTY)
    np.maximum.at(packed, pixel, (height_mm << 32) | numbers[inside].astype(np.int64))
    count = np.bincount(pixel, minlength=rows * pixels)
    packed, count = _grown(packed.reshape(rows, pixels), count.reshape(rows, pixels))

    # Counts span orders of magnitude: walls are hit thousands of times, far ground once
    top = np.where(packed == _EMPTY, -1, packed & 0x7FFFFFFF)
    most = np.percentile(count[count > 0], 95) if len(pixel) else 1.0
    brightness = 0.5 + 0.5 * np.clip(np.log1p(count) / np.log1p(most), 0.0, 1.0)
    return colors[-1] + (colors[top] - colors[-1]) * brightness[..., None]


def _grown(packed: NDArray[np.int64], count: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Give each pixel to the highest of it and its neighbors: walls and poles become more than hairlines."""
    for axis in (0, 1):
        edged = np.pad(packed, [(1, 1) if k == axis else (0, 0) for k in (0, 1)], constant_values=_EMPTY)
        counts = np.pad(count, [(1, 1) if k == axis else (0, 0) for k in (0, 1)])
        length = packed.shape[axis]
        for shift in (0, 2):
            beside = np.take(edged, range(shift, shift + length), axis)
            higher = beside > packed
            packed = np.where(higher, beside, packed)
            count = np.where(higher, np.take(counts, range(shift, shift + length), axis), count)
    return packed, count


def _draw_ranges(
    figure: "FigureBase", axes: "Axes", ranges: NDArray[Any], numbers: NDArray[Any], extent: Extent | None
) -> None:
    """Ranges in a perceptually uniform color map, logarithmic so that near ranges use much of it."""
    from matplotlib.colors import LogNorm
    from matplotlib.ticker import NullFormatter, ScalarFormatter

    returned = ranges[(numbers >= 0) & (ranges > 0.0)]
    near, far = np.percentile(returned, [0.5, 99.5]) if len(returned) else (1.0, 10.0)
    shown = np.ma.masked_where((numbers < 0) | (ranges <= 0.0), ranges)
    norm = LogNorm(vmin=near, vmax=max(far, 1.01 * near))
    image = axes.imshow(shown, cmap="viridis", norm=norm, extent=extent, aspect="auto", interpolation="nearest")

    # The scale: round numbers, written as such
    scale = figure.colorbar(image, ax=axes, pad=0.01, aspect=12, extend="both")
    steps = [step for step in _ROUND_M if near <= step <= far]
    if steps:
        scale.set_ticks(steps)
    scale.ax.yaxis.set_major_formatter(ScalarFormatter())
    scale.ax.yaxis.set_minor_formatter(NullFormatter())
    scale.ax.minorticks_off()
    scale.set_label("range [m]", color=INK)
    scale.ax.tick_params(colors=FAINT, labelcolor=INK, labelsize=9)
    cast(Any, scale.outline).set_edgecolor(_EDGE)
    style(axes, "", "channel" if extent is None else "elevation [°]")


def _draw_labels(
    axes: "Axes",
    ranges: NDArray[Any],
    numbers: NDArray[Any],
    labels: Mapping[str, int],
    extent: Extent | None,
) -> None:
    """Labels in their colors, darker with distance so that overlapping objects can be distinguished."""
    far = np.percentile(ranges[numbers >= 0], 99.5) if (numbers >= 0).any() else 1.0
    colors = label_colors(labels)
    brightness = 1.0 - 0.38 * np.sqrt(np.clip(ranges / far, 0.0, 1.0))
    picture = colors[-1] + (colors[numbers] - colors[-1]) * brightness[..., None]
    axes.imshow(picture, extent=extent, aspect="auto", interpolation="nearest")
    if extent is None:
        style(axes, "column", "channel")
    else:
        style(axes, "azimuth [°], positive to the left", "elevation [°]")


def new_figure(width_in: float, height_in: float) -> "Figure":
    """An empty figure of a size [in], on dark paper, outside matplotlib's global state."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width_in, height_in), dpi=_DOTS_PER_INCH, facecolor=PAPER, layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def picture_grid(count: int, columns: int, width_in: float, height_in: float) -> "tuple[Figure, list[Axes]]":
    """A figure with this many places for pictures [in], row by row, without numbers at their edges."""
    rows = -(-count // columns)
    figure = new_figure(width_in * columns, height_in * rows)
    axes = list(np.atleast_1d(figure.subplots(rows, columns)).ravel())
    for place in axes:
        place.set_xticks([])
        place.set_yticks([])
        for spine in place.spines.values():
            spine.set_color(FAINT)
            spine.set_linewidth(0.4)
    for place in axes[count:]:
        place.set_visible(False)
    return figure, axes[:count]


def style(axes: "Axes", x: str, y: str) -> None:
    """Inconspicuous axes."""
    axes.set_facecolor(PAPER)
    axes.set_xlabel(x, color=INK)
    axes.set_ylabel(y, color=INK)
    axes.tick_params(colors=FAINT, labelcolor=INK, labelsize=9)
    for edge in axes.spines.values():
        edge.set_color(_EDGE)


def heading(axes: "Axes", title: str) -> None:
    """A title at the upper left."""
    axes.set_title(title, color=INK, loc="left", fontsize=12)


def _legend(figure: "Figure", numbers: NDArray[Any], labels: Mapping[str, int], *, path: bool) -> None:
    """One entry for each label in the picture, below it."""
    from matplotlib.lines import Line2D

    colors, seen = label_colors(labels), set(np.unique(numbers).tolist())
    entries = [
        Line2D([], [], linestyle="", marker="s", markersize=9, color=tuple(colors[number]), label=name)
        for name, number in labels.items()
        if number in seen
    ]
    if path:
        entries.append(Line2D([], [], color="white", linewidth=2.2, marker="o", label="path of the sensor"))
    if entries:
        figure.legend(
            handles=entries,
            loc="outside lower center",
            ncols=min(len(entries), 9),
            frameon=False,
            labelcolor=INK,
            fontsize=10,
            handletextpad=0.5,
            columnspacing=1.4,
        )


# --- checks -------------------------------------------------------------------------------------------------


def _cloud(points: ArrayLike, label: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    xyz, numbers = np.asarray(points), np.asarray(label)
    if xyz.ndim != 2 or xyz.shape[1] != 3 or numbers.shape != xyz.shape[:1]:
        raise SpecError(f"points_W has shape {xyz.shape} and label {numbers.shape}; they must be (n, 3) and (n,)")
    return xyz, numbers


def _organized(range_m: ArrayLike, label: ArrayLike) -> tuple[NDArray[Any], NDArray[Any]]:
    ranges, numbers = np.asarray(range_m), np.asarray(label)
    if ranges.ndim != 2 or numbers.shape != ranges.shape:
        raise SpecError(f"range_m has shape {ranges.shape} and label {numbers.shape}; both must be (channels, columns)")
    return ranges, numbers


def _extent(points: NDArray[Any]) -> Extent:
    """The points' own extent [m], with a margin."""
    if not len(points):
        return -1.0, 1.0, -1.0, 1.0
    low, high = points[:, :2].min(axis=0) - 1.0, points[:, :2].max(axis=0) + 1.0
    return float(low[0]), float(high[0]), float(low[1]), float(high[1])
