"""Worlds by kind, as written in a scenario file."""

import abc
from collections.abc import Mapping
from importlib.util import find_spec
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from pydantic import Field, create_model

from sensorium.app.scenario.document import Files
from sensorium.app.scenario.motions import JointMotion, Motion
from sensorium.app.scenario.pose import PoseSpec
from sensorium.app.scenario.scene import AnyMaterial, made_material
from sensorium.core.errors import SpecError
from sensorium.core.field_docs import plain_doc
from sensorium.core.spec import Spec
from sensorium.physics.fields.positions import Vector
from sensorium.scene.scene import Scene
from sensorium.worlds import Commanded, Joined, Kinematic, MuJoCo, Replay, Static, World

Control = float | tuple[tuple[float, float], ...]
"""One value for the whole run, or rows of time [s] and value; between rows it changes evenly, outside it stays."""


class ControlTable:
    """A controller for `sn.worlds.MuJoCo` that sets actuators by the clock."""

    def __init__(self, controls: Mapping[str, Control], actuators: Mapping[str, int]) -> None:
        """Check and keep the tables.

        Args:
            controls: Value or rows for each actuator by name.
            actuators: Number of each actuator of the model.
        """
        self._tables: list[tuple[int, Any, Any]] = []
        for name, control in controls.items():
            if name not in actuators:
                raise SpecError(f"controls names {name!r}; the model has actuators {', '.join(actuators) or 'none'}")
            rows = np.array([(0.0, control)] if isinstance(control, int | float) else control, np.float64)
            if not len(rows) or np.any(np.diff(rows[:, 0]) <= 0.0):
                raise SpecError(
                    f"controls.{name} has times {rows[:, 0].tolist()}; they must be one or more, and increase"
                )
            self._tables.append((actuators[name], rows[:, 0], rows[:, 1]))

    def __call__(self, model: Any, data: Any, world: int) -> None:
        """Set the actuators of one world for its next step."""
        for number, times_s, values in self._tables:
            data.ctrl[number] = np.interp(data.time, times_s, values)


StepLength = Annotated[float, Field(gt=0.0)]
"""Length of a step [s]."""


class WorldSpec(Spec, abc.ABC):
    """A world as data. A package adds its own kind as a subclass with a `kind` of its own; see `plugins`."""

    engine: ClassVar[str | None] = None
    """Package that must be installed, if any; of several worlds listed, the first that can run is taken."""

    def missing(self) -> tuple[str, ...]:
        """Packages it needs that are not installed."""
        return () if self.engine is None or find_spec(self.engine) is not None else (self.engine,)

    @abc.abstractmethod
    def make(self, files: Files) -> World:
        """The world; files it names come from `files`."""

    def add_to(self, scene: Scene, world: Any) -> None:
        """Add the world's own objects to a scene; most have none."""
        return


class StaticSpec(WorldSpec):
    """Nothing moves."""

    kind: Literal["static"]
    step_s: StepLength = 0.01
    """Length of a step [s]."""
    bodies: dict[str, PoseSpec] = Field(default_factory=dict)
    """Poses of the bodies."""

    def make(self, files: Files) -> World:
        """The world."""
        return Static({name: pose.make() for name, pose in self.bodies.items()}, step_s=self.step_s)


class KinematicSpec(WorldSpec):
    """Bodies and joints follow paths."""

    kind: Literal["kinematic"]
    step_s: StepLength = 0.01
    """Length of a step [s]."""
    bodies: dict[str, Motion] = Field(default_factory=dict)
    """The path of each body, by its name."""
    joints: dict[str, JointMotion] = Field(default_factory=dict)
    """The path of each joint, by its name."""
    slide_joints: tuple[str, ...] = ()
    """Names of the joints that slide [m]; all others turn [rad]."""

    def make(self, files: Files) -> World:
        """The world."""
        bodies = {name: path.make() for name, path in self.bodies.items()}
        joints = {name: path.make() for name, path in self.joints.items()}
        return Kinematic(bodies, joints, step_s=self.step_s, slide_joints=self.slide_joints)


class CommandedBody(Spec):
    """A body that a controller moves: where it is at the start, and how it moves until the first command."""

    pose: PoseSpec = PoseSpec()
    """Initial pose."""
    velocity: Vector = (0.0, 0.0, 0.0)
    """In its own axes [m/s]."""


class CommandedSpec(WorldSpec):
    """Bodies move as commanded by controllers."""

    kind: Literal["commanded"]
    step_s: StepLength = 0.01
    """Length of a step [s]."""
    bodies: dict[str, CommandedBody] = Field(min_length=1)
    """Initial state of each body, by its name."""

    def make(self, files: Files) -> World:
        """The world."""
        return Commanded(
            {name: body.pose.make() for name, body in self.bodies.items()},
            velocities={name: body.velocity for name, body in self.bodies.items()},
            step_s=self.step_s,
        )


class ReplaySpec(WorldSpec):
    """Bodies move as they were recorded."""

    kind: Literal["replay"]
    file: str
    """A CSV of poses, or an MCAP recording, in the scenario's folder."""
    step_s: StepLength = 0.01
    """Length of a step [s]."""
    slide_joints: tuple[str, ...] = ()
    """Names of the joints that slide [m], beside those that an MCAP recording names; all others turn [rad]."""
    root: str | None = None
    """The world frame of an MCAP recording, such as map; by default the only frame without a parent."""

    def make(self, files: Files) -> World:
        """The world."""
        path = files.path(self.file, "file")
        if path.suffix.lower() not in (".csv", ".mcap"):
            raise SpecError(f"file is {self.file!r}; it must be a .csv or a .mcap")
        return Replay(path, step_s=self.step_s, slide_joints=self.slide_joints, root=self.root)


class MuJoCoSpec(WorldSpec):
    """A MuJoCo model, simulated."""

    engine: ClassVar[str | None] = "mujoco"

    kind: Literal["mujoco"]
    model: str
    """An MJCF or URDF file in the scenario's folder, which must contain all its files as well."""
    packages: dict[str, str] | None = None
    """Folders, in the scenario's, of packages that a URDF file names, by their names; others are looked for upwards."""
    keyframe: str | None = None
    """Keyframe of the model to start from."""
    controls: dict[str, Control] = Field(default_factory=dict)
    """Commands by name of the actuator: a number, or rows of time [s] and value."""
    geoms: bool = True
    """Whether the model's geoms are to be seen."""
    groups: tuple[int, ...] | None = None
    """Groups of geoms to see; by default those that MuJoCo's viewer shows."""
    materials: dict[str, AnyMaterial] = Field(default_factory=dict)
    """Surfaces by name of a geom or of a MuJoCo material."""
    plane_backs: bool = True
    """Whether planes are seen from below too; in MuJoCo, rays pass them from there."""

    def make(self, files: Files) -> World:
        """The world."""
        from sensorium.worlds.mujoco.files import files_of

        path = files.path(self.model, "model")
        folder = None if files.allow_outside else files.folder
        packages = None
        if self.packages is not None:
            packages = {name: files.folder_of(given, "packages") for name, given in self.packages.items()}
        for each in files_of(path, folder, packages):
            files.use(each)
        world = MuJoCo(path, keyframe=self.keyframe, folder=folder, packages=packages)
        if not self.controls:
            return world
        model = world.model
        actuators = {model.actuator(number).name: number for number in range(model.nu)}
        return MuJoCo(model, keyframe=self.keyframe, controller=ControlTable(self.controls, actuators))

    def add_to(self, scene: Scene, world: Any) -> None:
        """Put the model's geoms into a scene."""
        materials = {name: made_material(given, ("materials", name)) for name, given in self.materials.items()}
        options = {} if self.groups is None else {"groups": self.groups}
        if self.geoms:
            scene.extend(world.scene(materials=materials, plane_backs=self.plane_backs, **options))


class JoinedSpec(WorldSpec):
    """Several worlds on one clock, such as a simulated robot and traffic on paths."""

    kind: Literal["joined"]
    parts: tuple[Any, ...]
    """The worlds, of any kind but this."""
    step_s: StepLength | None = None
    """A multiple of every part's step; by default the longest of them."""

    @classmethod
    def of(cls, part: Any) -> "type[JoinedSpec]":
        """The same for parts of a given type, such as the union of all kinds that are installed."""
        parts = (tuple[part, ...], Field(min_length=1))
        made: type[JoinedSpec] = create_model("JoinedSpec", __base__=cls, __doc__=plain_doc(cls), parts=parts)
        return made

    def missing(self) -> tuple[str, ...]:
        """Packages that its parts need and that are not installed."""
        return tuple(dict.fromkeys(package for part in self.parts for package in part.missing()))

    def make(self, files: Files) -> World:
        """The world."""
        return Joined([part.make(files) for part in self.parts], step_s=self.step_s)

    def add_to(self, scene: Scene, world: Any) -> None:
        """Add the objects of its parts to a scene."""
        for spec, part in zip(self.parts, world.parts, strict=True):
            spec.add_to(scene, part)
