"""The page of a comparison: real beside simulated, in pictures and figures; one file, which needs no network."""

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sensorium.files.atomic import replacing
from sensorium.recordings.compare.comparison import RULE, Comparison, Row
from sensorium.recordings.measurement import Curve, Figure, readable_unit
from sensorium.view.plots import INK, heading, new_figure, style
from sensorium.view.report.page import Section, framed, list_body, picture_body, rows_body

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure as Picture

_REAL, _SIMULATED, _GRID = "#4aa8ff", "#ff8c42", "#21262d"

# Points that a line may have to be drawn with marks, and curves whose axes are linear however long
_MOST_MARKS, _LINEAR = 40, ("photon_transfer",)

DRAWN = {
    "noise.by_range": ("Noise by range", "Standard deviation of a range, one sigma, with 95 % intervals."),
    "noise.by_reflectivity": ("Noise by reflectivity", "The same by the reflectivity that the device reports."),
    "noise.distribution": (
        "Distribution",
        "Differences of two turns, in standard deviations. Columns of simulated turns repeat in azimuth, so that their "
        "differences are whole steps of range, of which a bin holds one or two.",
    ),
    "photon_transfer": ("Photon transfer", "Variance over time against the mean, both above darkness."),
    "linearity.deviation": ("Linearity", "Deviation of the mean from a line over photons."),
    "disparity_noise.by_depth": ("Noise by depth", "Standard deviation of the disparity about planes."),
    "pulse.shape": ("Pulse", "Mean pulse, as the receiver gives it, over its peak."),
    "doppler_noise.by_angle": ("Noise of Doppler", "By the angle between the line of sight and the own motion."),
    "dropout.by_reflectivity": ("Dropout", "Share of rays without a return on surfaces that return others."),
}
"""Curves that are drawn, with their headings and what they show."""


def save_page(path: Path, comparison: Comparison) -> None:
    """Write the page; it appears whole or not at all."""
    with replacing(path) as file:
        file.write(page(comparison))


def page(comparison: Comparison) -> bytes:
    """The whole file."""
    real, agrees, differs = comparison.real, comparison.count("agrees"), comparison.count("differs")
    sections = []
    for quantity in curves_of_both(comparison):
        title, words = DRAWN[quantity]
        png = _png(comparison_plot(comparison, [quantity]))
        sections.append(Section(quantity.replace(".", "-"), title, words, picture_body(png, title)))
    head = ("Quantity", "Where", "Real", "95 % interval", "Simulated", "95 % interval", "Ratio", "Tolerance", "Verdict")
    body = rows_body(head, [cells(row) for row in comparison.rows])
    sections.append(Section("figures", "Figures", RULE, body))
    sections.append(Section("remarks", "Remarks", "How it was measured.", list_body(comparison.remarks)))
    strip = {
        "Recording": real.source,
        "Device": comparison.device,
        "Agree": f"{agrees} of {agrees + differs}",
        "Differ": str(differs),
    }
    return framed(f"{_name(comparison)}: real beside simulated", "comparison", strip, sections)


def curves_of_both(comparison: Comparison) -> list[str]:
    """Quantities of `DRAWN` that both measurements have a curve of."""
    each = [{curve.quantity for curve in found.curves} for found in (comparison.real, comparison.simulated)]
    return [quantity for quantity in DRAWN if all(quantity in names for names in each)]


def comparison_plot(comparison: Comparison, quantities: Sequence[str]) -> "Picture":
    """Curves of both with their intervals, one panel for each quantity.

    Args:
        comparison: Real beside simulated.
        quantities: Some of `curves_of_both`.
    """
    picture = new_figure(6.6 * len(quantities) + 0.9, 4.6)
    for axes, quantity in zip(picture.subplots(1, len(quantities), squeeze=False)[0], quantities, strict=True):
        pair = comparison.real.curve(quantity), comparison.simulated.curve(quantity)
        _draw(axes, *pair)
        heading(axes, f"{_name(comparison)}: {_lower(DRAWN[quantity][0])}")
    return picture


def _draw(axes: "Axes", real: Curve, simulated: Curve) -> None:
    top = max(float(np.max(np.abs(curve.y))) for curve in (real, simulated))
    scale, unit = readable_unit(top, real.y_unit)
    across, x_unit = readable_unit(float(np.max(np.abs(real.x))), real.x_unit)
    mark = "o" if len(real.x) <= _MOST_MARKS else ""
    for curve, color, name in ((real, _REAL, "real"), (simulated, _SIMULATED, "simulated")):
        y, low, high = (scale * values for values in (curve.y, curve.low, curve.high))
        axes.fill_between(across * curve.x, low, high, color=color, alpha=0.22, linewidth=0.0)
        axes.plot(across * curve.x, y, color=color, linewidth=1.4, marker=mark, markersize=3.5, label=name)
    x = across * np.concatenate([real.x, simulated.x])
    if x.min() >= 0.0 and x.max() > 12.0 * x.min() and real.quantity not in _LINEAR:
        axes.set_xscale("symlog" if x.min() == 0.0 else "log")
    if min(float(curve.y.min()) for curve in (real, simulated)) >= 0.0:
        axes.set_ylim(bottom=0.0)
    style(axes, "", "")
    axes.set_xlabel(_label(real.x_label, x_unit), color=INK)
    axes.set_ylabel(_label(real.y_label, unit), color=INK)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    axes.legend(frameon=False, labelcolor=INK)


def cells(row: Row) -> Sequence[str]:
    """One row as text."""
    tolerance = "" if row.tolerance is None else f"{100.0 * row.tolerance:.3g} %"
    ratio = "" if row.ratio is None else f"{row.ratio:.4g}"
    return (
        row.real.quantity, row.real.where, *_shown(row.real, row.real), *_shown(row.simulated, row.real), ratio,
        tolerance, row.verdict,
    )  # fmt: skip


def _shown(figure: Figure | None, like: Figure) -> tuple[str, str]:
    """A figure and its interval in the readable unit of another."""
    if figure is None:
        return "", ""
    scale, unit = readable_unit(like.value, like.unit)
    mark = "" if unit == "1" else f" {unit}"
    value, low, high = (f"{scale * each:.6g}" for each in (figure.value, figure.low, figure.high))
    return f"{value}{mark}", "" if figure.low == figure.high else f"{low} to {high}"


def _name(comparison: Comparison) -> str:
    """The device as the recording names it, or its kind."""
    return comparison.real.device or comparison.real.kind.replace("_", " ")


def _lower(title: str) -> str:
    return title[:1].lower() + title[1:]


def _label(words: str, unit: str) -> str:
    return words if unit == "1" else f"{words} [{unit}]"


def _png(picture: "Picture") -> bytes:
    file = io.BytesIO()
    picture.savefig(file, format="png", dpi=110, metadata={"Software": None})
    return file.getvalue()
