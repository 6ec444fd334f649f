"""Values given on the command line instead of those in the file: `--set sensors.imu.linear.noise.std=0.02`."""

import copy
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from sensorium.app.scenario.document import Document, Place, value_of
from sensorium.core.errors import SpecError
from sensorium.core.spec import path_of

# Of a value that an error repeats
_LONGEST_VALUE = 60

_PART = re.compile(r"([^.\[\]]+)|\[(\d+)\]")


def place_of(key: str, option: str) -> Place:
    """The place that a dotted key names: `scene.objects[2].label`, or `scene.objects.2.label`.

    Args:
        key: Names between dots, numbers of list items in brackets or between dots.
        option: Name in errors.
    """
    parts = [name or int(number) for name, number in _PART.findall(key)]
    if not parts or path_of("", parts) != key:
        raise SpecError(f"{option} is {key!r}; it must be names between dots, such as sensors.imu.enabled")
    return tuple(int(part) if isinstance(part, str) and part.isdigit() else part for part in parts)


def assigned(text: str, option: str) -> tuple[str, Any]:
    """Key and value of `key=value`."""
    key, equals, value = text.partition("=")
    if not equals:
        raise SpecError(f"{option} is {text!r}; it must be key=value")
    return key.strip(), value_of(value.strip(), f"{option} {key.strip()}")


def swept(text: str) -> tuple[str, list[Any]]:
    """Key and values of `key=a,b,c`."""
    key, equals, values = text.partition("=")
    if not equals or not values.strip():
        raise SpecError(f"--sweep is {text!r}; it must be key=a,b,c")
    return key.strip(), list(value_of(f"[{values}]", f"--sweep {key.strip()}"))


def overridden(document: Document, values: Mapping[str, Any], options: Mapping[str, str] | None = None) -> Document:
    """The document with other values.

    Keys that are not there yet are made; whether they have a meaning is seen when the whole is checked. List items must
    exist.

    Args:
        document: The document of the file; it is not changed.
        values: Value of each dotted key.
        options: Which option gave a key, for errors; those not named came by `--set`.
    """
    data, marks = copy.deepcopy(document.data), dict(document.marks)
    given = dict(document.given)
    for key, value in values.items():
        option = (options or {}).get(key, "--set")
        place = place_of(key, option)
        _put(data, place, value, f"{option} {key}")
        marks = {at: mark for at, mark in marks.items() if at[: len(place)] != place}
        said = option if option == f"--{key}" else f"{option} {key}={_written(value)}"
        for end in range(1, len(place) + 1):  # with its parents, if the file has none of them
            if end == len(place) or place[:end] not in marks:
                marks[place[:end]] = said
        given[place] = said
    return Document(document.name, data, marks, given)


def _written(value: Any) -> str:
    """A value as one writes it on the command line, shortened."""
    text = value if isinstance(value, str) else json.dumps(value)
    return text if len(text) <= _LONGEST_VALUE else f"{text[:_LONGEST_VALUE]}..."


def _put(data: Any, place: Place, value: Any, option: str) -> None:
    for number, part in enumerate(place):
        so_far = path_of("", place[:number]) or "the scenario"
        last = number == len(place) - 1
        if isinstance(data, Sequence) and not isinstance(data, str):
            if not isinstance(part, int) or part >= len(data):
                raise SpecError(f"{option}: {so_far} is a list of {len(data)}; {part!r} is no number of an item")
            key: Any = part
        elif isinstance(data, dict):
            key = str(part)
            if not last and data.get(key) is None:
                data[key] = {}
        else:
            raise SpecError(f"{option}: {so_far} is {data!r}; nothing can be set in it")
        if last:
            data[key] = value
        else:
            data = data[key]
