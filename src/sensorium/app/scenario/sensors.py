"""Sensors by kind or device, as one writes them in a file: where they sit, and the fields of their specification."""

import functools
from typing import Any

from pydantic import Field, create_model

from sensorium import devices
from sensorium.app.scenario.document import Document, Files
from sensorium.app.scenario.pose import Poses
from sensorium.core.errors import SpecError
from sensorium.core.field_docs import plain_doc
from sensorium.core.spec import Spec, at_key, checked
from sensorium.core.spelling import nearest
from sensorium.environment import Environment
from sensorium.sensors.common.spec import SensorSpec
from sensorium.sensors.registry import specifications


class Mount(Spec):
    """What stands beside the fields of a sensor's specification: above all where it sits."""

    device: str | None = None
    """Name of a device, or a data sheet in the scenario's folder, whose specification the fields given here change."""
    body: str | None = None
    """Body it rides on; without one it is fixed in the world."""
    joint: str | None = None
    """Joint it measures, for encoders and odometers."""
    site: str | None = None
    """Site of a MuJoCo model it sits at, instead of body and pose."""
    X_BS: Poses | None = Field(default=None, alias="pose")
    """On the body; a list makes several sensors of a kind. Some specifications have a `pose` of their own."""
    hide: tuple[str, ...] = ()
    """Bodies it does not see, such as its own."""
    enabled: bool = True
    """Whether it measures; one that does not changes no number of the others."""


def expanded(document: Document, files: Files) -> dict[str, Any]:
    """A document's data in which devices are written out: the fields of their data sheets, and those given beside."""
    data = dict(document.data)
    given = data.get("sensors")
    if not isinstance(given, dict):
        return data
    data["sensors"] = dict(given)
    for name, entry in given.items():
        if not isinstance(entry, dict):
            continue
        with document.blamed("sensors", name):
            if entry.get("device") is not None:
                data["sensors"][name] = _with_sheet(entry, files)
            elif "kind" not in entry:
                _refuse_misspelt_device(entry)
    return data


def _with_sheet(entry: dict[str, Any], files: Files) -> dict[str, Any]:
    """An entry with the fields of its device's data sheet."""
    device = entry["device"]
    if not isinstance(device, str):
        raise at_key("device", f"device is {device!r}; it must be the name of a device")
    is_file = device.endswith(".toml")
    try:
        sheet = devices.describe(files.path(device, "device") if is_file else device)
        fields = devices.specification(sheet.path, entry, kind=entry.get("kind"))
    except SpecError as error:
        if is_file or not str(error).startswith("device "):
            raise
        raise at_key("device", str(error)) from None
    if not sheet.comes_along:
        files.use(sheet.path)
    return fields


def _refuse_misspelt_device(entry: dict[str, Any]) -> None:
    """Of an entry without kind and device, name a key that is nearly the latter."""
    for key, value in entry.items():
        if nearest(str(key), ["device"]):
            raise at_key(str(key), f"{key} is {value!r}; did you mean device?")


@functools.cache
def entry_of(kind: type[SensorSpec[Any]]) -> type[Spec]:
    """The model of a sensor in a file: its specification and its mount in one."""
    entry: type[Spec] = create_model(f"{kind.__name__}Entry", __base__=(Mount, kind), __doc__=plain_doc(kind))
    return entry


def attach(env: Environment, name: str, entry: Any, faults: tuple[Any, ...]) -> None:
    """Put a sensor of a file to work.

    Args:
        env: Where.
        name: Its name.
        entry: What `entry_of` its kind made of the file.
        faults: Faults that stand elsewhere in the file.
    """
    kind = specifications()[entry.kind]
    fields = {field: getattr(entry, field) for field in entry.model_fields_set if field in kind.model_fields}
    if faults:
        fields["faults"] = {"faults": (*entry.faults.faults, *faults)}
    spec = checked(kind, fields, "")

    mount: dict[str, Any] = {"body": entry.body, "joint": entry.joint}
    if entry.X_BS is not None:
        poses = [pose.make() for pose in entry.X_BS]
        mount["pose"] = poses[0] if len(poses) == 1 else poses
    if entry.site is not None:
        if entry.body is not None or entry.X_BS is not None:
            raise SpecError(f"site is {entry.site!r} with body or pose; a site is a place on a body already")
        if not hasattr(env.world, "site"):
            raise SpecError(f"site is {entry.site!r}; a {type(env.world).__name__} world has no sites")
        mount.update(env.world.site(entry.site))
    sensor = env.attach(spec, name=name, hide=entry.hide, **mount)
    sensor.enabled = entry.enabled
