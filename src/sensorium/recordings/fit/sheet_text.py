"""A data sheet as the text of a TOML file."""

import json
import math
from collections.abc import Mapping
from typing import Any

_WIDTH = 116


def sheet_text(head: Mapping[str, Any], values: Mapping[str, Mapping[str, Any]]) -> str:
    """The file of a sheet.

    Args:
        head: Fields of the device: words, lists of words, and the table `sources`.
        values: Each value of the sheet, as the fields of a `Quantity`.
    """
    lines = [_line(name, value) for name, value in head.items() if name != "sources"]
    for name, table in (("sources", head["sources"]), *values.items()):
        lines += ["", f"[{name}]", *(_line(key, value) for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _line(name: str, value: Any) -> str:
    line = f"{name} = {_shown(value)}"
    if len(line) <= _WIDTH or not isinstance(value, list | tuple):
        return line
    rows, row = list[str](), "   "
    for entry in map(_shown, value):
        if len(row) + len(entry) + 2 > _WIDTH:
            rows, row = [*rows, row], "   "
        row += f" {entry},"
    return "\n".join([f"{name} = [", *rows, row, "]"])


def _shown(value: Any) -> str:
    """A value of TOML; numbers have 8 digits, or those of a whole number."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_shown(each)}" for key, each in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_shown, value)) + "]"
    if isinstance(value, int):
        return str(value)
    number = float(value)
    assert math.isfinite(number)
    text = f"{number:.8g}" if abs(number) < 1e6 else repr(number)
    return text if any(mark in text for mark in ".en") else f"{text}.0"
