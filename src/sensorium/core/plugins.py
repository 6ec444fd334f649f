"""Names that installed packages add: sensors, corruptions, materials, worlds, scenes and controllers of third parties.

A package declares its additions as entry points, in its own pyproject.toml:

    [project.entry-points."sensorium.sensors"]
    sonar = "acme_sensors:Sonar"

Scenarios and look-ups then accept that name. The library's own scenes are registered in the same way.
"""

import difflib
import functools
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from sensorium.core.errors import SpecError

GROUPS = {
    "sensors": "a subclass of SensorSpec whose `kind` is the name",
    "corruptions": "a subclass of sensorium.corruption.CustomCorruption whose `kind` is the name",
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
    except Exception as error:  # a third party's module may raise anything on import
        what = f"{type(error).__name__}: {error}"
        raise SpecError(f"{group} {name!r} cannot be loaded from {points[name].value!r}; {what}") from error
