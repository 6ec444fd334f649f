"""Objects in a world: mesh, pose on a body, material and label."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene.mesh import Mesh
from sensorium.scene.volume_meshes import checked_boundary

_MAX_LABEL = int(np.iinfo(np.int32).max)


@dataclass(frozen=True, eq=False)
class SceneObject:
    """One object.

    Attributes:
        mesh: Its triangles, in the object's frame O. The mesh of a volume, whose material is a medium or a
            `Dielectric`, must be closed; one that is wound inward is turned.
        pose: X_BO, the object on its body; X_WO when it has none.
        body: Name of the body that carries it; None is fixed in the world.
        material: Surface model or medium, or the name of one of the library (`sn.materials.names()`), which is loaded;
            None leaves it to the sensor's default.
        label: Class name, or a class number >= 0; None is unlabeled. Where the mesh labels its own faces,
            those labels are used instead.
        name: A name for messages and look-up.
    """

    mesh: Mesh
    pose: Pose = field(default_factory=Pose)
    body: str | None = None
    material: object | None = None
    label: str | int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.mesh, Mesh):
            raise SceneError(f"mesh is a {type(self.mesh).__name__}; it must be a sensorium Mesh")
        if not isinstance(self.pose, Pose) or self.pose.shape != ():
            raise SceneError(f"pose is {self.pose!r}; an object needs one single Pose")
        for key in ("body", "name"):
            text = getattr(self, key)
            if text is not None and (not isinstance(text, str) or not text):
                raise SceneError(f"{key} is {text!r}; it must be a non-empty string or None")
        check_label(self.label)
        if isinstance(self.material, str):
            from sensorium.physics.materials import load as load_material  # which loads the compiler

            object.__setattr__(self, "material", load_material(self.material))
        object.__setattr__(self, "mesh", checked_boundary(self.mesh, self.material, self.name, self.label))


class Scene:
    """The objects of one world, in the order they were added: `object_id` is the index in `objects`.

    >>> scene = sn.Scene()
    >>> ground = scene.add(sn.shapes.plane(50.0), label="ground")
    >>> post = scene.add(sn.shapes.box(1, 1, 2), pose=sn.Pose((10, 0, 1)), label="post", name="left post")
    >>> scene.labels
    {'ground': 1, 'post': 2}
    """

    def __init__(self) -> None:
        self._objects: list[SceneObject] = []
        self._label_table = LabelTable()

    def add(
        self,
        mesh: Mesh,
        *,
        pose: Pose | None = None,
        body: str | None = None,
        material: object | None = None,
        label: str | int | None = None,
        name: str | None = None,
    ) -> SceneObject:
        """Put an object into the scene.

        Args:
            mesh: Its triangles, in the object's frame O; share one Mesh between equal objects.
            pose: X_BO, the object on its body, or in the world when `body` is None; default identity.
            body: Name of the body of the world that carries it.
            material: Surface model or medium, or its name in the library, such as "concrete".
            label: Class name (numbered from 1 in `labels`) or class number.
            name: A name no other object has.

        Returns:
            The object as it was added.
        """
        if name is not None and any(other.name == name for other in self._objects):
            raise SceneError(f"name {name!r} is already taken; object names must differ")
        added = SceneObject(mesh, Pose() if pose is None else pose, body, material, label, name)
        self._label_table.register(added)
        self._objects.append(added)
        return added

    def extend(self, other: "Scene") -> None:
        """Put all objects of another scene into this one, after those that are here.

        Args:
            other: A scene whose named objects have names of their own; labels keep their names, not their numbers.
        """
        for each in other.objects:
            self.add(
                each.mesh, pose=each.pose, body=each.body, material=each.material, label=each.label, name=each.name
            )

    @property
    def objects(self) -> tuple[SceneObject, ...]:
        """All objects; `object_id` is the index."""
        return tuple(self._objects)

    @property
    def labels(self) -> dict[str, int]:
        """Number of each label name, from 1; 0 is unlabeled. A copy: add objects to change it."""
        return dict(self._label_table.numbers)

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies that carry something, sorted."""
        return tuple(sorted({o.body for o in self._objects if o.body is not None}))

    def __repr__(self) -> str:
        return f"Scene({len(self._objects)} objects, bodies {list(self.bodies)}, labels {self.labels})"


class LabelTable:
    """Numbers for label names: each new name takes the smallest unused number from 1.

    Numbers given by the user are kept as they are, and later names step around them.
    """

    def __init__(self, objects: Iterable[SceneObject] = ()) -> None:
        self.numbers: dict[str, int] = {}
        self._taken: set[int] = {0}
        self._next = 1
        for each in objects:
            self.register(each)

    def register(self, added: SceneObject) -> None:
        """Add the label of an object, then those of its mesh's faces in sorted order."""
        self.enter(added.label)
        if added.mesh.face_labels is not None:
            for label in np.unique(added.mesh.face_labels).tolist():
                self.enter(label)

    def number(self, label: str | int | None) -> int:
        """Number of one label that was registered; 0 for None and ""."""
        if isinstance(label, str):
            return self.numbers[label] if label else 0
        return 0 if label is None else int(label)

    def face_numbers(self, mesh: Mesh) -> NDArray[np.int32] | None:
        """Label numbers of a registered mesh's faces, int32 (m,); None when it has none of its own."""
        labels = mesh.face_labels
        if labels is None or labels.dtype.kind != "U":
            return labels
        names, inverse = np.unique(labels, return_inverse=True)
        return np.array([self.number(name) for name in names.tolist()], dtype=np.int32)[inverse]

    def enter(self, label: str | int | None) -> None:
        """Add one label."""
        if not label:
            return
        if not isinstance(label, str):
            self._taken.add(int(label))
        elif label not in self.numbers:
            while self._next in self._taken:
                self._next += 1
            self.numbers[label] = self._next
            self._taken.add(self._next)


def check_label(label: Any) -> None:
    """Raise unless a label is None, a non-empty string or an integer that int32 holds."""
    if label is None or (isinstance(label, str) and label):
        return
    if isinstance(label, int | np.integer) and not isinstance(label, bool) and 0 <= label <= _MAX_LABEL:
        return
    raise SceneError(f"label is {label!r}; it must be a non-empty string, an integer in [0, 2**31) or None")
