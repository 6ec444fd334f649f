"""The table of round trips as Markdown: written into a page, and read back from it."""

import os
from collections.abc import Iterable
from pathlib import Path

from sensorium.core.errors import SpecError
from sensorium.files.atomic import replacing
from sensorium.qa.round_trip.row import Row

BEGIN, END = "<!-- round trips: written by python -m sensorium.qa.round_trip -->", "<!-- end of round trips -->"
"""Marks between which a page holds the table."""

_HEAD = ("device", "value", "stated", "measured", "interval", "unit", "grade")


def table(rows: Iterable[Row]) -> str:
    """Rows as a Markdown table; `≈` marks a stated value that is in the interval only as a rounded number."""
    lines = ["| " + " | ".join(_HEAD) + " |", "|---|---|--:|--:|--:|---|---|"]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def cells(row: Row) -> tuple[str, ...]:
    """One row as text."""
    mark = "" if row.exact else "≈ "
    stated = f"{mark}{shown(row.stated)}"
    between = f"{shown(row.low)} to {shown(row.high)}"
    return row.device, row.what, stated, shown(row.measured), between, row.unit, row.grade


def shown(number: float) -> str:
    """A number with five digits, large ones in full."""
    return f"{number:,.0f}" if abs(number) >= 1e4 else f"{number:.5g}"


def write(path: str | os.PathLike[str], rows: Iterable[Row]) -> None:
    """Put the table between the marks of a page."""
    before, _, after = _parts(Path(path).read_text("utf-8"), str(path))
    text = f"{before}{BEGIN}\n\n{table(rows)}\n{END}{after}"
    with replacing(path) as file:
        file.write(text.encode())


def read(path: str | os.PathLike[str]) -> list[tuple[str, ...]]:
    """Cells of each row of a page's table."""
    _, between, _ = _parts(Path(path).read_text("utf-8"), str(path))
    lines = [line for line in between.splitlines() if line.startswith("| ")]
    return [tuple(cell.strip() for cell in line.strip("|").split("|")) for line in lines[1:]]


def _parts(text: str, path: str) -> tuple[str, str, str]:
    """The text before the table, between its marks, and after it."""
    before, begin, rest = text.partition(BEGIN)
    between, end, after = rest.partition(END)
    if not begin or not end:
        raise SpecError(f"{path}: there is no place for round trips; it must have the lines {BEGIN} and {END}")
    return before, between, after
