"""What there is to see, as one writes it in a file."""

from typing import Annotated

from pydantic import Field, model_validator

from sensorium import plugins
from sensorium.errors import SpecError
from sensorium.materials import AbstractMaterial, Material
from sensorium.materials import load as load_material
from sensorium.media import AbstractMedium, Medium
from sensorium.scenario.document import Document
from sensorium.scenario.files import Files
from sensorium.scenario.pose import PoseSpec
from sensorium.scenario.shapes import Shape
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import Scene
from sensorium.spec import Spec

AnyMaterial = str | Annotated[Material | Medium, Field(discriminator="kind")]
"""The name of a material of the library or of a third party, or one in full; or what fills a closed shape, as fog."""


class ObjectSpec(Spec):
    """One thing to see: a shape or a mesh file."""

    shape: Shape | None = None
    mesh: str | None = None
    """A mesh file in the scenario's folder: .glb .gltf .obj .ply .stl .off or .npz."""
    scale: Annotated[float, Field(gt=0.0)] = 1.0
    """How much larger it becomes, such as 0.001 for a mesh in millimetres."""
    pose: PoseSpec = PoseSpec()
    """On its body, or in the world."""
    body: str | None = None
    """Body of the world that carries it."""
    material: AnyMaterial | None = None
    label: str | int | None = None
    name: str | None = None

    @model_validator(mode="after")
    def _one_form(self) -> "ObjectSpec":
        if (self.shape is None) == (self.mesh is None):
            raise ValueError("shape and mesh are both given or both not; exactly one of them must be given")
        return self

    def add_to(self, scene: Scene, files: Files) -> None:
        """Put it into a scene."""
        mesh = self.shape.make() if self.shape is not None else Mesh.load(files.path(str(self.mesh), "mesh"))
        if self.scale != 1.0:
            mesh = mesh.scaled(self.scale)
        scene.add(
            mesh,
            pose=self.pose.make(),
            body=self.body,
            material=made_material(self.material),
            label=self.label,
            name=self.name,
        )


class SceneSpec(Spec):
    """What there is to see besides what the world itself brings."""

    include: tuple[str, ...] = ()
    """Scenes made by code, by the name under which a package announces them."""
    objects: tuple[ObjectSpec, ...] = ()

    def add_to(self, scene: Scene, files: Files, document: Document) -> None:
        """Put everything into a scene."""
        for number, name in enumerate(self.include):
            with document.blamed("scene", "include", number):
                included = plugins.load("scenes", name)()
                if not isinstance(included, Scene):
                    raise SpecError(f"{name!r} made a {type(included).__name__}; it must make a sn.Scene")
                scene.extend(included)
        for number, each in enumerate(self.objects):
            with document.blamed("scene", "objects", number):
                each.add_to(scene, files)


def made_material(given: AnyMaterial | None) -> AbstractMaterial | AbstractMedium | None:
    """The material that is named or given in full, or the medium."""
    return load_material(given) if isinstance(given, str) else given
