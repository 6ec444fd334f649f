"""A pattern given ray by ray, in arrays or in a CSV file."""

import csv
import functools
import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import numpy.typing as npt
from pydantic import Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.patterns import base
from sensorium.patterns.base import AbstractPattern, RayTable, SweepRate

_MAX_BYTES = 2**30

# Column of a CSV file -> the field it fills and how. Names are read in lower case with "/" as "_".
_COLUMNS: dict[str, tuple[str, Callable[[float], float]]] = {
    "azimuth_deg": ("azimuth_deg", float),
    "azimuth_rad": ("azimuth_deg", math.degrees),
    "elevation_deg": ("elevation_deg", float),
    "elevation_rad": ("elevation_deg", math.degrees),
    "zenith_deg": ("elevation_deg", lambda zenith: 90.0 - zenith),
    "zenith_rad": ("elevation_deg", lambda zenith: 90.0 - math.degrees(zenith)),
    "time_s": ("time_s", float),
    "channel": ("channel", float),
    "row": ("channel", float),
}


class Table(AbstractPattern):
    """Rays one by one: direction and firing time of each, in firing order.

    Without channels a sweep is one row. With channels, row i holds the rays of the i-th smallest channel
    number, in firing order; every channel needs equally many rays in every sweep. A long recording spans
    several sweeps: sweep k fires the rays with i / rate_hz <= time_s < (i + 1) / rate_hz, i = k mod sweeps.

    >>> two = sn.patterns.Table(azimuth_deg=(0, 90), elevation_deg=(0, 0), time_s=(0.0, 0.01), rate_hz=10)
    >>> two.rays().direction_S.round(6).tolist()
    [[[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]]
    """

    kind: Literal["table"] = "table"
    azimuth_deg: tuple[float, ...] = Field(min_length=1, repr=False)
    """Azimuth of each ray [deg], 0 forward, positive to the left."""
    elevation_deg: tuple[Annotated[float, Field(ge=-90.0, le=90.0)], ...] = Field(repr=False)
    """Elevation of each ray [deg], positive up."""
    time_s: tuple[Annotated[float, Field(ge=0.0)], ...] = Field(repr=False)
    """Firing time since the start of the table [s], never decreasing."""
    channel: tuple[Annotated[int, Field(ge=0, lt=2**31)], ...] | None = Field(default=None, repr=False)
    """Channel of each ray."""
    rate_hz: SweepRate
    """Sweeps per second [Hz]."""
    sweeps: int = Field(default=1, gt=0, le=1_000_000)
    """Sweeps that the table spans before it repeats."""

    @model_validator(mode="after")
    def _check(self) -> "Table":
        # One entry per ray everywhere.
        rays = len(self.azimuth_deg)
        for name in ("elevation_deg", "time_s", "channel"):
            column = getattr(self, name)
            if column is not None and len(column) != rays:
                raise ValueError(f"{name} has {len(column)} entries; it needs as many as azimuth_deg, {rays}")
        base.check_ray_count(rays)

        # Time runs forward and stays inside the table's sweeps.
        time = np.array(self.time_s)
        backward = np.flatnonzero(np.diff(time) < 0.0)
        if backward.size:
            at = int(backward[0]) + 1
            raise ValueError(f"time_s[{at}] is {time[at]} after {time[at - 1]}; time must not decrease")
        if (self.time_s[-1] + 0.5e-9) * self.rate_hz >= self.sweeps:
            end_s = self.sweeps / self.rate_hz
            raise ValueError(f"time_s reaches {time[-1]}; it must be less than sweeps / rate_hz, {end_s} s")

        # Every sweep has the same shape.
        sweep, (_, row) = self._sweep_of_ray(), self._rows()
        rows = int(row.max()) + 1
        if rows * self.sweeps > rays:
            raise ValueError(f"there are {rays} rays for {rows} rows in {self.sweeps} sweeps; each needs one")
        counts = np.zeros((self.sweeps, rows), dtype=np.int64)
        np.add.at(counts, (sweep, row), 1)
        if (counts != counts[0, 0]).any():
            odd_sweep, odd_row = np.argwhere(counts != counts[0, 0])[0]
            raise ValueError(
                f"row {odd_row} of sweep {odd_sweep} has {counts[odd_sweep, odd_row]} rays; "
                f"all rows of all sweeps need as many as the first, {counts[0, 0]}"
            )
        return self

    # Hashing a million numbers at each call would cost more than the rays; a few of them distinguish tables.
    def __hash__(self) -> int:
        ends = slice(None, None, max(len(self.azimuth_deg) // 8, 1))
        return hash((self.azimuth_deg[ends], self.elevation_deg[ends], self.rate_hz, self.sweeps))

    @classmethod
    def from_csv(cls, path: str | Path, *, rate_hz: float, sweeps: int = 1) -> "Table":
        """Read a table from a CSV file with a header line.

        Columns, in any order: azimuth_deg or azimuth_rad; elevation_deg, elevation_rad, zenith_deg or
        zenith_rad; time_s; and optionally channel or row. Case does not matter and "/" reads as "_", so that
        Livox's "Time/s,Azimuth/deg,Zenith/deg" is understood.

        Args:
            path: The file. Time counts from its first ray.
            rate_hz: Sweeps per second [Hz].
            sweeps: Sweeps that the file spans before it repeats.

        A file that breaks a rule raises `SpecError` naming the file, the line and the rule.
        """
        path = Path(path)
        values: dict[str, object] = {"rate_hz": rate_hz, "sweeps": sweeps}
        for field, numbers in _read_fields(path).items():
            shift = numbers[0] if field == "time_s" else 0.0
            values[field] = tuple(number - shift for number in numbers)
        try:
            return cls.model_validate(values)
        except SpecError as error:
            raise SpecError(f"{path}: {error}") from None

    @property
    def cycle(self) -> int:
        """Sweeps that the table spans."""
        return self.sweeps

    def rays(self, sweep: int = 0) -> RayTable:
        """Rays of one sweep."""
        return _sweeps(self)[base.checked_sweep(sweep, self.cycle)]

    def _sweep_of_ray(self) -> npt.NDArray[np.int64]:
        """Sweep in which each ray fires, shape (rays,); half a nanosecond early still counts as its start."""
        return np.floor((np.array(self.time_s) + 0.5e-9) * self.rate_hz).astype(np.int64)

    def _rows(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Channel numbers in row order, and the row of each ray."""
        if self.channel is None:
            return np.zeros(1, dtype=np.int64), np.zeros(len(self.azimuth_deg), dtype=np.int64)
        numbers, row = np.unique(np.array(self.channel, dtype=np.int64), return_inverse=True)
        return numbers, row.astype(np.int64)


@functools.lru_cache(maxsize=16)
def _sweeps(pattern: Table) -> tuple[RayTable, ...]:
    # Sort the rays into sweeps, then rows, and keep their firing order.
    numbers, row = pattern._rows()
    order = np.lexsort((row, pattern._sweep_of_ray())).reshape(pattern.sweeps, len(numbers), -1)
    azimuth_rad = np.radians(np.array(pattern.azimuth_deg))[order]
    elevation_rad = np.radians(np.array(pattern.elevation_deg))[order]

    # Time restarts with each sweep.
    start_s = np.arange(pattern.sweeps)[:, None, None] / pattern.rate_hz
    time_s = np.maximum(np.array(pattern.time_s)[order] - start_s, 0.0)
    direction_S = base.directions(azimuth_rad, elevation_rad)
    return tuple(
        base.ray_table(direction, time, rate_hz=pattern.rate_hz)
        for direction, time in zip(direction_S, time_s, strict=True)
    )


def _read_fields(path: Path) -> dict[str, list[float]]:
    """Numbers of each field in a CSV file, every cell checked against the rules that hold line by line."""
    lines = _numbered_lines(path)
    header_line, header = next(lines, (0, []))
    if not header:
        raise SpecError(f"{path}: the file is empty; it needs a header line and at least one ray")

    # The header names the columns.
    readers: list[tuple[str, str, Callable[[float], float]]] = []
    for cell in header:
        name = cell.strip().lower().replace("/", "_")
        if name not in _COLUMNS:
            known = ", ".join(_COLUMNS)
            raise SpecError(f"{path}, line {header_line}: column {cell!r} is unknown; known are {known}")
        field, convert = _COLUMNS[name]
        if any(field == earlier for _, earlier, _ in readers):
            raise SpecError(f"{path}, line {header_line}: column {cell!r} gives {field} again; give it once")
        readers.append((name, field, convert))
    fields: dict[str, list[float]] = {field: [] for _, field, _ in readers}
    for field in ("azimuth_deg", "elevation_deg", "time_s"):
        if field not in fields:
            options = " or ".join(name for name, (target, _) in _COLUMNS.items() if target == field)
            raise SpecError(f"{path}, line {header_line}: a column is missing; the header needs {options}")

    for line, cells in lines:
        if len(cells) != len(readers):
            raise SpecError(f"{path}, line {line}: {len(cells)} cells; the header has {len(readers)} columns")
        for cell, (name, field, convert) in zip(cells, readers, strict=True):
            try:
                number = convert(float(cell))
            except ValueError:
                raise SpecError(f"{path}, line {line}: {name} is {cell!r}; it must be a number") from None
            rule = _broken_rule(field, number, fields[field])
            if rule:
                raise SpecError(f"{path}, line {line}: {name} is {cell.strip()}; {rule}")
            fields[field].append(number)
    if not fields["time_s"]:
        raise SpecError(f"{path}: there is no ray after the header; at least one is needed")
    return fields


def _broken_rule(field: str, number: float, before: list[float]) -> str | None:
    """The rule that a number breaks, or None."""
    if not math.isfinite(number):
        return "it must be finite"
    if field == "elevation_deg" and abs(number) > 90.0:
        return "elevation must stay in [-90, 90] degrees (zenith in [0, 180])"
    if field == "time_s" and before and number < before[-1]:
        return f"time must not decrease, and the line above has {before[-1]}"
    if field == "channel" and not (number.is_integer() and 0 <= number < 2**31):
        return "it must be a whole number from 0"
    return None


def _numbered_lines(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each non-blank line; a line that cannot be read raises `SpecError`."""
    if not path.is_file():
        raise SpecError(f"{path}: there is no such file")
    size = path.stat().st_size
    if size > _MAX_BYTES:
        raise SpecError(f"{path}: the file has {size} bytes; at most {_MAX_BYTES} are read")
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file)
            for cells in reader:
                if any(cell.strip() for cell in cells):
                    yield reader.line_num, cells
    except OSError as error:
        raise SpecError(f"{path}: the file cannot be read: {error.strerror or error}") from error
    except (UnicodeDecodeError, csv.Error) as error:
        raise SpecError(f"{path}: the file is not CSV in UTF-8: {error}") from error
