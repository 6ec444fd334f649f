"""`python -m sensorium.qa.validation.reality docs/reality.md` writes tables and pictures of recorded devices."""

import sys
from pathlib import Path

from sensorium.core.errors import SpecError
from sensorium.files.atomic import replacing
from sensorium.qa.validation.laws.recordings import LIDARS, UNITS, device_of, library, twin, units
from sensorium.recordings.compare.comparison import Comparison
from sensorium.recordings.compare.page import comparison_plot
from sensorium.recordings.fit.noise_law import is_along_rings
from sensorium.view.plots import save_figure

BEGIN, END = (
    "<!-- recorded devices: written by python -m sensorium.qa.validation.reality -->",
    "<!-- end of recorded devices -->",
)
"""Marks between which the page holds the table."""

_HEAD = "| device | noise | twin: by range | by reflectivity | agree | sheet of the library | agree |"
_UNITS_HEAD = "| fitted to | held against | noise | by range | by reflectivity | column jitter |"
_NOISE = {"range": "noise.by_range", "reflectivity": "noise.by_reflectivity"}


def main(page: str) -> None:
    """Measure every recorded lidar, draw it, and write the tables."""
    path = Path(page)
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise SpecError(f"{page} has no marks of the table: {BEGIN} and {END}")
    lines, pictures = [_HEAD, "| --- | --- | --- | --- | --- | --- | --- |"], []
    for name, (_, device, sheet) in LIDARS.items():
        fitted, own = twin(name), library(name)
        picture = f"images/reality_{name}.png"
        save_figure(path.parent / picture, comparison_plot(fitted, list(_NOISE.values())))
        pictures.append(f"![Noise of a real {device} and of its twin]({picture})")
        ways = "along rings" if is_along_rings(fitted.real) else "at rest"
        cells = (device, ways, *(_spread(fitted, each) for each in _NOISE.values()), _agree(fitted), sheet, _agree(own))
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    between = [_UNITS_HEAD, "| --- | --- | --- | --- | --- | --- |"]
    for first, second in UNITS:
        ratios = dict[str, list[float]]()
        for row in units(first, second):
            ratios.setdefault(row.figure.quantity, []).append(row.ratio)
        spans = (_span(ratios.get(each, [])) for each in ("noise", *_NOISE.values(), "column_jitter"))
        between.append("| " + " | ".join((device_of(first), device_of(second), *spans)) + " |")
        print(between[-1], flush=True)
    words = "Two units or firmwares, and what the first says of the second, over what the second shows:"
    made = "\n".join([BEGIN, "", *lines, "", *(f"{each}\n" for each in pictures), words, "", *between, "", END])
    with replacing(path) as file:
        file.write((text[: text.index(BEGIN)] + made + text[text.index(END) + len(END) :]).encode())


def _span(ratios: list[float]) -> str:
    low, high = (f"{each:.2f}" for each in (min(ratios, default=0.0), max(ratios, default=0.0)))
    return "" if not ratios else low if low == high else f"{low} to {high}"


def _spread(found: Comparison, quantity: str) -> str:
    """Least and greatest ratio of simulated and real noise over the bins of a quantity."""
    return _span([row.ratio for row in found.rows if row.real.quantity == quantity and row.ratio is not None])


def _agree(found: Comparison) -> str:
    agrees, differs = found.count("agrees"), found.count("differs")
    return f"{agrees} of {agrees + differs}"


if __name__ == "__main__":
    main(sys.argv[1])
