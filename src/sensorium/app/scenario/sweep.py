"""A series of runs over values of some keys."""

import itertools
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from sensorium.app.scenario.run import Run, run
from sensorium.app.scenario.scenario import Scenario
from sensorium.core.errors import SpecError
from sensorium.files.atomic import replacing
from sensorium.files.owned_folders import held
from sensorium.files.plain_files import read_json

INDEX = "sweep.json"

# Characters that a folder's name must not have
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_.+=,-]+")
_LONGEST_NAME = 80


@dataclass(frozen=True)
class Case:
    """One run of a series.

    Attributes:
        folder: Name of its folder.
        values: Value of each key that the series goes over.
        scenario: The base scenario.
    """

    folder: str
    values: dict[str, Any]
    scenario: Scenario


def cases(load: Callable[[Mapping[str, Any]], Scenario], keys: Mapping[str, Sequence[Any]]) -> list[Case]:
    """Every combination of the values, each checked, in order: the last key changes fastest.

    Args:
        load: Makes a scenario with values by dotted key.
        keys: The values of each key.
    """
    for key, several in keys.items():
        inside = [other for other in keys if other != key and other.startswith((f"{key}.", f"{key}["))]
        if inside:
            raise SpecError(f"--sweep goes over {key!r} and over {inside[0]!r}, a part of it; one of them must do")
        if any(value in several[:number] for number, value in enumerate(several)):
            raise SpecError(f"--sweep {key} has a value twice: {list(several)}; they must differ")
    found = []
    width = len(str(math.prod(len(values) for values in keys.values()) - 1))
    for number, chosen in enumerate(itertools.product(*keys.values())):
        values = dict(zip(keys, chosen, strict=True))
        words = ",".join(f"{key.rsplit('.', 1)[-1]}={json.dumps(value)}" for key, value in values.items())
        name = f"{number:0{width}d}-{_NOT_IN_NAMES.sub('', words)}"[:_LONGEST_NAME]
        scenario = load(values)
        scenario.check_not_live("the runs of a series")
        found.append(Case(name, values, scenario))
    return found


def sweep(
    series: Sequence[Case],
    out: Path,
    *,
    force: bool = False,
    progress: Callable[[Case, float, float], None] = lambda case, simulated_s, real_s: None,
) -> Iterator[Run]:
    """Run a series into a folder, one folder a case, and keep an index of them.

    The folder is checked, locked and created at once; each run is done when it is requested. Existing cases are not
    repeated, so that a series that was cut off continues.

    Args:
        series: The series to run.
        out: Folder for all of them; one that exists must hold the same series.
        force: Whether existing runs are replaced.
        progress: Called after every step of each case.
    """
    lock = begin_series(series, out, force=force)
    return _runs(lock, series, out, force, progress)


def _runs(
    lock: ExitStack, series: Sequence[Case], out: Path, force: bool, progress: Callable[[Case, float, float], None]
) -> Iterator[Run]:
    with lock:
        for case in series:
            yield run(case.scenario, out / case.folder, force=force, progress=partial(progress, case))


def begin_series(series: Sequence[Case], out: Path, *, force: bool) -> ExitStack:
    """Make the folder of a series and write its index; arguments as of `sweep`.

    Returns:
        The lock on the folder against other processes, until it is closed.
    """
    with ExitStack() as lock:
        lock.enter_context(held(out))
        _write_index(series, out, force)
        return lock.pop_all()


def _write_index(series: Sequence[Case], out: Path, force: bool) -> None:
    index = {"cases": [{"folder": case.folder, "values": case.values} for case in series]}
    before = out / INDEX
    if before.is_file() and not force and _read(before) != index:
        raise SpecError(
            f"--out is {str(out)!r}, which holds another series; name another folder, or replace it with --force"
        )
    if out.exists() and not before.is_file() and (not out.is_dir() or any(out.iterdir())):
        raise SpecError(f"--out is {str(out)!r}, which holds files that are no series; it must be empty or a new name")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SpecError(f"--out is {str(out)!r}, which cannot be made: {error.strerror}") from None
    with replacing(before) as file:
        file.write((json.dumps(index, indent=2) + "\n").encode())


def _read(path: Path) -> Any:
    try:
        return read_json(path)
    except SpecError:
        return None
