"""`python -m sensorium.qa.validation.reality docs/reality.md` writes the tables and the pictures of recorded devices.

Names of sections behind the page, `lidars` or `others`, write these alone.
"""

import re
import sys
from collections.abc import Iterable
from pathlib import Path

from sensorium.core.errors import SpecError
from sensorium.files.atomic import replacing
from sensorium.qa.validation.laws.recordings import LIDARS, OTHERS, library, twin
from sensorium.recordings.compare.comparison import Comparison
from sensorium.recordings.compare.page import cells, comparison_plot, curves_of_both
from sensorium.recordings.fit.noise_law import is_along_rings
from sensorium.view.plots import save_figure

BEGIN, END = (
    "<!-- recorded {name}: written by python -m sensorium.qa.validation.reality -->",
    "<!-- end of recorded {name} -->",
)
"""Marks between which the page holds a section."""

_HEAD = "| device | noise | twin: by range | by reflectivity | agree | sheet of the library | agree |"
_OTHER_HEAD = "| figure | where | real | 95 % interval | simulated | ratio | verdict |"
_DIGITS = re.compile(r"\d+\.\d+")
_NOISE = {"range": "noise.by_range", "reflectivity": "noise.by_reflectivity"}


def main(page: str, *names: str) -> None:
    """Measure recorded devices, draw them, and write their sections of a page; all sections without names."""
    sections = {"lidars": _lidars, "others": _others}
    path = Path(page)
    for name in names or sections:
        if name not in sections:
            raise SpecError(f"section is {name!r}; it must be one of {', '.join(sections)}")
        begin, end = (mark.format(name=name) for mark in (BEGIN, END))
        text = path.read_text(encoding="utf-8")
        if begin not in text or end not in text:
            raise SpecError(f"{page} has no marks of the table: {begin} and {end}")
        made = "\n".join([begin, "", *sections[name](path.parent), end])
        with replacing(path) as file:
            file.write((text[: text.index(begin)] + made + text[text.index(end) + len(end) :]).encode())


def _lidars(folder: Path) -> Iterable[str]:
    """Lines of the lidars: a table, and a picture of each."""
    lines, pictures = [_HEAD, _rule(_HEAD)], []
    for name, (_, device, sheet) in LIDARS.items():
        fitted, own = twin(name), library(name)
        pictures.append(
            _picture(folder, name, fitted, list(_NOISE.values()), f"Noise of a real {device} and of its twin")
        )
        ways = "along rings" if is_along_rings(fitted.real) else "at rest"
        columns = device, ways, *(_spread(fitted, each) for each in _NOISE.values()), _agree(fitted), sheet, _agree(own)
        lines.append(_row(columns))
        print(lines[-1], flush=True)
    return [*lines, "", *pictures]


def _others(folder: Path) -> Iterable[str]:
    """Lines of the other devices: a table of the twin, the library's sheet where there is one, and a picture."""
    lines = []
    for name, (_, device, sheet) in OTHERS.items():
        found = twin(name)
        own = f" By the library's sheet, {sheet}, {_agree(library(name))} figures agree." if sheet else ""
        lines += [
            f"### {device}",
            "",
            f"The twin: {_agree(found)} figures agree.{own}",
            "",
            _OTHER_HEAD,
            _rule(_OTHER_HEAD),
        ]
        for row in found.rows:
            quantity, where, real, interval, simulated, _, ratio, _, verdict = cells(row)
            if verdict != "not modeled":
                columns = [_DIGITS.sub(_shorter, each) for each in (real, interval, simulated, ratio)]
                lines.append(_row((f"`{quantity}`", where, *columns, verdict)))
        left = sorted({row.real.quantity for row in found.rows if row.tolerance is None})
        lines += ["", "Not modeled: " + ", ".join(f"`{each}`" for each in left) + ".", ""] if left else [""]
        if curves := curves_of_both(found):
            named = found._replace(real=found.real._replace(device=device))
            lines.append(_picture(folder, name, named, curves, f"A real {device} and its twin"))
        print(f"{device}: {_agree(found)}", flush=True)
    return lines


def _picture(folder: Path, name: str, found: Comparison, curves: list[str], words: str) -> str:
    """Draw curves of both, and give the line that shows them."""
    place = f"images/reality_{name}.png"
    save_figure(folder / place, comparison_plot(found, curves))
    return f"![{words}]({place})\n"


def _shorter(number: "re.Match[str]") -> str:
    """A number of at most five digits."""
    return f"{float(number[0]):.5g}"


def _row(columns: Iterable[str]) -> str:
    return "| " + " | ".join(columns) + " |"


def _rule(head: str) -> str:
    return _row(["---"] * (head.count("|") - 1))


def _spread(found: Comparison, quantity: str) -> str:
    """Least and greatest ratio of simulated and real noise over the bins of a quantity."""
    ratios = [row.ratio for row in found.rows if row.real.quantity == quantity and row.ratio is not None]
    return f"{min(ratios):.2f} to {max(ratios):.2f} of the real one" if ratios else ""


def _agree(found: Comparison) -> str:
    agrees, differs = found.count("agrees"), found.count("differs")
    return f"{agrees} of {agrees + differs}"


if __name__ == "__main__":
    main(*sys.argv[1:])
