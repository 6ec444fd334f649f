"""Logs as text, a row for each sample: with a header or without, between commas, semicolons, tabs or blanks."""

import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TextIO

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis.signal_log import RawLog
from sensorium.analysis.units import is_unit
from sensorium.core.errors import SpecError
from sensorium.files.plain_files import open_regular, open_text

# The reader sets all of them aside before it looks for them
_ROWS_AT_ONCE, _NUMBERS_AT_ONCE = 200_000, 4_000_000
_LONGEST_TITLE = 200  # of a column, that may hold a unit
_TIME_NAMES = {"t", "time", "timestamp", "stamp", "header.stamp", "field.header.stamp", "rosbagtimestamp"}
_TIME_UNITS = {"s": 1.0, "sec": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9, "nsec": 1e-9}
_COUNTER_NAMES = {"seq", "sequence", "index", "id", "count", "counter", "frame", "field.header.seq"}
# Of tables that SignalRecorder writes: columns that hold no signal, and units by the end of a name
_OTHER_NAMES = {"arrival_ns", "world", "sensor"}
_TRUTH = "truth_"
_UNITS_IN_NAMES = {"_m_s2": "m/s^2", "_rad_s": "rad/s", "_T": "T"}
# The size of a time without a unit gives its unit if it is too large for seconds since 1970
_EPOCH_UNITS = ((1e17, 1e-9), (1e14, 1e-6), (1e11, 1e-3))


@dataclass(frozen=True)
class _Layout:
    """Layout of a file: separator (None for blanks), names, units, line of the first row (from 1)."""

    separator: str | None
    names: tuple[str, ...]
    units: tuple[str, ...]
    named: bool
    first_line: int


def read_csv(
    path: Path, *, columns: Sequence[str] | None = None, progress: Callable[[float], None] | None = None
) -> RawLog:
    """Read a log as text.

    The first row that is not numeric is a header, with or without a leading `#`; `gx [deg/s]` or `gx (deg/s)` gives a
    unit. Time is the column called t, time, timestamp or stamp, perhaps with a unit: time_ns, t [ms]. Without a unit,
    its size distinguishes seconds from milli-, micro- or nanoseconds since 1970. Tables of `sn.record`'s SignalRecorder
    are read as they are, without their columns of truth.

    Args:
        path: The file.
        columns: Names or numbers (from 1) of the columns; None takes all numbers that change, besides time and
            counters.
        progress: Called with the part that is read, 0 to 1.
    """
    try:
        with open_text(path) as file:
            layout, fields = _layout(path, file)
        time_column = _time_column(layout)
        picked = _picked(layout, fields, columns, time_column)
        wanted = picked if time_column is None else [*picked, time_column]
        table = _numbers(path, layout, wanted, progress)
    except UnicodeDecodeError:
        raise SpecError(f"{path.name!r} is not text; a log is CSV or ends in .mcap") from None
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror}") from None

    values = table[:, : len(picked)]
    if columns is None:
        moving = [i for i in range(len(picked)) if not (values[:, i] == values[0, i]).all()]
        if not moving:
            raise SpecError(f"no column of {path.name!r} changes; a log of a sensor has noise")
        picked, values = [picked[i] for i in moving], values[:, moving]
    time_s = None if time_column is None else _seconds(table[:, -1], layout, time_column)
    return RawLog(
        values=values,
        names=tuple(layout.names[i] for i in picked),
        units=tuple(layout.units[i] for i in picked),
        time_s=time_s,
        row="row",
        first=1,
    )


def _layout(path: Path, file: TextIO) -> tuple[_Layout, list[str]]:
    """Look at the first lines: separator, header, and the fields of the first row of numbers."""
    header: str | None = None
    for number, line in enumerate(file, start=1):
        text = line.strip()
        if not text:
            continue
        separator = next((mark for mark in (",", ";", "\t") if mark in text), None)
        fields = [field.strip() for field in text.split(separator)]
        if text[0] not in "#%" and any(_is_number(field) for field in fields):
            return _with_header(path, separator, fields, header, number), fields
        if header is not None and header[0] not in "#%":
            raise SpecError(f"line {number} of {path.name!r} is {text[:60]!r}; it must be a row of numbers")
        header = text
    raise SpecError(f"{path.name!r} has no row of numbers")


def _with_header(path: Path, separator: str | None, fields: list[str], header: str | None, number: int) -> _Layout:
    """Names and units from the line above the first row, or numbers for names."""
    titles: list[str] = []
    if header is not None:
        plain = header.lstrip("#% ").strip()
        titles = [title.strip().strip('"') for title in plain.split(separator)]
        if len(titles) != len(fields) and header[0] not in "#%":
            counts = f"{len(titles)} names and line {number} has {len(fields)} fields"
            raise SpecError(f"the header of {path.name!r} has {counts}; they must be as many")
    named = len(titles) == len(fields)
    if not named:
        titles = [f"column {i + 1}" for i in range(len(fields))]
    names, units = [], []
    for title in titles:
        match = re.fullmatch(r"(.*?)\s*[\[(]([^\])]*)[\])]", title) if len(title) <= _LONGEST_TITLE else None
        names.append(match[1] if match and match[1] else title)
        named_unit = next((unit for end, unit in _UNITS_IN_NAMES.items() if title.endswith(end)), "")
        units.append(match[2].strip() if match and match[1] else named_unit)
    doubled = {name for name, count in Counter(names).items() if count > 1}
    unique = tuple(f"{name} {i + 1}" if name in doubled else name for i, name in enumerate(names))
    return _Layout(separator, unique, tuple(units), named, number)


def _time_column(layout: _Layout) -> int | None:
    for i, name in enumerate(layout.names):
        if layout.named and _time_name(name)[0]:
            return i
    return None


def _time_name(name: str) -> tuple[bool, str]:
    """Whether a column's name says that it is time, and the unit in it."""
    plain = name.lower().strip()
    stem, _, last = plain.rpartition("_")
    if stem in _TIME_NAMES and last in _TIME_UNITS:
        return True, last
    return plain in _TIME_NAMES, ""


def _seconds(time: NDArray[np.float64], layout: _Layout, column: int) -> NDArray[np.float64]:
    """Times since the first [s]."""
    unit = layout.units[column].lower() or _time_name(layout.names[column])[1]
    if unit and unit not in _TIME_UNITS:
        raise SpecError(f"time is in {unit!r}; it must be in {', '.join(_TIME_UNITS)}")
    if not np.isfinite(time).all():
        at = int(np.argmin(np.isfinite(time)))
        raise SpecError(f"{layout.names[column]!r} is {time[at]} in row {at + 1}; it must be finite")
    since = time - time[0]
    if unit:
        return since * _TIME_UNITS[unit]
    return since * next((factor for least, factor in _EPOCH_UNITS if abs(time[0]) >= least), 1.0)


def _picked(layout: _Layout, fields: list[str], columns: Sequence[str] | None, time_column: int | None) -> list[int]:
    """Which columns hold the channels."""
    if columns is None:
        plain = [i for i in range(len(fields)) if i != time_column and _is_number(fields[i])]
        picked = [i for i in plain if not (layout.named and _is_no_signal(layout.names[i]))]
        picked = [i for i in picked if layout.units[i] == "" or is_unit(layout.units[i])]
        if not picked:
            raise SpecError(f"no column of {', '.join(layout.names)} holds a signal; name some (--columns)")
        return picked
    picked = []
    for column in columns:
        if column in layout.names:
            picked.append(layout.names.index(column))
        elif column.isdecimal() and 1 <= int(column) <= len(fields):
            picked.append(int(column) - 1)
        else:
            raise SpecError(
                f"column is {column!r}; it must be a number up to {len(fields)} or one of {', '.join(layout.names)}"
            )
    if len(set(picked)) != len(picked) or not picked:
        raise SpecError(f"columns is {', '.join(columns)!r}; it must name at least one, each once")
    return picked


def _is_no_signal(name: str) -> bool:
    """Whether a column's name marks a counter, or another quantity that is not a measurement."""
    plain = name.lower()
    return plain in _COUNTER_NAMES | _OTHER_NAMES or plain.startswith(_TRUTH)


def _numbers(
    path: Path, layout: _Layout, wanted: list[int], progress: Callable[[float], None] | None
) -> NDArray[np.float64]:
    """The wanted columns as numbers, shape (rows, wanted)."""
    parts: list[NDArray[np.float64]] = []
    size, read = max(1, path.stat().st_size), 0
    with open_regular(path) as raw, io.TextIOWrapper(raw, encoding="utf-8-sig") as file:
        for _ in range(layout.first_line - 1):
            next(file)
        at_once = max(1, min(_ROWS_AT_ONCE, _NUMBERS_AT_ONCE // len(wanted)))
        while True:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # at the end there is no data left: that is how it shows
                try:
                    part = np.loadtxt(
                        file, delimiter=layout.separator, usecols=wanted, max_rows=at_once, ndmin=2, comments="#"
                    )
                except ValueError as error:
                    raise SpecError(_wrong_row(path, layout, wanted, read, error)) from None
            if len(part) == 0:
                break
            parts.append(part)
            read += len(part)
            if progress is not None:
                progress(min(1.0, raw.tell() / size))
    return np.concatenate(parts)


def _wrong_row(path: Path, layout: _Layout, wanted: list[int], read: int, error: ValueError) -> str:
    """Find the first row that cannot be read, and describe its error."""
    with open_text(path) as file:
        for number, line in enumerate(file, start=1):
            text = line.partition("#")[0].strip()
            if number < layout.first_line + read or not text:
                continue
            fields = [field.strip() for field in text.split(layout.separator)]
            if len(fields) <= max(wanted):
                rule = f"it must have {len(layout.names)}"
                return f"line {number} of {path.name!r} has {len(fields)} fields; {rule}"
            for i in wanted:
                if not _is_number(fields[i]):
                    return (
                        f"{layout.names[i]!r} is {fields[i]!r} at line {number} of {path.name!r}; it must be a number"
                    )
    return f"{path.name!r} cannot be read: {error}"


def _is_number(field: str) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
