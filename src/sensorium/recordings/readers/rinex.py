"""Observations of GNSS receivers as RINEX 3 text: pseudorange, carrier phase, Doppler and signal strength.

A line of the header has its label from column 61 on. An epoch begins with `>`: date, flag, number of satellites; then a
line for each satellite, three characters for its name and sixteen for each observation, in the order of the system's
line `SYS / # / OBS TYPES`: value (F14.3), loss-of-lock indicator, strength. Epochs of events (flag above 1) are not
read.
Ref: IGS and RTCM-SC104, "RINEX - The Receiver Independent Exchange Format", version 3.04, 2018, tables A2 and A3.
"""

import math
from collections.abc import Iterator
from datetime import datetime, timedelta
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.files.plain_files import open_text

_LABEL, _FIELD, _VALUE = 60, 16, 14
_MAX_LINE = 20_000
_MOST_TYPES = 200
_SYSTEMS = "GRECJIS"


class Arc(NamedTuple):
    """Observations of one satellite, shape (n, types) each.

    Attributes:
        satellite: Name, as "G05".
        epoch: Number of each row's epoch, shape (n,).
        values: NaN where there is none.
        lost_lock: Whether phase may have jumped since the epoch before.
    """

    satellite: str
    epoch: NDArray[np.int64]
    values: NDArray[np.float64]
    lost_lock: NDArray[np.bool_]


class Observations(NamedTuple):
    """Observations of a file.

    Attributes:
        path: The file.
        receiver: Type of the receiver, as "SEPT MOSAIC-X5"; "" where the file has none.
        types: Observation codes of each system by its letter, as {"G": ("C1C", "L1C", ...)}.
        slots: Frequency number of each GLONASS satellite by its name.
        time_s: Of each epoch since the first [s], shape (epochs,).
        arcs: Satellites by name.
    """

    path: Path
    receiver: str
    types: dict[str, tuple[str, ...]]
    slots: dict[str, int]
    time_s: NDArray[np.float64]
    arcs: tuple[Arc, ...]


def read_rinex_observations(path: str | PathLike[str]) -> Observations:
    """Read a RINEX 3 observation file.

    Raises:
        SpecError: Naming the line, for a file that is no RINEX 3 of observations, or a line that breaks its rules.
    """
    path = Path(path)
    try:
        with open_text(path, "ascii") as file:
            lines = _bounded(path, iter(file.readline, ""))
            receiver, types, slots = _header(path, lines)
            time_s, arcs = _body(path, lines, types)
    except UnicodeDecodeError:
        raise SpecError(f"{path.name!r} is not text in ASCII; RINEX is") from None
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror or error}") from None
    if not arcs:
        raise SpecError(f"{path.name!r} has no observations")
    return Observations(path, receiver, types, slots, time_s, arcs)


_Lines = Iterator[tuple[int, str]]


def _bounded(path: Path, lines: Iterator[str]) -> _Lines:
    for number, line in enumerate(lines, start=1):
        if len(line) > _MAX_LINE:
            raise SpecError(f"line {number} of {path.name!r} has {len(line)} characters; it may have {_MAX_LINE}")
        yield number, line.rstrip("\r\n")


def _header(path: Path, lines: _Lines) -> tuple[str, dict[str, tuple[str, ...]], dict[str, int]]:
    """Receiver, types of observations and GLONASS slots."""
    receiver, system = "", ""
    types: dict[str, list[str]] = {}
    wanted: dict[str, int] = {}
    slots: dict[str, int] = {}
    for number, line in lines:
        label, text, at = line[_LABEL:].strip(), line[:_LABEL], f"line {number} of {path.name!r}"
        if number == 1 and (label != "RINEX VERSION / TYPE" or not text[5:9].startswith("3.") or text[20:21] != "O"):
            raise SpecError(f"{path.name!r} begins with {line[:40].strip()!r}; it must be RINEX 3 of observations")
        if label == "END OF HEADER":
            for each, count in wanted.items():
                if len(types[each]) != count:
                    raise SpecError(f"{path.name!r} has {len(types[each])} types of system {each!r}; it claims {count}")
            return receiver, {each: tuple(names) for each, names in types.items()}, slots
        if label == "REC # / TYPE / VERS":
            receiver = text[20:40].strip()
        elif label == "SYS / # / OBS TYPES":
            if text[0] != " ":
                system = text[0]
                count = _whole(at, text[3:6])
                if system not in _SYSTEMS or not 1 <= count <= _MOST_TYPES or system in wanted:
                    raise SpecError(f"{at} is {text.strip()[:40]!r}; it must give 1 to {_MOST_TYPES} types of a system")
                wanted[system], types[system] = count, []
            if not system:
                raise SpecError(f"{at} continues no system; it must begin with a letter")
            types[system] += text[6:].split()
        elif label == "GLONASS SLOT / FRQ #":
            words = text[4:].split()
            for name, slot in zip(words[::2], words[1::2], strict=False):
                slots[name] = _whole(at, slot)
    raise SpecError(f"{path.name!r} has no end of its header; a line 'END OF HEADER' must come")


def _body(
    path: Path, lines: _Lines, types: dict[str, tuple[str, ...]]
) -> tuple[NDArray[np.float64], tuple[Arc, ...]]:
    """Times of epochs, and observations of each satellite."""
    first: datetime | None = None
    times: list[float] = []
    rows: dict[str, tuple[list[int], list[list[float]], list[list[bool]]]] = {}
    for number, line in lines:
        if not line.strip():
            continue
        at = f"line {number} of {path.name!r}"
        if not line.startswith(">"):
            raise SpecError(f"{at} begins with {line[:10]!r}; an epoch must begin with '>'")
        flag, count = _whole(at, line[29:32]), _whole(at, line[32:35])
        if flag > 1:
            for _ in range(count):
                next(lines, None)
            continue
        moment, fraction = _moment(at, line)
        first = first or moment
        seconds = (moment - first).total_seconds() + fraction
        if times and seconds <= times[-1]:
            raise SpecError(f"{at} is an epoch {times[-1] - seconds:g} s before the last one; times must rise")
        times.append(seconds)
        for _ in range(count):
            inner, text = next(lines, (number + 1, ""))
            _add(f"line {inner} of {path.name!r}", text, len(times) - 1, types, rows)
    arcs = tuple(
        Arc(name, np.array(epoch, np.int64), np.array(values, np.float64), np.array(lost, bool))
        for name, (epoch, values, lost) in sorted(rows.items())
    )
    return np.array(times) - (times[0] if times else 0.0), arcs


def _add(
    at: str,
    line: str,
    epoch: int,
    types: dict[str, tuple[str, ...]],
    rows: dict[str, tuple[list[int], list[list[float]], list[list[bool]]]],
) -> None:
    """Observations of a satellite's line."""
    name = line[:3].replace(" ", "0")
    if len(name) < 3 or name[0] not in types or not name[1:].isdecimal():
        raise SpecError(f"{at} begins with {line[:3]!r}; it must name a satellite of a system in the header")
    values, lost = [], []
    for k in range(len(types[name[0]])):
        field = line[3 + _FIELD * k : 3 + _FIELD * (k + 1)]
        text = field[:_VALUE].strip()
        try:
            value = float(text) if text else math.nan
        except ValueError:
            raise SpecError(f"{at} has {text!r} for {types[name[0]][k]}; it must be a number") from None
        if text and not abs(value) < 1e13:
            raise SpecError(f"{at} has {text!r} for {types[name[0]][k]}; it must be below 1e13")
        values.append(value if value != 0.0 else math.nan)  # 0 says that there is none
        lock = field[_VALUE : _VALUE + 1]
        lost.append(lock.isdecimal() and bool(int(lock) & 1))
    epochs, all_values, all_lost = rows.setdefault(name, ([], [], []))
    if epochs and epochs[-1] == epoch:
        raise SpecError(f"{at} names {name} again; a satellite has one line in an epoch")
    epochs.append(epoch)
    all_values.append(values)
    all_lost.append(lost)


def _moment(at: str, line: str) -> tuple[datetime, float]:
    """Date to the second, and the part of a second."""
    try:
        year, month, day, hour, minute = (int(word) for word in line[1:18].split())
        seconds = float(line[18:29])
        if not 0.0 <= seconds <= 61.0:
            raise ValueError
        return datetime(year, month, day, hour, minute) + timedelta(seconds=int(seconds)), seconds % 1.0
    except (ValueError, OverflowError):
        raise SpecError(f"{at} has the date {line[1:29].strip()!r}; it must be year to second") from None


def _whole(at: str, text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise SpecError(f"{at} has {text.strip()[:20]!r}; it must be a whole number") from None
