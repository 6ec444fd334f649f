"""A scene as arrays for the ray caster: meshes, poses and bodies of the objects in each world."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene import volumes
from sensorium.scene.batch import SceneBatch
from sensorium.scene.mesh import Mesh
from sensorium.scene.scene import LabelTable, Scene, SceneObject


class KindTables(NamedTuple):
    """Properties of each kind of object: shared objects, then assets, and a last entry for none, at index -1."""

    mesh: NDArray[np.int32]
    label: NDArray[np.int32]
    material: NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Layout:
    """Objects of all worlds in columns: `object_id` is the column, scene objects first, then batch slots.

    There is one row if all worlds are equal (Wl = 1), else one for each world.

    Attributes:
        meshes: Each mesh once, by identity.
        mesh_index: Mesh of each object, int32 (Wl, n); -1 where the world has none.
        X_BO: Object on its body, or in the world where `body` is None, batch shape (Wl, n).
        body: Name of the body of each column, length n.
        label: Label number of each object, int32 (Wl, n); 0 is unlabeled. A hit takes the face's own label
            where `mesh_face_labels` has one for the mesh, and this one otherwise.
        materials: Each material once, by identity; index 0 is None.
        material_index: Material of each object, int32 (Wl, n).
        mesh_face_labels: For each mesh the label number of every face, int32 (m,), or None.
        of_kind: Mesh, label and material of each kind of object.
        name: Name of each column's object, length n; slots of a batch have none.
        label_numbers: Number of each label name.
        around_index: Refractive index of the atmosphere around all of it.
        whole_extents: Radii and volumes of the objects if their meshes are elsewhere, (1, n) each.
        whole_planes: Planes of each object's convex mesh, if meshes are elsewhere; None for others.
    """

    meshes: tuple[Mesh, ...]
    mesh_index: NDArray[np.int32]
    X_BO: Pose
    body: tuple[str | None, ...]
    label: NDArray[np.int32]
    materials: tuple[object | None, ...]
    material_index: NDArray[np.int32]
    mesh_face_labels: tuple[NDArray[np.int32] | None, ...]
    of_kind: KindTables
    name: tuple[str | None, ...]
    label_numbers: Mapping[str, int]
    around_index: float = 1.0
    whole_extents: volumes.Extents | None = None
    whole_planes: tuple[NDArray[np.float64] | None, ...] | None = None

    @cached_property
    def material_kind(self) -> NDArray[np.uint8]:
        """Role of each material: surface, volume, or air, see `scene/volumes.py`."""
        return volumes.material_kinds(self.materials, self.around_index)

    @cached_property
    def object_kind(self) -> NDArray[np.uint8]:
        """Role of each object, (Wl, n): by its material, or a bank."""
        kind = self.material_kind[self.material_index]
        kind[:, self.banks.column] = volumes.BANK
        return kind

    @cached_property
    def banks(self) -> volumes.Banks:
        """Volumes that are clipped by the planes of their faces."""
        column, plane = [], []
        if (self.material_kind == volumes.AIR).any() and not (self.material_kind == volumes.VOLUME).any():
            for number in np.flatnonzero(self.material_kind[self.material_index[0]] == volumes.AIR).tolist():
                planes = self._planes_of(number) if self.body[number] is None else None
                if planes is not None:
                    pose, full = self.X_BO[0, number], np.tile([0.0, 0.0, 0.0, np.inf], (volumes.MOST_PLANES, 1))
                    normal = planes[:, :3] @ pose.rotation.T
                    full[: len(planes), :3], full[: len(planes), 3] = normal, planes[:, 3] + normal @ pose.position
                    column.append(number)
                    plane.append(full)
        return volumes.Banks(np.array(column, np.int32), np.array(plane).reshape(-1, volumes.MOST_PLANES, 4))

    def _planes_of(self, column: int) -> NDArray[np.float64] | None:
        """Planes of a convex object that is the same in all worlds; None for others."""
        if self.whole_planes is not None:
            return self.whole_planes[column]
        mesh, material = self.mesh_index[:, column], self.material_index[:, column]
        X_BO = self.X_BO[:, column]
        alike = (mesh == mesh[0]).all() and (material == material[0]).all() and mesh[0] >= 0
        alike &= bool((X_BO.position == X_BO.position[0]).all() and (X_BO.quaternion == X_BO.quaternion[0]).all())
        return volumes.convex_planes(self.meshes[mesh[0]]) if alike else None

    def extents(self) -> volumes.Extents:
        """Radius of each object's mesh [m], and its volume [m3] where it is one, (Wl, n)."""
        if self.whole_extents is not None:
            return self.whole_extents
        filled = self.material_kind[self.material_index] > 0
        return volumes.extents_of(self.meshes, self.mesh_index, filled)


def layout(scene: Scene | SceneBatch, worlds: int, *, around_index: float = 1.0) -> Layout:
    """Arrays of a scene or a batch for a number of worlds.

    Args:
        scene: One scene for all worlds, or a batch with a row for each (or one row for all).
        worlds: Number of worlds, at least 1.
        around_index: Refractive index of the atmosphere.
    """
    laid_out = _layout(scene, worlds)
    return laid_out if around_index == 1.0 else replace(laid_out, around_index=around_index)


def _layout(scene: Scene | SceneBatch, worlds: int) -> Layout:
    """The same in vacuum."""
    if worlds < 1:
        raise SceneError(f"worlds is {worlds}; it must be at least 1")
    if isinstance(scene, Scene):
        objects = scene.objects
        return _tabulated(
            kinds=objects,
            labels=LabelTable(objects),
            kind_index=np.arange(len(objects))[None, :],
            X_BO=_row(objects),
            body=tuple(o.body for o in objects),
            name=tuple(o.name for o in objects),
        )

    # A batch: the shared objects are in every row, then each slot names its asset
    if not isinstance(scene, SceneBatch):
        raise SceneError(f"scene is a {type(scene).__name__}; it must be a Scene or a SceneBatch")
    if scene.worlds not in (1, worlds):
        raise SceneError(f"the scene batch has {scene.worlds} worlds, {worlds} were asked for; they must match")
    if scene.redraw is not None and scene.worlds != worlds:
        raise SceneError(f"the scene batch has one row for {worlds} worlds and redraw; it needs a row for each of them")
    shared = scene.shared.objects if scene.shared is not None else ()
    kinds = shared + scene.assets
    slots, X_BO = _one_row_if_alike(scene)
    rows = len(slots)
    always = np.broadcast_to(np.arange(len(shared)), (rows, len(shared)))
    fixed = _row(shared).broadcast_to((rows, len(shared)))
    return _tabulated(
        kinds=kinds,
        labels=LabelTable(kinds),
        kind_index=np.concatenate([always, np.where(slots < 0, -1, slots + len(shared))], axis=1),
        X_BO=Pose(
            np.concatenate([fixed.position, X_BO.position], axis=1),
            np.concatenate([fixed.quaternion, X_BO.quaternion], axis=1),
        ),
        body=tuple(o.body for o in shared) + scene.body,
        name=tuple(o.name for o in shared) + (None,) * len(scene.body),
    )


def redrawn(before: Layout, drawn: SceneBatch, rows: NDArray[np.int64]) -> Layout:
    """A layout in which some worlds look otherwise.

    Args:
        before: As it was, with a row for each world.
        drawn: These worlds alone.
        rows: Which they are.
    """
    index, X_BO = _one_row_if_alike(drawn)
    slots = slice(before.mesh_index.shape[1] - index.shape[1], None)
    kind = np.where(index < 0, -1, index + slots.start)

    def patched(old: NDArray[np.int32], of_kind: NDArray[np.int32]) -> NDArray[np.int32]:
        array = old.copy()
        array[rows, slots] = of_kind[kind]
        return _frozen(array)

    position, quaternion = before.X_BO.position.copy(), before.X_BO.quaternion.copy()
    position[rows, slots], quaternion[rows, slots] = X_BO.position, X_BO.quaternion
    return replace(
        before,
        mesh_index=patched(before.mesh_index, before.of_kind.mesh),
        X_BO=Pose._trusted(position, quaternion),
        label=patched(before.label, before.of_kind.label),
        material_index=patched(before.material_index, before.of_kind.material),
    )


def slot_poses(of: Layout, batch: SceneBatch) -> Pose | None:
    """Poses of a batch's slots on their bodies, as in its layout; None if assets have poses in their slots."""
    return None if batch.X_SO is not None else of.X_BO[:, -batch.index.shape[1] :]


def _one_row_if_alike(scene: SceneBatch) -> tuple[NDArray[np.int32], Pose]:
    """Asset index and X_BO of the slots, in a single row when every world has the same and will keep it."""
    pose = scene.pose
    alike = (
        scene.redraw is None
        and (scene.index == scene.index[:1]).all()
        and (pose.position == pose.position[:1]).all()
        and (pose.quaternion == pose.quaternion[:1]).all()
    )
    rows = slice(0, 1) if alike else slice(None)
    index, X_BS = scene.index[rows], pose[rows]

    # An asset may have a pose in its slot's frame S: X_BO = X_BS X_SO
    return index, X_BS if scene.X_SO is None else X_BS @ scene.X_SO[np.maximum(index, 0)]


def _row(objects: Sequence[SceneObject]) -> Pose:
    """Poses of objects, batch shape (1, n), also for n = 0."""
    return Pose(
        np.array([o.pose.position for o in objects]).reshape(1, -1, 3),
        np.array([o.pose.quaternion for o in objects]).reshape(1, -1, 4),
    )


def _tabulated(
    *,
    kinds: Sequence[SceneObject],
    labels: LabelTable,
    kind_index: NDArray[np.integer],
    X_BO: Pose,
    body: tuple[str | None, ...],
    name: tuple[str | None, ...],
) -> Layout:
    """Turn one table of kinds (Wl, n), -1 for none, into tables of meshes, labels and materials."""
    mesh_number: dict[int, int] = {}
    material_number: dict[int, int] = {}
    meshes: list[Mesh] = []
    materials: list[object | None] = [None]
    for kind in kinds:
        if mesh_number.setdefault(id(kind.mesh), len(meshes)) == len(meshes):
            meshes.append(kind.mesh)
        if kind.material is not None and (
            material_number.setdefault(id(kind.material), len(materials)) == len(materials)
        ):
            materials.append(kind.material)

    of_kind = KindTables(
        mesh=np.array([mesh_number[id(k.mesh)] for k in kinds] + [-1], dtype=np.int32),
        label=np.array([labels.number(k.label) for k in kinds] + [0], dtype=np.int32),
        material=np.array([material_number.get(id(k.material), 0) for k in kinds] + [0], dtype=np.int32),
    )
    return Layout(
        meshes=tuple(meshes),
        mesh_index=_frozen(of_kind.mesh[kind_index]),
        X_BO=X_BO,
        body=body,
        label=_frozen(of_kind.label[kind_index]),
        materials=tuple(materials),
        material_index=_frozen(of_kind.material[kind_index]),
        mesh_face_labels=tuple(labels.face_numbers(mesh) for mesh in meshes),
        of_kind=of_kind,
        name=name,
        label_numbers=dict(labels.numbers),
    )


def _frozen(array: NDArray[np.int32]) -> NDArray[np.int32]:
    array.setflags(write=False)
    return array
