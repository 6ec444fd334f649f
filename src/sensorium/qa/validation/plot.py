"""Small plots of checks as SVG: measured values as dots, the law as a line."""

import html
import math

import numpy as np
from numpy.typing import NDArray

from sensorium.qa.validation.check import Axis, Comparison

Array = NDArray[np.float64]

_WIDTH, _HEIGHT = 300, 150
_LEFT, _RIGHT, _TOP, _BOTTOM = 46, 8, 8, 30

# No more dots than this are drawn
_DOTS = 160


def plot(comparison: Comparison) -> str:
    """An SVG element; colors follow the page's style."""
    order = np.argsort(comparison.at, kind="stable")
    # A random selection, if there are too many: every n-th could be one curve of two
    some = np.random.default_rng(0).permutation(order.size)[:_DOTS]
    kept = order[np.sort(some)]
    at, found, expected = comparison.at[kept], comparison.found[kept], comparison.expected[kept]
    x_axis, y_axis = comparison.x, comparison.y
    both = np.concatenate([found, expected])
    x0, x1 = _limits(at, x_axis.log, 0.04)
    y0, y1 = _limits(both, y_axis.log, 0.08)
    across, down = _place(at, x_axis.log, x0, x1, _LEFT, _WIDTH - _RIGHT), (y_axis.log, y0, y1)
    dots = _place(found, *down, _HEIGHT - _BOTTOM, _TOP)
    law = _place(expected, *down, _HEIGHT - _BOTTOM, _TOP)

    # Between numbered cases there is no line: the law is a bar at each. Otherwise it is a line
    seen = np.isfinite(dots) & np.isfinite(across)
    level = np.isfinite(law) & np.isfinite(across)
    if comparison.numbered or kept.size < 3 or np.unique(at).size < at.size:
        line = "".join(
            f'<path class="law" d="M{x - 5:.1f} {y:.1f}h10"/>' for x, y in zip(across[level], law[level], strict=True)
        )
    else:
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in zip(across[level], law[level], strict=True))
        line = f'<path class="law" d="M{path}"/>'
    circles = "".join(
        f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2"/>' for x, y in zip(across[seen], dots[seen], strict=True)
    )
    frame = f'<path class="axis" d="M{_LEFT} {_TOP}V{_HEIGHT - _BOTTOM}H{_WIDTH - _RIGHT}"/>'
    return (
        f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{html.escape(_words(comparison))}">{frame}'
        f"{_ticks(x_axis, x0, x1, comparison.numbered, horizontal=True)}"
        f"{_ticks(y_axis, y0, y1, False, horizontal=False)}"
        f"{line}{circles}{_names(x_axis, y_axis)}</svg>"
    )


def _words(comparison: Comparison) -> str:
    return f"{comparison.y.label or 'value'} over {comparison.x.label}: found as dots, the law as a line"


def _limits(values: Array, log: bool, margin: float) -> tuple[float, float]:
    """Ends of an axis, a little beyond the data."""
    values = values[np.isfinite(values) & ((values > 0) if log else True)]
    if not values.size:
        return (0.1, 1.0) if log else (0.0, 1.0)
    low, high = float(values.min()), float(values.max())
    if log:
        spread = max((high / low) ** margin, 1.05)
        return low / spread, high * spread
    spread = margin * (high - low) or max(0.1 * abs(high), 1e-12)
    return low - spread, high + spread


def _place(values: Array, log: bool, low: float, high: float, begin: float, end: float) -> Array:
    """Pixels of values on an axis."""
    with np.errstate(divide="ignore", invalid="ignore"):
        share = (
            (np.log(values) - math.log(low)) / (math.log(high) - math.log(low))
            if log
            else (values - low) / (high - low)
        )
    return begin + share * (end - begin)


def _round_values(axis: Axis, low: float, high: float, whole: bool) -> list[float]:
    """Positions of ticks: round numbers inside the axis."""
    if axis.log:
        decades = range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)
        every = max(1, math.ceil(len(decades) / 4))
        if len(decades) >= 2:
            return [10.0**k for k in decades[::every]]
    step = 10.0 ** math.floor(math.log10((high - low) / 2))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= 4)
    if whole:
        step = max(1.0, round(step))
    first = math.ceil(low / step)
    return [k * step for k in range(first, math.floor(high / step) + 1)]


def _ticks(axis: Axis, low: float, high: float, whole: bool, *, horizontal: bool) -> str:
    marks = []
    values = _round_values(axis, low, high, whole)
    texts = [f"{value:.5g}" for value in values]
    if len(set(texts)) < len(texts):  # an axis far from zero: its ticks differ in later digits
        texts = [f"{value:.9g}" for value in values]
        values, texts = values[: len(set(texts))], texts[: len(set(texts))]
    for value, text in zip(values, texts, strict=True):
        if horizontal:
            x = float(_place(np.array([value]), axis.log, low, high, _LEFT, _WIDTH - _RIGHT)[0])
            marks.append(f'<path class="axis" d="M{x:.1f} {_HEIGHT - _BOTTOM}v3"/>')
            marks.append(f'<text x="{x:.1f}" y="{_HEIGHT - _BOTTOM + 12}" text-anchor="middle">{text}</text>')
        else:
            y = float(_place(np.array([value]), axis.log, low, high, _HEIGHT - _BOTTOM, _TOP)[0])
            marks.append(f'<path class="axis" d="M{_LEFT - 3} {y:.1f}h3"/>')
            marks.append(f'<text x="{_LEFT - 5}" y="{y + 3:.1f}" text-anchor="end">{text}</text>')
    return "".join(marks)


def _names(x: Axis, y: Axis) -> str:
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    across = f'<text x="{middle:.0f}" y="{_HEIGHT - 4}" text-anchor="middle">{html.escape(x.label)}</text>'
    up = f'<text transform="translate(9 {(_HEIGHT - _BOTTOM + _TOP) / 2:.0f}) rotate(-90)" text-anchor="middle">'
    return across + (f"{up}{html.escape(y.label)}</text>" if y.label else "")
