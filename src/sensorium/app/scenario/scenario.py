"""A scenario: one file that describes a run."""

import copy
import functools
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Annotated, Any, ClassVar, Union

from pydantic import BaseModel, BeforeValidator, Field, create_model

from sensorium import devices
from sensorium.app.controllers import BUILT_IN as CONTROLLERS
from sensorium.app.controllers import Controller, ControllerSpec
from sensorium.app.scenario import sensors, worlds
from sensorium.app.scenario.basilisk import BasiliskSpec
from sensorium.app.scenario.document import Document, Files, read_document
from sensorium.app.scenario.outputs import Outputs
from sensorium.app.scenario.override import overridden
from sensorium.app.scenario.scatter import StrewnSceneSpec, with_scatters
from sensorium.core import plugins
from sensorium.core.errors import SceneError, SensoriumError, SpecError
from sensorium.core.field_docs import plain_doc
from sensorium.core.spec import Spec, as_list, checked, path_of
from sensorium.corruption import Fault
from sensorium.corruption.engine.base import Corruption
from sensorium.environment import Environment
from sensorium.live.options import LiveOptions, live_model
from sensorium.physics import fields
from sensorium.physics.media import Medium
from sensorium.scene.batch import SceneBatch
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.scene.scene import Scene
from sensorium.sensors.registry import specifications

# Worlds of the library, one line each, but the joined one, which is made of them
_WORLDS: dict[str, type[worlds.WorldSpec]] = {
    "static": worlds.StaticSpec,
    "kinematic": worlds.KinematicSpec,
    "commanded": worlds.CommandedSpec,
    "replay": worlds.ReplaySpec,
    "mujoco": worlds.MuJoCoSpec,
    "basilisk": BasiliskSpec,
}

_LONGEST_NAME = 100


class OfSensor(Spec):
    """Further fields of a fault in the scenario's own list."""

    inherits_field_docs_from: ClassVar[type[BaseModel] | None] = Fault

    sensor: str
    """Name of the sensor."""

    def alone(self) -> Fault:
        """The fault without the name of its sensor, by the rules of faults."""
        return Fault(**{name: getattr(self, name) for name in self.model_fields_set - {"sensor"}})


# No subclass of Fault: every subclass of a corruption is a kind of its own
_FAULT_FIELDS: dict[str, Any] = {name: (field.annotation, field) for name, field in Fault.model_fields.items()}
SensorFault = create_model("SensorFault", __base__=OfSensor, __doc__="A fault of one sensor.", **_FAULT_FIELDS)


class ScenarioSpec(Spec):
    """One run: scene, world, sensors and outputs."""

    title: str = "Scenario"
    """Name of the run in its report."""
    seed: Annotated[int, Field(ge=0)] = 0
    """Of everything random."""
    duration_s: Annotated[float, Field(ge=1e-9, le=1e9, strict=True)]
    """Duration in simulated time [s]; whole steps, so that the last may end later."""
    worlds: Annotated[int, Field(ge=1, le=1 << 20)] | None = None
    """Number of worlds; by default one, whose readings have no axis of worlds."""
    scene: StrewnSceneSpec = StrewnSceneSpec()
    """The scene."""
    world: Any = None
    """The world, which moves; of a list the first whose engine is installed."""
    atmosphere: Medium | None = None
    """The atmosphere; by default clear, without any loss."""
    sun: fields.Sun | None = None
    """Sunlight; by default it is night."""
    gravity: fields.Gravity | None = None
    """Gravity, unless the world applies its own; by default standard gravity along -z."""
    magnetic: fields.Magnetic | None = None
    """The magnetic field; by default there is none."""
    sensors: dict[str, Any] = Field(default_factory=dict)
    """By name, which also keys their randomness."""
    faults: tuple[Any, ...] = ()
    """Faults by time, each with the name of its sensor; they may also be listed at the sensors."""
    controllers: dict[str, Any] = Field(default_factory=dict)
    """Controllers by name, which read sensors after each step and command the world."""
    outputs: Outputs = Outputs()
    """Output files."""
    live: LiveOptions | None = None
    """What is sent to other programs while the run goes on, and its pace; by default nothing, as fast as possible."""


@functools.cache
def scenario_model() -> type[ScenarioSpec]:
    """The model that files are checked against, with every kind of sensor and world that is installed."""
    entries = tuple(sensors.entry_of(kind) for kind in specifications().values())
    own = {kind.model_fields["kind"].default: kind for kind in CONTROLLERS}
    controllers = tuple(plugins.kinds_with_announced("controllers", ControllerSpec, own).values())
    any_controller: Any = Annotated[Union[controllers], Field(discriminator="kind")]  # noqa: UP007 - likewise
    any_live: Any = live_model() | None
    any_sensor: Any = Annotated[Union[entries], Field(discriminator="kind")]  # noqa: UP007 - made while it runs
    kinds = _world_kinds()
    joined = worlds.JoinedSpec.of(Annotated[Union[kinds], Field(discriminator="kind")])  # noqa: UP007 - likewise
    any_world: Any = Annotated[Union[(*kinds, joined)], Field(discriminator="kind")]
    several = Annotated[
        tuple[any_world, ...],
        Field(min_length=1),
        BeforeValidator(as_list, json_schema_input_type=any_world | tuple[any_world, ...]),
    ]
    model: type[ScenarioSpec] = create_model(
        "Scenario",
        __base__=ScenarioSpec,
        __doc__=plain_doc(ScenarioSpec),
        world=(several, Field(default=(worlds.StaticSpec(kind="static"),), description="What moves.")),
        sensors=(dict[str, any_sensor], Field(default_factory=dict, description="Sensors by name.")),
        faults=(
            tuple[SensorFault, ...],  # type: ignore[valid-type]
            Field(default=(), description="Faults by time, each with its sensor."),
        ),
        controllers=(
            dict[str, any_controller],
            Field(default_factory=dict, description="What reads sensors and commands the world, by name."),
        ),
        live=(any_live, Field(default=None, description="What other programs are sent, and the pace.")),
    )
    return model


def _world_kinds() -> tuple[type[worlds.WorldSpec], ...]:
    """All kinds of worlds but the joined one: the library's, and those that installed packages bring."""
    found = plugins.kinds_with_announced("worlds", worlds.WorldSpec, {**_WORLDS, "joined": worlds.JoinedSpec})
    return tuple(kind for name, kind in found.items() if name != "joined")


def json_schema() -> dict[str, Any]:
    """JSON Schema of scenario files, for editors that complete and check while one writes."""
    schema = scenario_model().model_json_schema()

    # Examples of docstrings are Python, not YAML
    for definition in schema["$defs"].values():
        if "description" in definition:
            definition["description"] = definition["description"].partition("\n\n>>> ")[0]

    # A corruption is selected by its kind, and has its own fields
    corruption = schema["$defs"]["Corruption"]
    corruption["properties"]["kind"]["enum"] = sorted({*Corruption.kinds, *plugins.announced("corruptions")})
    corruption["additionalProperties"] = True

    # A device provides all fields of its data sheet, so that any few of them may be given beside it
    device = {"type": "object", "required": ["device"], "properties": {"device": {"enum": [*devices.names()]}}}
    given = schema["properties"]["sensors"]
    given["additionalProperties"] = {"anyOf": [given["additionalProperties"], device]}
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


class Scenario:
    """A scenario file, checked; `environment()` builds its environment."""

    def __init__(self, document: Document, files: Files) -> None:
        """Check a document; `load` is the usual way here.

        Args:
            document: The file's data and lines.
            files: Folder of the files that it names.
        """
        self.document, self.files = document, files
        data = sensors.expanded(document, files)
        with document.blamed():
            self.spec: ScenarioSpec = checked(scenario_model(), data, "")
        for number, fault in enumerate(self.spec.faults):
            self._check_fault(number, fault)
        for name in self.spec.sensors:
            if not 1 <= len(name) <= _LONGEST_NAME:
                sentence = f"a sensor is named {name[:20]!r}; a name must have 1 to {_LONGEST_NAME} characters"
                raise document.error(("sensors", name), sentence)

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        values: Mapping[str, Any] | None = None,
        *,
        options: Mapping[str, str] | None = None,
        allow_outside: bool = False,
    ) -> "Scenario":
        """Read a scenario file.

        Args:
            path: A YAML file.
            values: Values by dotted key that override the file's.
            options: Which option gave a key, for errors; those not named came by `--set`.
            allow_outside: Whether files that it names may be outside its folder.
        """
        file = Path(path)
        document = overridden(read_document(file), values or {}, options)
        return cls(document, Files(file.parent, allow_outside=allow_outside))

    @property
    def data(self) -> dict[str, Any]:
        """The scenario as plain data, as it was written."""
        return copy.deepcopy(self.document.data)

    def _check_fault(self, number: int, fault: Any) -> None:
        """Refuse a fault that breaks a rule, or of no sensor, or of no group of its sensor."""
        with self.document.blamed("faults", number):
            fault.alone()
        entry = self.spec.sensors.get(fault.sensor)
        if entry is None:
            known = ", ".join(self.spec.sensors) or "none"
            sentence = f"faults[{number}].sensor is {fault.sensor!r}; the scenario's sensors are {known}"
            raise self.document.error(("faults", number, "sensor"), sentence)
        if fault.corruption is not None and not entry.targets:
            sentence = (
                f"faults[{number}] has a corruption; {fault.sensor} has no channels for it, its faults are of timing"
            )
            raise self.document.error(("faults", number, "corruption"), sentence)
        if fault.target is not None and fault.target not in entry.targets:
            known = ", ".join(entry.targets) or "none"
            sentence = f"faults[{number}].target is {fault.target!r}; {fault.sensor} has {known}"
            raise self.document.error(("faults", number, "target"), sentence)

    def check_not_live(self, what: str) -> None:
        """Refuse a `live:` section where a scenario is run by something that cannot be live."""
        if self.spec.live is not None:
            sentence = f"live is given, and {what} cannot be live; --set live=null leaves it out"
            raise self.document.error(("live",), sentence)

    def controllers(self, env: Environment) -> list[Controller]:
        """The scenario's controllers, running in an environment that it made."""
        made = []
        for name, controller in self.spec.controllers.items():
            with self.document.blamed("controllers", name):
                made.append(controller.start(env))
        return made

    def environment(self, parts_folder: Path | None = None) -> Environment:
        """Everything the scenario describes, ready to run.

        Args:
            parts_folder: Where a scene in parts is written, for `scene.parts`; all machines of the cluster that this
                process has joined must find it under the same path.
        """
        spec, document = self.spec, self.document

        # The world, and the scene: the world's own objects first
        chosen = next((number for number, world in enumerate(spec.world) if not world.missing()), None)
        if chosen is None:
            needed = " or ".join(dict.fromkeys(" and ".join(world.missing()) for world in spec.world))
            extra = ",".join(spec.world[0].missing()).lower()
            raise document.error(
                ("world",), f"world needs {needed}, which is not installed; pip install 'sensorium[{extra}]'"
            )
        scene = Scene()
        with document.blamed("world"):
            world = spec.world[chosen].make(self.files)
            spec.world[chosen].add_to(scene, world)
        seen: Scene | SceneBatch | SceneInParts
        if spec.scene.parts is None:
            spec.scene.add_to(scene, self.files, document)
            scatters = spec.scene.scatter
            seen = with_scatters(scene, scatters, self.files, document, worlds=spec.worlds, seed=spec.seed)
        elif spec.scene.scatter:
            rule = "randomly scattered objects stay in one process"
            raise document.error(("scene", "parts"), f"scene.parts is {spec.scene.parts} with scene.scatter; {rule}")
        elif parts_folder is None:
            raise document.error(("scene", "parts"), f"scene.parts is {spec.scene.parts}; the parts need a folder")
        else:
            seen = spec.scene.split(scene, self.files, document, parts_folder)
        try:
            env = Environment(
                seen,
                world,
                atmosphere=spec.atmosphere,
                sun=spec.sun,
                gravity=spec.gravity,
                magnetic=spec.magnetic,
                worlds=spec.worlds,
                seed=spec.seed,
            )
        except SensoriumError as error:
            key = "scene" if isinstance(error, SceneError) else "world"
            raise document.error((key,), f"{key}: {error}") from None

        # The sensors
        for name, entry in spec.sensors.items():
            numbers = [number for number, fault in enumerate(spec.faults) if fault.sensor == name]
            with document.blamed("sensors", name), self._blamed(numbers, len(entry.faults.faults)):
                sensors.attach(env, name, entry, tuple(spec.faults[number].alone() for number in numbers))
        return env

    @contextmanager
    def _blamed(self, numbers: list[int], before: int) -> Iterator[None]:
        """Errors in faults of the scenario's own list are reported with their places there.

        Args:
            numbers: Indices of those faults in the list.
            before: How many the sensor has of its own, which come before them.
        """
        try:
            yield
        except SpecError as error:
            for place, sentence in error.problems:
                if place[:2] == ("faults", "faults") and isinstance(place[2], int) and place[2] >= before:
                    there = ("faults", numbers[place[2] - before])
                    words = sentence.removeprefix(path_of("", place[:3]))
                    raise self.document.error((*there, *place[3:]), path_of("", there) + words) from None
            raise
