"""One registration a sensor: all that the rest of the library must know of it, in one place.

Public names (`sensorium/__init__.py`), entries of scenario files, messages, tables and the determinism checks follow
from it. Parts that lie above the sensors are written as "module:name" and loaded when they are first needed, so that
nothing is imported here. The library's registrations are in `built_in.py`. A package announces its own:

    [project.entry-points."sensorium.sensors"]
    sonar = "acme_sensors:SONAR"

where SONAR is a `SensorKind`, or the specification class itself if there is nothing to say beside it.
"""

import functools
import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from sensorium.core import plugins

if TYPE_CHECKING:
    from sensorium.sensors.common.spec import SensorSpec

Loaded = str | Callable[..., Any]
"""Something, or where it is: "package.module:name"."""


class Sample(NamedTuple):
    """A sensor as the determinism checks run it, in their scene with the bodies car and ball and the joint wheel.

    Attributes:
        fields: Of the specification, as data; errors and noise on, so that random numbers are compared too.
        outputs: Arrays of its readings that are compared.
        mount: Where it is attached: `body`, `joint`, `hide` as for `Environment.attach`, `position` on the body [m].
        only_valid: Whether its arrays are lists as long as the longest of a batch, of which `valid` masks what counts.
    """

    fields: Mapping[str, Any]
    outputs: tuple[str, ...]
    mount: Mapping[str, Any]
    only_valid: bool = False


class SensorKind(NamedTuple):
    """What there is to know of one kind of sensor.

    Attributes:
        spec: Its specification, a subclass of `SensorSpec`.
        reading: Class of its readings; only the library's registrations are looked up by it.
        messages: Function of a reading and its `record.ros2.message.Source` that gives (row, end of the topic, Message)
            for each message. None: those of the reading's class, if that is one of the library's or derived from one.
        message_types: Texts of message types (.msg) that ROS 2 does not have, by full name: acme_msgs/msg/Sonar.
        table: How its readings become rows of a table: a class as `record.detections.DetectionTable`, or "none". None:
            as for the reading's class, likewise; else a column for each component of the reading's `quantities`.
        samples: For the determinism checks, by name of the sensor.
        public: Names beside the specification's that `sensorium` exports, each with its module; for the library.
    """

    spec: Loaded
    reading: Loaded | None = None
    messages: Loaded | None = None
    message_types: Mapping[str, str] = {}
    table: Loaded | Literal["none"] | None = None
    samples: Mapping[str, Sample] = {}
    public: Mapping[str, str] = {}


def loaded(what: Loaded) -> Any:
    """What a registration names, imported where it is a string."""
    if not isinstance(what, str):
        return what
    module, _, name = what.partition(":")
    return getattr(importlib.import_module(module), name)


def built_in() -> Mapping[str, SensorKind]:
    """Sensors of the library by kind."""
    from sensorium.sensors.built_in import BUILT_IN

    return BUILT_IN


def _with_bases() -> tuple[SensorKind, ...]:
    """Those of the library, and the bases of users' own."""
    from sensorium.sensors.built_in import BASES

    return (*built_in().values(), *BASES)


def public_names() -> dict[str, str]:
    """Public names of all sensors of the library, each with its module."""
    found: dict[str, str] = {}
    for sensor in _with_bases():
        module, _, name = str(sensor.spec).partition(":")
        found |= {name: module, **sensor.public}
    return found


def announced(name: str) -> SensorKind | None:
    """The sensor that an installed package announces by a name, checked; None if none does."""
    if name not in plugins.announced("sensors"):
        return None
    from sensorium.sensors.common.spec import SensorSpec

    given = plugins.load("sensors", name)
    sensor = given if isinstance(given, SensorKind) else SensorKind(given)
    spec = plugins.checked_kind("sensors", SensorSpec, built_in(), name, loaded(sensor.spec))
    return sensor._replace(spec=spec)


def all_kinds() -> Iterator[tuple[str, SensorKind]]:
    """Every sensor by kind: the library's, then those that installed packages announce."""
    yield from built_in().items()
    for name in plugins.announced("sensors"):
        sensor = announced(name)
        assert sensor is not None
        yield name, sensor


def specifications() -> "dict[str, type[SensorSpec[Any]]]":
    """Specifications of all sensors that scenario files may name, by kind."""
    return {kind: loaded(sensor.spec) for kind, sensor in all_kinds()}


def kind_of(spec: "SensorSpec[Any]", reading: type) -> SensorKind:
    """The registration that says how readings of a sensor are recorded.

    That is the one of its kind if a package announces it. Else it is the library's whose readings have the class, or
    one that the class is derived from; a sensor that is registered nowhere then has the messages of such a reading.

    Args:
        spec: Specification of the sensor.
        reading: Class of its readings.
    """
    found = _of_reading(reading)
    own = announced(getattr(spec, "kind", ""))
    if own is None or not isinstance(spec, own.spec):  # type: ignore[arg-type]  # a class, by `announced`
        return found
    return own._replace(messages=own.messages or found.messages, table=own.table or found.table)


@functools.cache
def _of_reading(reading: type) -> SensorKind:
    """The library's registration for a class of readings; one without messages where there is none."""
    by_name = {sensor.reading: sensor for sensor in _with_bases()}
    for base in reading.__mro__:
        sensor = by_name.get(f"{base.__module__}:{base.__qualname__}")
        if sensor is not None:
            return sensor
    return SensorKind(spec=reading)
