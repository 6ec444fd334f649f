"""The page of a validation: one row a law, as HTML and as Markdown."""

import datetime
import html
import os
import platform
import string
from collections.abc import Iterable, Sequence
from importlib import metadata, resources
from pathlib import Path

from sensorium import __version__
from sensorium.qa.validation.check import Result
from sensorium.qa.validation.hardware import hardware_rows, hardware_table
from sensorium.qa.validation.plot import plot

_ENGINES = ("numpy", "scipy", "numba", "mitsuba", "mujoco", "bsk", "ray", "pygeomag", "pymap3d")
_HARDWARE = "What has been held against hardware, and what has not"

_MARKS = {"passed": "✓", "failed": "✗", "skipped": "–"}


def write(folder: Path, results: Sequence[Result], *, quick: bool) -> tuple[Path, Path]:
    """Write validation.html and validation.md into a folder, and return their paths."""
    page, text = folder / "validation.html", folder / "validation.md"
    page.write_text(as_html(results, quick=quick), encoding="utf-8")
    text.write_text(as_markdown(results, quick=quick), encoding="utf-8")
    return page, text


def counts(results: Iterable[Result]) -> dict[str, int]:
    """Numbers of passed, failed and skipped checks."""
    found = {"passed": 0, "failed": 0, "skipped": 0}
    for result in results:
        found[result.verdict] += 1
    return found


def facts(results: Sequence[Result], *, quick: bool) -> dict[str, str]:
    """Summary of the run on the page."""
    number = counts(results)
    return {
        "passed": str(number["passed"]),
        "failed": str(number["failed"]),
        "skipped": str(number["skipped"]),
        "checks took": f"{sum(result.seconds for result in results):.0f} s",
        "mode": "quick" if quick else "full",
        "version": __version__,
        "Python": platform.python_version(),
        "cores": str(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()),
        "date": datetime.datetime.now(datetime.UTC).strftime("%Y-%m-%d %H:%M UTC"),
    }


def engines() -> str:
    """Versions of the libraries used for comparison, and missing ones."""
    words = []
    for name in _ENGINES:
        try:
            words.append(f"{name} {metadata.version(name)}")
        except metadata.PackageNotFoundError:
            words.append(f"{name} not installed")
    return ", ".join(words)


def outcome(result: Result) -> tuple[str, str, str]:
    """Found, expected and how much of the tolerance was used, in the words of the page."""
    if result.comparison is None:
        return "", "", result.reason
    worst = result.worst()
    used = f"{100 * worst['share']:.3g} % of the tolerance used" if worst["share"] < 1e4 else "far outside"
    return f"{worst['found']:.7g}", f"{worst['expected']:.7g}", used


def as_markdown(results: Sequence[Result], *, quick: bool) -> str:
    """The page as text, for terminals and pull requests."""
    lines = ["# Validation of Sensorium", ""]
    lines.append(" · ".join(f"{name} **{value}**" for name, value in facts(results, quick=quick).items()))
    lines += ["", f"Compared with: {engines()}.", ""]
    for family in dict.fromkeys(result.check.family for result in results):
        lines += [f"## {family}", "", "| | claim | reference | found | expected | tolerance | outcome |"]
        lines.append("|---|---|---|---|---|---|---|")
        for result in (one for one in results if one.check.family == family):
            check, (found, expected, words) = result.check, outcome(result)
            cells = (_MARKS[result.verdict], f"**{check.name}**: {check.claim}", check.reference, found, expected)
            line = " | ".join(cell.replace("|", "\\|") for cell in (*cells, str(check.tolerance), words))
            lines.append(f"| {line} |")
        lines.append("")
    lines += [f"## {_HARDWARE}", "", hardware_table()]
    return "\n".join(lines) + "\n"


def as_html(results: Sequence[Result], *, quick: bool) -> str:
    """The page on its own: no script, no other file."""
    files = resources.files("sensorium.qa.validation")
    strip = "".join(
        f'<div class="{name}"><dt>{html.escape(name)}</dt><dd>{html.escape(value)}</dd></div>'
        for name, value in facts(results, quick=quick).items()
    )
    families = list(dict.fromkeys(result.check.family for result in results))
    index = "".join(f'<li><a href="#{_anchor(name)}">{html.escape(name)}</a></li>' for name in families)
    sections = []
    for family in families:
        mine = [one for one in results if one.check.family == family]
        number = counts(mine)
        words = ", ".join(f"{count} {verdict}" for verdict, count in number.items() if count)
        rows = "".join(_row(result) for result in mine)
        head = f'<h2>{html.escape(family)}</h2><p class="words">{words}</p>'
        sections.append(f'<section id="{_anchor(family)}">{head}{rows}</section>')
    limits = "".join(f"<tr>{_cells(row, 'td' if number else 'th')}</tr>" for number, row in enumerate(hardware_rows()))
    return string.Template((files / "page.html").read_text(encoding="utf-8")).substitute(
        style=(files / "page.css").read_text(encoding="utf-8"),
        verdict="some laws do not hold" if counts(results)["failed"] else "every law that was checked holds",
        strip=strip,
        engines=html.escape(engines()),
        index=index,
        sections="\n".join(sections),
        hardware=_HARDWARE,
        limits=limits,
    )


def _cells(row: Sequence[str], tag: str) -> str:
    return "".join(f"<{tag}>{html.escape(cell)}</{tag}>" for cell in row)


def _anchor(name: str) -> str:
    return "".join(c if c.isalnum() else "-" for c in name.lower())


def _row(result: Result) -> str:
    """One law as a card: words on the left, plot on the right."""
    check, (found, expected, words) = result.check, outcome(result)
    note = "" if result.comparison is None else result.comparison.note
    numbers = ""
    if result.comparison is not None:
        numbers = (
            f"<div><dt>found, at worst</dt><dd>{found}</dd></div><div><dt>reference</dt><dd>{expected}</dd></div>"
            f"<div><dt>tolerance</dt><dd>{html.escape(str(check.tolerance))}</dd></div>"
            f"<div><dt>values</dt><dd>{result.comparison.found.size}</dd></div>"
        )
    picture = "" if result.comparison is None else plot(result.comparison)
    return (
        f'<article class="{result.verdict}" id="{check.name}"><div>'
        f'<h3><span class="mark">{_MARKS[result.verdict]}</span> {html.escape(check.name)} '
        f'<span class="time">{result.seconds:.2f} s</span></h3>'
        f'<p>{html.escape(check.claim)}</p><p class="ref">{html.escape(check.reference)}</p><dl>{numbers}</dl>'
        f'<p class="ref">{html.escape(words)}{". " + html.escape(note) if note else ""}</p></div>{picture}</article>'
    )
