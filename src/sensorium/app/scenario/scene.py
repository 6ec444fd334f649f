"""Scenes, as written in a scenario file."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, model_validator

from sensorium.app.scenario.document import Document, Files
from sensorium.app.scenario.pose import PoseSpec
from sensorium.app.scenario.shapes import Shape
from sensorium.core import plugins
from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec, path_of
from sensorium.physics.materials import AbstractMaterial, Material
from sensorium.physics.materials import load as load_material
from sensorium.physics.media import AbstractMedium, Medium
from sensorium.scene.partition.in_parts import SceneInParts
from sensorium.scene.partition.split import MeshFile, Source, split_scene
from sensorium.scene.scene import Scene, SceneObject

AnyMaterial = str | Annotated[Material | Medium, Field(discriminator="kind")]
"""The name of a material of the library or of a third party, or one in full; or a medium that fills a closed shape."""


class ObjectSpec(Spec):
    """One object: a shape or a mesh file."""

    shape: Shape | None = None
    """A simple shape by its kind and sizes; instead, `mesh` names a file."""
    mesh: str | None = None
    """A mesh file in the scenario's folder: .glb .gltf .obj .ply .stl .off or .npz."""
    scale: Annotated[float, Field(gt=0.0)] = 1.0
    """Scale factor, such as 0.001 for a mesh in millimeters."""
    pose: PoseSpec = PoseSpec()
    """On its body, or in the world."""
    body: str | None = None
    """Body of the world that carries it."""
    material: AnyMaterial | None = None
    """Its surface, or the medium that fills it: a name, or a kind with its numbers; by default that of the sensor."""
    label: str | int | None = None
    """Class that sensors report: a name, or a number; by default none."""
    name: str | None = None
    """A name no other object has."""

    @model_validator(mode="after")
    def _one_form(self) -> "ObjectSpec":
        if (self.shape is None) == (self.mesh is None):
            raise ValueError("shape and mesh are both given or both not; exactly one of them must be given")
        return self

    def source(self, files: Files) -> Source:
        """The object; a mesh file is not read yet."""
        rest = (self.body, made_material(self.material), self.label, self.name)
        if self.shape is None:
            return MeshFile(files.path(str(self.mesh), "mesh"), self.pose.make(), self.scale, *rest)
        mesh = self.shape.make()
        return SceneObject(mesh if self.scale == 1.0 else mesh.scaled(self.scale), self.pose.make(), *rest)

    def add_to(self, scene: Scene, files: Files) -> None:
        """Put it into a scene."""
        made = self.source(files)
        scene.add(
            made.mesh if isinstance(made, SceneObject) else made.load(),
            pose=made.pose,
            body=made.body,
            material=made.material,
            label=made.label,
            name=made.name,
        )


class SceneSpec(Spec):
    """Objects besides those of the world itself."""

    include: tuple[str, ...] = ()
    """Scenes made by code, by the name under which a package announces them."""
    objects: tuple[ObjectSpec, ...] = ()
    """Objects, in the order of their ids."""
    parts: Annotated[int, Field(ge=1, le=4096)] | None = None
    """Into how many parts the scene is split, each in a process of its own on a Ray cluster, for scenes that do not fit
    into one machine's memory; by default it stays whole, in this process. Only lidars see it then."""

    def add_to(self, scene: Scene, files: Files, document: Document) -> None:
        """Put everything into a scene."""
        self._include(scene, document)
        for number, each in enumerate(self.objects):
            with document.blamed("scene", "objects", number):
                each.add_to(scene, files)

    def split(self, scene: Scene, files: Files, document: Document, folder: Path) -> SceneInParts:
        """All objects, in parts, after those already in a scene; one mesh file is in memory at a time.

        Args:
            scene: The scene before; included objects are added to it.
            files: Folder of the scenario.
            document: Gives the places of errors.
            folder: Where the parts are written.
        """
        self._include(scene, document)
        sources: list[Source] = [*scene.objects]
        for number, each in enumerate(self.objects):
            with document.blamed("scene", "objects", number):
                sources.append(each.source(files))
        with document.blamed("scene"):
            split_scene(sources, folder, parts=self.parts or 1)
        return SceneInParts(folder)

    def _include(self, scene: Scene, document: Document) -> None:
        """Add the scenes that are made by code."""
        for number, name in enumerate(self.include):
            with document.blamed("scene", "include", number):
                included = plugins.load("scenes", name)()
                if not isinstance(included, Scene):
                    raise SpecError(f"{name!r} made a {type(included).__name__}; it must make a sn.Scene")
                scene.extend(included)


def made_material(
    given: AnyMaterial | None, place: tuple[str, ...] = ("material",)
) -> AbstractMaterial | AbstractMedium | None:
    """The named material, one given in full, or a medium; an error gets the place of the name."""
    if not isinstance(given, str):
        return given
    try:
        return load_material(given)
    except SpecError as error:
        sentence = path_of("", place) + str(error).removeprefix("material")
        raise SpecError(sentence, ((place, sentence),)) from None
