"""A recorded signal, evenly spaced in time, read from a log file for analysis."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis.units import is_unit, si_unit
from sensorium.core.clock import MAX_NS, NS_PER_S
from sensorium.core.errors import SpecError

Array = NDArray[np.float64]

LARGEST = 1e100
"""Values beyond it are no signal, and their squares no numbers."""

_GAP = 1.5  # periods between two samples from which on one is missing
_EARLY, _MOST_EARLY = 0.5, 0.01
_RATE_CHANGE = 0.01
_MOST_LOST = 0.1


@dataclass(frozen=True)
class SignalLog:
    """Channels of a recording.

    Attributes:
        values: Samples in SI units where the unit is known, shape (samples, channels).
        names: Name of each channel.
        units: SI unit of each channel, "" where it is not known.
        rate_hz: Samples a second.
        filled: Samples that were missing and are interpolated.
    """

    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    rate_hz: float
    filled: int = 0


@dataclass(frozen=True)
class RawLog:
    """Content of a file, before times and units are interpreted.

    Attributes:
        values: Shape (rows, channels).
        names: Name of each channel.
        units: Unit of each channel as the file says, "" where it does not.
        time_s: Time of each row since the first [s], shape (rows,); None where the file has none.
        row: Word for a row in messages: "row", "message".
        first: Number of the first row.
    """

    values: Array
    names: tuple[str, ...]
    units: tuple[str, ...]
    time_s: Array | None
    row: str
    first: int


def read_log(
    path: str | PathLike[str],
    *,
    rate_hz: float | None = None,
    topic: str | None = None,
    columns: Sequence[str] | None = None,
    unit: Sequence[str] | None = None,
    allow_gaps: bool = False,
    progress: Callable[[float], None] | None = None,
) -> SignalLog:
    """Read a log of a sensor at rest: MCAP by its suffix `.mcap`, any other file as CSV.

    Args:
        path: The file.
        rate_hz: Samples a second. Needed where a CSV has no column of time; where there is one it is then not
            looked at.
        topic: MCAP alone: whose messages; None where the file has one topic with inertial or magnetic readings.
        columns: CSV: names or numbers (from 1) of columns. MCAP: fields such as `angular_velocity` or
            `angular_velocity.x`. None takes every number that changes, besides time.
        unit: Unit of the channels, one for all or one for each, for instance `deg/s`, `g`, `mg`; None takes the unit in
            the file.
        allow_gaps: Fill missing samples by straight lines instead of refusing the log; at most a tenth.
        progress: Called with the part that is read, 0 to 1.

    Raises:
        SpecError: Naming the place, for a file that cannot be read, a value that is no number, time that does not
            increase, a gap, a rate that changes.
    """
    path = Path(path)
    if not path.is_file():
        raise SpecError(f"log is {str(path)!r}; it must be a file")
    if rate_hz is not None and not (np.isfinite(rate_hz) and rate_hz > 0.0):
        raise SpecError(f"rate_hz is {rate_hz!r}; it must be finite and positive")
    if path.suffix.lower() == ".mcap":
        from sensorium.analysis.mcap_log import read_mcap

        raw = read_mcap(path, topic=topic, fields=columns, progress=progress)
    else:
        from sensorium.analysis.csv_log import read_csv

        if topic is not None:
            raise SpecError(
                f"topic is {topic!r}; only an MCAP file has topics, and {path.name!r} is none by its ending"
            )
        raw = read_csv(path, columns=columns, progress=progress)

    # Every value is a number, in its file's unit and in SI
    units, factors = _si(raw, unit)
    with np.errstate(over="ignore", invalid="ignore"):
        values = raw.values * factors
    wrong = np.argwhere(~np.isfinite(values))
    if len(wrong):
        row, channel = wrong[0]
        value, at = raw.values[row, channel], f"{raw.row} {raw.first + row}"
        raise SpecError(f"{raw.names[channel]!r} is {value} at {at} of {path.name!r}; it must be finite")
    wrong = np.argwhere(np.abs(values) > LARGEST)
    if len(wrong):
        row, channel = wrong[0]
        value, at = values[row, channel], f"{raw.row} {raw.first + row}"
        raise SpecError(f"{raw.names[channel]!r} is {value:g} at {at} of {path.name!r}; it must be within {LARGEST:g}")

    if rate_hz is not None:
        return SignalLog(values, raw.names, units, float(rate_hz))
    if raw.time_s is None:
        raise SpecError(f"{path.name!r} has no column of time; the rate must be given (--rate)")
    values, rate, filled = evenly_spaced(
        raw.time_s, values, allow_gaps=allow_gaps, where=lambda row: f"{raw.row} {raw.first + row} of {path.name!r}"
    )
    return SignalLog(values, raw.names, units, rate, filled)


def evenly_spaced(
    time_s: Array, values: Array, *, allow_gaps: bool, where: Callable[[int], str]
) -> tuple[Array, float, int]:
    """Check that samples are evenly spaced, or fill gaps.

    Args:
        time_s: Times [s], shape (rows,).
        values: Shape (rows, channels).
        allow_gaps: Fill gaps by straight lines.
        where: How to name a row in a message.

    Returns:
        The values, the rate [Hz] and how many samples were filled in.
    """
    if len(time_s) < 3:
        raise SpecError(f"the log has {len(time_s)} rows; a rate needs at least 3")
    if not np.isfinite(time_s).all():
        at = int(np.argmin(np.isfinite(time_s)))
        raise SpecError(f"time is {time_s[at]} at {where(at)}; it must be finite")
    if np.abs(time_s).max() > MAX_NS / NS_PER_S:
        at = int(np.argmax(np.abs(time_s)))
        raise SpecError(f"time is {time_s[at]:g} s at {where(at)}; it must be within 2^63 ns, about 292 years")
    steps = np.diff(time_s)
    if (steps <= 0.0).any():
        at = int(np.argmax(steps <= 0.0))
        raise SpecError(f"time goes by {steps[at]:g} s to {where(at + 1)}; it must increase, or the rate be given")
    period = float(np.median(steps))

    # A changing rate is not a gap and cannot be filled
    early = steps < _EARLY * period
    if early.mean() > _MOST_EARLY:
        at, share = int(np.argmax(early)), 100.0 * early.mean()
        rule = f"{share:.1f} % of the steps are below half the usual {period:g} s, the first to {where(at + 1)}"
        raise SpecError(f"the log is not evenly spaced: {rule}; give the rate if its times are not the samples'")
    gaps = steps > _GAP * period
    regular, half = steps[~gaps], (len(steps) - int(gaps.sum())) // 2
    before, after = float(regular[:half].mean()), float(regular[half:].mean())
    if abs(after / before - 1.0) > _RATE_CHANGE:
        raise SpecError(f"the rate changes from {1 / before:g} Hz in the first half to {1 / after:g} Hz in the second")
    if not gaps.any():
        return values, float(len(steps) / (time_s[-1] - time_s[0])), 0

    # Gaps: refuse and say where, or put the samples where they belong
    period = float(regular.mean())
    with np.errstate(over="ignore"):
        places = np.concatenate([[0.0], np.cumsum(np.maximum(np.rint(steps / period), 1.0))])
    lost = float(places[-1]) + 1.0 - len(values)
    at = int(np.argmax(gaps))
    message = (
        f"{lost:.0f} samples are missing in {int(gaps.sum())} gaps, the first of {steps[at]:g} s before {where(at + 1)}"
    )
    if not allow_gaps:
        rule = f"the period is {period:g} s; fill them (--allow-gaps), or give the rate to take samples as they come"
        raise SpecError(f"{message}; {rule}")
    if lost > _MOST_LOST * len(values):
        raise SpecError(f"{message}; that is more than a tenth, too much to fill")
    grid = np.arange(places[-1] + 1, dtype=np.float64)
    filled = np.stack([np.interp(grid, places, channel) for channel in values.T], axis=-1)
    return filled, 1.0 / period, int(lost)


def _si(raw: RawLog, unit: Sequence[str] | None) -> tuple[tuple[str, ...], Array]:
    """SI unit of each channel and the factor to it; an unknown unit in the file is kept."""
    if unit is None:
        pairs = [si_unit(name) if is_unit(name) else (name, 1.0) for name in raw.units]
    else:
        given = tuple(unit) * len(raw.names) if len(unit) == 1 else tuple(unit)
        if len(given) != len(raw.names):
            rule = f"it must have one, or {len(raw.names)} for {', '.join(raw.names)}"
            raise SpecError(f"unit has {len(given)} entries; {rule}")
        pairs = [si_unit(name) for name in given]
    return tuple(si for si, _ in pairs), np.array([factor for _, factor in pairs])
