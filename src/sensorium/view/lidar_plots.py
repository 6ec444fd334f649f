"""Building blocks for plots of lidar physics: axes on dark paper, curves, points colored by cause."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from numpy.typing import ArrayLike

from sensorium.sensors.lidar.scan import Cause
from sensorium.view.plots import FAINT, INK, PAPER, heading, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.image import AxesImage

COLORS = ("#4aa8ff", "#ff8c42", "#3fb950", "#ff5ca8", "#f2e34c", "#b48cff", "#3ad6c5", "#ff7b72", "#d9b382", "#8b949e")
"""Colors of curves, in turn."""

CAUSE_COLORS = {
    Cause.SURFACE: "#93a4b8",
    Cause.REFLECTION: "#ff5ca8",
    Cause.TRANSMISSION: "#3ad6c5",
    Cause.ATMOSPHERE: "#f2e34c",
    Cause.MIXED: "#ff8c42",
    Cause.FALSE_ALARM: "#b48cff",
    Cause.SATURATED: "#ff4d4d",
    Cause.BLOOM: "#7ee787",
    Cause.FOLDED: "#58a6ff",
    Cause.CROSSTALK: "#c98b5e",
    Cause.FAULT: "#f0f6fc",
}
"""Color of each cause of a return."""

_GRID = "#21262d"
_EDGE = "#6e7681"


def canvas(
    width_in: float,
    height_in: float,
    rows: int = 1,
    columns: int = 1,
    *,
    width_ratios: Sequence[float] | None = None,
    height_ratios: Sequence[float] | None = None,
    share_x: bool = False,
) -> tuple["Figure", list["Axes"]]:
    """A figure [in] with a grid of axes, and those in reading order; `share_x` gives all of them one x axis."""
    figure = new_figure(width_in, height_in)
    axes = figure.subplots(
        rows, columns, squeeze=False, sharex=share_x, width_ratios=width_ratios, height_ratios=height_ratios
    )
    return figure, list(axes.flat)


def frame(axes: "Axes", title: str, x: str, y: str, *, equal: bool = False, log: str = "") -> None:
    """Title and axis labels in the house style.

    Args:
        axes: Where.
        title: Upper left.
        x: Label of the x axis.
        y: Label of the y axis.
        equal: One meter is as long along both axes, and there is no grid: a map.
        log: Axes with a logarithmic scale: "", "x", "y" or "xy".
    """
    style(axes, x, y)
    heading(axes, title)
    if "x" in log:
        axes.set_xscale("log")
        axes.xaxis.set_major_formatter("{x:g}")
    if "y" in log:
        axes.set_yscale("log")
    if equal:
        axes.set_aspect("equal")
    else:
        axes.grid(color=_GRID, linewidth=0.8)
        axes.set_axisbelow(True)


def key(axes: "Axes", *, where: Any = "best", columns: int = 1, title: str | None = None) -> None:
    """A legend inside the axes, at a place that matplotlib's `loc` understands."""
    legend = axes.legend(
        loc=where,
        ncols=columns,
        title=title,
        facecolor=PAPER,
        edgecolor=_GRID,
        labelcolor=INK,
        fontsize=9,
        framealpha=0.9,
    )
    legend.get_title().set_color(INK)
    legend.get_title().set_fontsize(9)


def note(
    axes: "Axes", text: str, at: tuple[float, float], to: tuple[float, float] | None = None, **options: Any
) -> None:
    """A remark at a place, with an arrow to another."""
    arrow = None if to is None else {"arrowstyle": "->", "color": FAINT, "linewidth": 1.0}
    shown: dict[str, Any] = {"color": INK, "fontsize": 9} | options
    axes.annotate(text, xy=at if to is None else to, xytext=at, arrowprops=arrow, **shown)


def points_by_cause(
    axes: "Axes", x: ArrayLike, y: ArrayLike, cause: ArrayLike, *, size: float = 2.0, layer: float = 2.0
) -> None:
    """Points in the color of their cause, the rarer on top.

    Args:
        axes: Where; each cause gets an entry for `key`.
        x: Along the x axis, shape (n,).
        y: Along the y axis, shape (n,).
        cause: Of each point, as in `Scan.cause`, shape (n,).
        size: Of a point [pt^2].
        layer: Higher layers cover lower ones.
    """
    across, up, why = np.asarray(x), np.asarray(y), np.asarray(cause)
    for order, (kind, color) in enumerate(CAUSE_COLORS.items()):
        of_it = why == kind
        if of_it.any():
            name = kind.name.lower().replace("_", " ")
            axes.scatter(across[of_it], up[of_it], size, color=color, linewidths=0, zorder=layer + 0.1 * order)
            axes.scatter([], [], 30, color=color, linewidths=0, label=name)


def outline(axes: "Axes", x: ArrayLike, y: ArrayLike, *, label: str | None = None, **options: Any) -> None:
    """A line through the given corners: the true shape that the points should show."""
    shown: dict[str, Any] = {"color": _EDGE, "linewidth": 1.2, "zorder": 1.5} | options
    axes.plot(np.asarray(x), np.asarray(y), label=label, **shown)


def sensor(axes: "Axes", x: float, y: float, *, label: str | None = "lidar") -> None:
    """Position of the sensor."""
    axes.plot(x, y, linestyle="", marker="o", markersize=8, color="white", markeredgecolor=PAPER, zorder=5, label=label)


def color_scale(figure: "Figure", axes: "Axes", image: "AxesImage", label: str) -> None:
    """The scale of an image, beside it."""
    scale = figure.colorbar(image, ax=axes, pad=0.01)
    scale.set_label(label, color=INK)
    scale.ax.tick_params(colors=FAINT, labelcolor=INK, labelsize=9)
    cast(Any, scale.outline).set_edgecolor(_GRID)
