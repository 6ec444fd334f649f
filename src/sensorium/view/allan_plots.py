"""Plots of Allan deviations: measured curve, uncertainty, fit and its terms."""

import math
from typing import TYPE_CHECKING

import numpy as np

from sensorium.view.plots import FAINT, INK, PAPER, heading, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from sensorium.analysis.allan_fit import AllanFit

_MEASURED = "#4aa8ff"
_PARTS = {
    "Q": ("#b48cff", "quantization  √3 Q / τ"),
    "N": ("#3fb950", "white noise  N / √τ"),
    "B": ("#f2e34c", "bias instability  0.664 B"),
    "K": ("#ff8c42", "rate random walk  K √(τ/3)"),
    "R": ("#ff5ca8", "ramp  R τ / √2"),
}
_GRID = "#21262d"
_ACROSS = 3
_MARGIN = 1.6  # free space above and below a curve, as a factor


def allan_plot(fit: "AllanFit", *, title: str = "Allan deviation") -> "Figure":
    """One panel for each channel: the measured deviation with its 95 % band, the fit, and its parts dashed.

    Panels of one unit share their scales, so that channels compare at a glance.

    Args:
        fit: Result of `fit_allan`.
        title: Heading of the picture.
    """
    size = len(fit.channels)
    across = min(size, _ACROSS)
    rows = math.ceil(size / across)
    figure = new_figure(max(6.0, 4.4 * across), 3.6 * rows + 1.0)
    panels = list(figure.subplots(rows, across, squeeze=False).flat)
    for i, axes in enumerate(panels[:size]):
        _draw_channel(axes, fit, i)
        if i % across == 0 or fit.units[i] != fit.units[i - 1]:
            axes.set_ylabel(f"Allan deviation [{fit.units[i] or 'unit of the signal'}]", color=INK)
        if i + across >= size:
            axes.set_xlabel("averaging time τ [s]", color=INK)
    for axes in panels[size:]:
        axes.set_axis_off()
    figure.suptitle(title, color=INK, fontsize=13, x=0.01, ha="left")
    _legend(figure, fit)
    return figure


def _draw_channel(axes: "Axes", fit: "AllanFit", channel: int) -> None:
    """One channel's curve and its terms."""
    allan, size = fit.allan, len(fit.channels)
    measured, low, high = (values.reshape(-1, size) for values in (allan.deviation, allan.low, allan.high))
    tau = np.geomspace(allan.tau_s[0], allan.tau_s[-1], 400)
    axes.set_xscale("log")
    axes.set_yscale("log")

    # Measured, with its band
    axes.fill_between(
        allan.tau_s, low[:, channel], high[:, channel], color=_MEASURED, alpha=0.22, linewidth=0.0, zorder=2
    )
    axes.plot(allan.tau_s, measured[:, channel], color=_MEASURED, linewidth=1.2, marker="o", markersize=3.2, zorder=4)

    # The fit over the averaging times it saw, and each part of it
    whole = fit.deviation(tau).reshape(-1, size)[:, channel]
    seen = (tau >= fit.fit_range_s[0] * 0.999) & (tau <= fit.fit_range_s[1] * 1.001)
    axes.plot(tau[seen], whole[seen], color="white", linewidth=1.6, zorder=5)
    for term, part in fit.parts(tau).items():
        line = part.reshape(-1, size)[:, channel]
        if line.any():
            axes.plot(tau, line, color=_PARTS[term][0], linewidth=1.3, linestyle=(0, (5, 2.5)), zorder=3)

    # All channels of a unit on one scale
    of_unit = [i for i, unit in enumerate(fit.units) if unit == fit.units[channel]]
    axes.set_ylim(float(measured[:, of_unit].min()) / (2.0 * _MARGIN), float(measured[:, of_unit].max()) * _MARGIN)
    axes.set_xlim(float(allan.tau_s[0]) / 1.2, float(allan.tau_s[-1]) * 1.2)

    style(axes, "", "")
    axes.tick_params(which="minor", colors=_GRID)
    axes.grid(color=_GRID, linewidth=0.8)
    axes.set_axisbelow(True)
    heading(axes, fit.channels[channel])
    axes.text(
        0.975,
        0.955,
        "\n".join(_told(fit, term, channel) for term in fit.terms),
        transform=axes.transAxes,
        ha="right",
        va="top",
        color=INK,
        fontsize=8.5,
        linespacing=1.5,
        family="monospace",
        bbox={"facecolor": PAPER, "edgecolor": _GRID, "alpha": 0.85, "boxstyle": "round,pad=0.4"},
        zorder=6,
    )


def _told(fit: "AllanFit", term: str, channel: int) -> str:
    """A coefficient and half the width of its interval, or its upper limit."""
    value = float(fit.coefficients[term].ravel()[channel])
    low, high = (float(end) for end in fit.intervals[term].reshape(2, -1)[:, channel])
    if low == 0.0:
        return f"{term} < {high:.2e}"
    return f"{term} = {value:.2e} {_percent((high - low) / (2.0 * value))}"


def _percent(part: float) -> str:
    return f"±{100.0 * part:4.1f} %" if part < 0.0995 else f"±{100.0 * part:4.0f} %"


def _legend(figure: "Figure", fit: "AllanFit") -> None:
    """The legend of the lines, below the panels."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    dashes = (0, (5, 2.5))
    entries: list[Line2D | Patch] = [
        Line2D([], [], color=_MEASURED, linewidth=1.2, marker="o", markersize=4, label="measured"),
        Patch(facecolor=_MEASURED, alpha=0.3, label="its 95 % interval"),
        Line2D([], [], color="white", linewidth=1.6, label="fit"),
    ]
    entries += [
        Line2D([], [], color=color, linewidth=1.3, linestyle=dashes, label=text)
        for term, (color, text) in _PARTS.items()
        if term in fit.terms
    ]
    columns = len(entries) if len(fit.channels) > 2 else 3 if len(fit.channels) == 2 else 2
    legend = figure.legend(
        handles=entries,
        loc="outside lower center",
        ncols=columns,
        frameon=False,
        labelcolor=INK,
        fontsize=9.5,
        handletextpad=0.6,
        columnspacing=1.6,
    )
    legend.get_frame().set_edgecolor(FAINT)
