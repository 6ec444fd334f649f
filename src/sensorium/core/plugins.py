"""Names that installed packages add: sensors, corruptions, mesh formats, materials, worlds, scenes and controllers.

A package declares its additions as entry points, in its own pyproject.toml:

    [project.entry-points."sensorium.sensors"]
    sonar = "acme_sensors:Sonar"

and scenarios and look-ups then know it by that name. The library's own scenes are announced in the same way.
"""

import difflib
import functools
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from typing import Any, get_args

from sensorium.core.errors import SpecError

GROUPS = {
    "sensors": "a subclass of SensorSpec whose `kind` is the name, or a sensorium.sensors.registry.SensorKind of one",
    "corruptions": "a subclass of sensorium.corruption.Corruption whose `kind` is the name",
    "mesh_formats": "a function read(path, *, max_bytes, paint) that gives a sn.Mesh; the name is the suffix, no dot",
    "materials": "a material, or a function without arguments that makes one",
    "worlds": "a subclass of sensorium.app.scenario.WorldSpec whose `kind` is the name",
    "scenes": "a function without arguments that makes a sn.Scene",
    "controllers": "a subclass of sensorium.app.controllers.ControllerSpec whose `kind` is the name",
}
"""Groups of entry points, and the object that an entry point of each group must refer to."""


@functools.cache
def announced(group: str) -> dict[str, EntryPoint]:
    """Entry points of a group by name, without importing them.

    Args:
        group: A key of `GROUPS`.
    """
    found: dict[str, EntryPoint] = {}
    for point in sorted(entry_points(group=f"sensorium.{group}"), key=lambda point: (point.name, point.value)):
        other = found.setdefault(point.name, point)
        if other.value != point.value:
            raise SpecError(
                f"{point.value!r} and {other.value!r} both announce {group} of the name {point.name!r}; "
                "names must differ, remove one of the packages"
            )
    return found


def load(group: str, name: str) -> Any:
    """Import the object that an entry point refers to.

    Args:
        group: A key of `GROUPS`.
        name: One that is announced; another raises SpecError with the nearest.
    """
    points = announced(group)
    if name not in points:
        near = difflib.get_close_matches(name, points, n=1)
        hint = f"did you mean {near[0]!r}?" if near else f"there are {', '.join(points) or 'none'}"
        raise SpecError(f"{name!r} is not among the {group} that installed packages bring; {hint}")
    try:
        return points[name].load()
    except Exception as error:  # the package may raise anything when it is imported
        what = f"{type(error).__name__}: {error}"
        raise SpecError(f"{group} {name!r} cannot be loaded from {points[name].value!r}; {what}") from error


def kinds_with_announced(group: str, base: type[Any], own: Mapping[str, type[Any]]) -> dict[str, type[Any]]:
    """Classes of the library by kind, and those that installed packages announce.

    Args:
        group: A key of `GROUPS`, such as "worlds".
        base: What the classes of packages must be subclasses of; each has a field `kind`, which is its name.
        own: Those of the library.
    """
    return {**own, **{name: checked_kind(group, base, own, name, load(group, name)) for name in announced(group)}}


def checked_kind(group: str, base: type[Any], own: Mapping[str, Any], name: str, kind: Any) -> type[Any]:
    """A class that an entry point leads to; SpecError where it is no subclass of `base` with the kind `name`.

    Args:
        group: A key of `GROUPS`.
        base: What it must be a subclass of.
        own: Kinds of the library, whose names are taken.
        name: Of the entry point.
        kind: What it leads to.
    """
    what = group.removesuffix("s")
    if name in own:
        raise SpecError(f"a package announces a {what} {name!r}; the library has one of that name already")
    fields: Any = getattr(kind, "model_fields", {})
    if not (isinstance(kind, type) and issubclass(kind, base)) or "kind" not in fields:
        raise SpecError(f"{what} {name!r} is {kind!r}; it must be a subclass of {base.__name__} with a field kind")
    if name not in get_args(fields["kind"].annotation):
        raise SpecError(f"{what} {name!r} has the kind {get_args(fields['kind'].annotation)}; it must be its name")
    return kind
