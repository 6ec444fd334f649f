"""Pictures of a measurement: one for each curve, with its 95 % intervals."""

from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sensorium.recordings.measurement import Curve, Measurement, readable_unit
from sensorium.view.plots import INK, heading, new_figure, save_figure, style

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LINE, _GRID = "#4aa8ff", "#21262d"


def curve_plot(curve: Curve, *, title: str) -> "Figure":
    """A curve with its intervals; axes over more than a decade are logarithmic.

    Args:
        curve: What to draw.
        title: Heading of the picture.
    """
    figure = new_figure(7.5, 4.6)
    axes = figure.add_subplot()
    scale, unit = readable_unit(float(np.max(np.abs(curve.y))), curve.y_unit)
    y, low, high = (scale * values for values in (curve.y, curve.low, curve.high))
    axes.fill_between(curve.x, low, high, color=_LINE, alpha=0.25, linewidth=0.0)
    axes.plot(curve.x, y, color=_LINE, linewidth=1.4, marker="o", markersize=3.5)
    if curve.x.min() > 0.0 and curve.x.max() > 12.0 * curve.x.min():
        axes.set_xscale("log")
    if low.min() > 0.0 and high.max() > 12.0 * low.min():
        axes.set_yscale("log")
    elif low.min() >= 0.0:
        axes.set_ylim(bottom=0.0)
    style(axes, "", "")
    axes.set_xlabel(_label(curve.x_label, curve.x_unit), color=INK)
    axes.set_ylabel(_label(curve.y_label, unit), color=INK)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    heading(axes, title)
    return figure


def _label(words: str, unit: str) -> str:
    return words if unit == "1" else f"{words} [{unit}]"


def save_pictures(folder: Path, measurement: Measurement) -> list[Path]:
    """Write a PNG for each curve, named after its quantity; returns the files.

    Args:
        folder: An existing folder.
        measurement: Whose curves.
    """
    files = []
    for curve in measurement.curves:
        files.append(folder / f"{curve.quantity.replace('.', '-')}.png")
        title = f"{measurement.device or measurement.kind}: {curve.quantity} in {measurement.source}"
        save_figure(files[-1], curve_plot(curve, title=title))
    return files
