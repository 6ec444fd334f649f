"""Finds data sheets by name: those shipped with Sensorium, and the user's own."""

import difflib
import functools
import os
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import Any

from sensorium.core.errors import SensoriumError, SpecError, in_one_line
from sensorium.devices.sheet import GRADES, Quantity, Rule, Sheet
from sensorium.files.plain_files import read_toml

FOLDER_VARIABLE = "SENSORIUM_DEVICES"
"""Environment variable: a folder of the user's own sheets."""

# An IMU's sheet also makes a sensor of one of its groups
_GROUP_OF = {"accelerometer": "linear", "gyroscope": "angular", "magnetometer": "magnetic"}

# Of the printed sheet: columns, and how many numbers of a table are shown one by one
_WIDTH = 118
_LONG = 6


@dataclass(frozen=True)
class Device:
    """A device with its data sheet; print it to read it.

    Attributes:
        name: The name that `describe` and `from_device` take.
        sheet: Its values, as stated.
        path: File of the sheet.
    """

    name: str
    sheet: Sheet
    path: Path

    @property
    def kind(self) -> str:
        """Which sensor it is."""
        return self.sheet.kind

    @property
    def comes_along(self) -> bool:
        """Whether it is one of the library's own, and no file of the user's."""
        return self.path.is_relative_to(_library())

    def specification(self) -> dict[str, Any]:
        """Fields of the sensor's specification, plain data in SI units."""
        try:
            return self.sheet.specification()
        except SensoriumError:
            raise
        except (ValueError, ArithmeticError) as error:  # numbers that are each allowed, and do not go together
            raise SpecError(f"{self.path}: its values make no specification: {in_one_line(error)}") from None

    def __str__(self) -> str:
        """The sheet as text: each value with unit, meaning, grade and source, and the model's further assumptions."""
        sheet = self.sheet
        lines = [f"{self.name}: {sheet.maker} {sheet.model}, {sheet.description}"]
        for note in sheet.notes:
            lines += textwrap.wrap(note, _WIDTH, initial_indent="  ", subsequent_indent="  ")
        for name, quantity, rule in sheet.everything():
            lines += _told(name, quantity, rule)
        lines += textwrap.wrap(
            f"not given by the sheet, the model's defaults stand in: {', '.join(sheet.defaults())}",
            _WIDTH,
            initial_indent="  ",
            subsequent_indent="    ",
        )
        lines += [f"  {key} = {text}" for key, text in sheet.sources.items()]
        used = dict.fromkeys(sorted(quantity.grade for _, quantity, _ in sheet.everything()))
        lines.append("  grades: " + "; ".join(f"{grade} {GRADES[grade]}" for grade in used))
        return "\n".join(lines)


def names(kind: str | None = None, *, folder: str | os.PathLike[str] | None = None) -> tuple[str, ...]:
    """Names of all devices, in order.

    Args:
        kind: "lidar", "imu", "magnetometer", "encoder", "camera", "depth_camera" or "radar"; None for all.
        folder: A folder of further sheets, beside that of `SENSORIUM_DEVICES` and those of the library.

    >>> sn.devices.names("depth_camera")[:2]
    ('intel-realsense-d435', 'intel-realsense-d455')
    """
    if kind is not None and kind not in Sheet.kinds:
        raise SpecError(f"kind is {kind!r}; it must be one of {', '.join(Sheet.kinds)}")
    found = sorted(_files(folder))
    return tuple(name for name in found if kind is None or describe(name, folder=folder).kind == kind)


def describe(name: str | os.PathLike[str], *, folder: str | os.PathLike[str] | None = None) -> Device:
    """A device with its data sheet.

    Args:
        name: One of `names()`, or the path of a TOML file.
        folder: A folder of further sheets; a name found there comes first.
    """
    path = Path(name)
    if path.suffix == ".toml":
        if not path.is_file():
            raise SpecError(f"device is {str(name)!r}; there is no such file")
    else:
        files = _files(folder)
        if str(name) not in files:
            raise SpecError(f"device is {str(name)!r}; the library has no such name; {_hint(str(name), files)}")
        path = files[str(name)]
    state = path.stat()
    return _device(path, (state.st_mtime_ns, state.st_size))


def specification(
    name: str | os.PathLike[str],
    overrides: Mapping[str, Any] | None = None,
    *,
    kind: str | None = None,
    folder: str | os.PathLike[str] | None = None,
) -> dict[str, Any]:
    """Fields of the specification that a device's data sheet makes: plain data in SI units, with its `kind`.

    Args:
        name: One of `names()`, or the path of a TOML file.
        overrides: Fields to change; tables within are merged, `{"noise": {"base_m": 0.0}}` leaves the other noise.
        kind: Kind of sensor that is wanted; a part of an IMU may be, "gyroscope" and so on. None takes the device's.
        folder: A folder of further sheets.
    """
    device = describe(name, folder=folder)
    fields = device.specification()
    if kind is not None and kind != device.kind:
        group = fields.get(_GROUP_OF.get(kind, ""))
        if device.kind != "imu" or group is None:
            fitting = ", ".join(names(kind, folder=folder)) if kind in Sheet.kinds else "none"
            raise SpecError(f"device {device.name!r} is of kind {device.kind!r}; of kind {kind!r} there are {fitting}")
        timing = {"timing": fields["timing"]} if "timing" in fields else {}
        fields = {"kind": kind, **group, **timing}
    return merged(device.sheet.suited(fields, overrides or {}), overrides or {})


def merged(fields: Mapping[str, Any], overrides: Mapping[str, Any]) -> dict[str, Any]:
    """Fields with overrides put in; tables are merged, unless the override is of another `kind`."""
    result = dict(fields)
    for name, value in overrides.items():
        before = result.get(name)
        if isinstance(before, Mapping) and isinstance(value, Mapping):
            value = merged(before, value) if value.get("kind", before.get("kind")) == before.get("kind") else value
        result[name] = value
    return result


def _hint(name: str, files: Mapping[str, Path]) -> str:
    """Suggestions: names that contain this one, or are close to it."""
    holding = [other for other in sorted(files) if name.lower() in other]
    near = holding[:3] or difflib.get_close_matches(name.lower(), files, n=3, cutoff=0.5)
    return f"did you mean {' or '.join(near)}?" if near else f"there are {', '.join(sorted(files))}"


def _files(folder: str | os.PathLike[str] | None) -> dict[str, Path]:
    """Files of all sheets by name; the user's come first."""
    found = {path.stem: path for path in sorted(_library().glob("*.toml"))}
    for place, given in ((FOLDER_VARIABLE, os.environ.get(FOLDER_VARIABLE)), ("folder", folder)):
        if not given:
            continue
        if not Path(given).is_dir():
            raise SpecError(f"{place} is {str(given)!r}; it must be a folder of data sheets")
        found |= {path.stem: path for path in sorted(Path(given).glob("*.toml"))}
    return found


@functools.cache
def _library() -> Path:
    """Folder of the sheets that come with Sensorium."""
    return Path(str(resources.files("sensorium.devices").joinpath("sheets")))


@functools.lru_cache(maxsize=256)
def _device(path: Path, state: tuple[int, int]) -> Device:
    """Read a sheet; read again if the file's time and size are others."""
    table = read_toml(path)
    kind = table.get("kind")
    if not isinstance(kind, str) or kind not in Sheet.kinds:
        raise SpecError(f"{path}: kind is {kind!r}; it must be one of {', '.join(Sheet.kinds)}")
    try:
        return Device(path.stem, Sheet.kinds[kind].model_validate(table), path)
    except SpecError as error:
        raise SpecError(f"{path}: {error}") from None


def _told(name: str, quantity: Quantity, rule: Rule) -> list[str]:
    """One value on a line, and its note on those after."""
    unit = "" if quantity.unit == "1" else f" {quantity.unit}"
    means = "" if quantity.means is None else f", {quantity.means}"
    use = "" if rule.fills else " [stated only]"
    origin = "estimate" if quantity.estimate else f"{quantity.grade} {quantity.source}"
    interval = _interval(quantity)
    lines = [f"  {name:<24} {_shown(quantity.value)}{unit}{means}{interval}{use}  ({origin})"]
    if (maker := quantity.maker) is not None:
        words = [_shown(maker.value), "" if maker.unit == "1" else maker.unit, maker.means and f"({maker.means})"]
        stated = f"the maker states {' '.join(filter(None, words))}  ({maker.grade} {maker.source})"
        lines += textwrap.wrap(stated, _WIDTH, initial_indent=" " * 27, subsequent_indent=" " * 27)
    if quantity.note is not None:
        lines += textwrap.wrap(quantity.note, _WIDTH, initial_indent=" " * 27, subsequent_indent=" " * 27)
    return lines


def _interval(quantity: Quantity) -> str:
    """The 95 % interval of one number as text."""
    if quantity.interval is None or isinstance(quantity.interval[0], tuple):
        return ""
    low, high = quantity.interval
    return f" [{low:.6g} to {high:.6g}]"


def _shown(value: float | tuple[float, ...] | str) -> str:
    """A value as text; a long table by its ends."""
    if isinstance(value, str):
        return value
    if not isinstance(value, tuple):
        return f"{value:.10g}"
    if len(value) > _LONG:
        return f"{len(value)} values from {min(value):g} to {max(value):g}"
    return ", ".join(f"{one:.10g}" for one in value)
