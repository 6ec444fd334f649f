"""Splits a scene by space into parts on disk, with one mesh in memory at a time.

Large meshes are cut: a face goes to the part that contains its centroid. Small ones go whole to the part that contains
their middle, so that a thousand equal trees stay one tree in each part. Objects on a body move, so all of a body goes
whole to one part.

Hits must not depend on the cuts, to the last byte. The ray caster keeps each mesh in float32 around the middle of its
bounds, so a piece keeps the outermost vertices of its mesh besides its own: its bounds, and with them the frame that
its faces are computed in, are those of the whole.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.core.spec import Spec, checked
from sensorium.files.owned_folders import begin, check_removable, finish, held, remove
from sensorium.files.plain_files import sha256
from sensorium.physics.materials import Material
from sensorium.physics.materials import load as load_material
from sensorium.physics.media import Medium
from sensorium.scene.curvature import can_mirror, curvature_of
from sensorium.scene.formats.loading import load_mesh
from sensorium.scene.mesh import CURVATURE, LABEL, TEXTURE, Mesh
from sensorium.scene.partition import part_files
from sensorium.scene.partition.cuts import Cut, balanced_cuts, part_at
from sensorium.scene.scene import LabelTable, SceneObject, check_label
from sensorium.scene.volume_meshes import checked_boundary, is_volume
from sensorium.scene.volumes import convex_planes, radius_m, volume_m3

# A mesh with less than this share of a part's faces is not cut
_SMALL_SHARE = 1 / 16

# Centroids of a mesh that the cuts are chosen by
_SAMPLE = 4096

# Faces whose centroids are computed at once
_CHUNK = 1_000_000


@dataclass(frozen=True, eq=False)
class MeshFile:
    """A mesh file as an object of a scene: read when its turn comes, and not kept.

    Attributes:
        path: The file, as for `Mesh.load`.
        pose: X_BO, the object on its body; X_WO when it has none.
        scale: How much larger the mesh becomes.
        body: Name of the body that carries it; None is fixed in the world.
        material: Surface model, or a medium that fills it, or its name in the library.
        label: Class name or class number.
        name: A name for messages.
    """

    path: Path
    pose: Pose = field(default_factory=Pose)
    scale: float = 1.0
    body: str | None = None
    material: object | None = None
    label: str | int | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        check_label(self.label)
        if isinstance(self.material, str):
            object.__setattr__(self, "material", load_material(self.material))

    def load(self) -> Mesh:
        """Read the file, with its paint only if the material uses it."""
        wanted = getattr(self.material, "property_name", None) == TEXTURE
        mesh = load_mesh(self.path, paint=wanted)
        mesh = mesh if self.scale == 1.0 else mesh.scaled(self.scale)
        return checked_boundary(mesh, self.material, self.name or Path(self.path).name, None)


Source = SceneObject | MeshFile


@dataclass
class _MeshFacts:
    """Data of a mesh between its two readings."""

    faces: int
    center: NDArray[np.float64]
    sample: NDArray[np.float64]
    labels: list[Any]
    radius_m: float
    volume_m3: float
    planes: NDArray[np.float64] | None


@dataclass
class _Part:
    """A part while it is written."""

    folder: Path
    faces: int = 0
    low: NDArray[np.float64] = field(default_factory=lambda: np.full(3, np.inf))
    high: NDArray[np.float64] = field(default_factory=lambda: np.full(3, -np.inf))
    reach_m: dict[str, float] = field(default_factory=dict)
    pieces: list[part_files.PieceEntry] = field(default_factory=list)
    files: list[part_files.FileEntry] = field(default_factory=list)

    def add(
        self, entry: part_files.ObjectEntry, piece: part_files.PieceEntry, mesh: Mesh, faces: NDArray[np.int32]
    ) -> None:
        """Add a piece: these faces of a mesh."""
        used = np.zeros(len(mesh.vertices), np.bool_)
        used[faces.reshape(-1)] = True
        points = entry.pose.apply(mesh.vertices[used])
        if entry.body is None:
            self.low, self.high = np.minimum(self.low, points.min(axis=0)), np.maximum(self.high, points.max(axis=0))
        else:
            reach_m = float(np.linalg.norm(points, axis=1).max())
            self.reach_m[entry.body] = max(self.reach_m.get(entry.body, 0.0), reach_m)
        self.faces += len(faces)
        self.pieces.append(piece)

    def entry(self) -> part_files.PartEntry:
        """Its entry in the index."""
        bounds: Any = (tuple(self.low.tolist()), tuple(self.high.tolist())) if (self.low <= self.high).all() else None
        pieces = tuple(sorted(self.pieces, key=lambda piece: piece.object_id))
        return part_files.PartEntry(self.folder.name, self.faces, bounds, self.reach_m, pieces, tuple(self.files))


def split_scene(objects: Sequence[Source], folder: Path, *, parts: int) -> part_files.PartIndex:
    """Split a scene into parts of about equal numbers of faces, written into a folder.

    Args:
        objects: Objects of a scene, or mesh files. Their order is that of `object_id`.
        folder: A new name, or a folder of parts to replace.
        parts: How many parts; parts that get no face are left out.

    Returns:
        The index that was written.
    """
    if parts < 1:
        raise SceneError(f"parts is {parts}; it must be at least 1")
    if not objects:
        raise SceneError("objects is empty; a scene in parts needs at least one object")
    folder = Path(folder)
    if folder.exists() and not (folder / part_files.INDEX).is_file() and (not folder.is_dir() or any(folder.iterdir())):
        raise SceneError(f"folder is {str(folder)!r}, which holds files that are no parts; it must be a new name")
    with held(folder):
        check_removable(folder, part_files.is_part_file, marked=False)
        return _split(objects, folder, parts)


def _split(objects: Sequence[Source], folder: Path, parts: int) -> part_files.PartIndex:
    # First reading: the load by position
    members: dict[object, list[int]] = {}
    for number, source in enumerate(objects):
        members.setdefault(_mesh_key(source), []).append(number)
    facts: dict[object, _MeshFacts] = {key: _facts(_mesh(objects[of[0]])) for key, of in members.items()}
    labels = LabelTable()
    for source in objects:
        labels.enter(source.label)
        for label in facts[_mesh_key(source)].labels:
            labels.enter(label)
    entries = tuple(_entry(source, facts[_mesh_key(source)], labels) for source in objects)
    small = _SMALL_SHARE * sum(entry.faces for entry in entries if entry.body is None) / parts
    cuts = _cuts(objects, entries, facts, small, parts)

    # Second reading: write each piece where it belongs
    work = folder.with_name(folder.name + ".part")
    begin(work, part_files.is_part_file)
    made = [_Part(work / f"part-{number}") for number in range(parts)]
    for part in made:
        part.folder.mkdir(parents=True)
    moving: list[tuple[int, list[int]]] = []
    for number, (key, of) in enumerate(members.items()):
        if any(entries[one].body is None for one in of):
            mesh = _mesh(objects[of[0]])
            for one in of:
                if entries[one].body is None:
                    cut = cuts if entries[one].faces > small else part_at(cuts, _middle(entries[one], facts[key]))[0]
                    _write(one, entries[one], mesh, cut, made, number, labels)
        if any(entries[one].body is not None for one in of):
            moving.append((number, [one for one in of if entries[one].body is not None]))

    # Bodies go where there is room
    home: dict[str, int] = {}
    for number, of in moving:
        mesh = _mesh(objects[of[0]])
        for one in of:
            body = str(entries[one].body)
            home.setdefault(body, int(np.argmin([part.faces for part in made])))
            _write(one, entries[one], mesh, home[body], made, number, labels)

    index = part_files.PartIndex(entries, dict(labels.numbers), tuple(part.entry() for part in made if part.pieces))
    index.save(work)
    remove(folder, part_files.is_part_file)
    try:
        finish(work, folder)
    except OSError as error:
        raise SceneError(f"{str(work)!r} is complete but cannot be moved to {folder.name!r}: {error}") from None
    return index


def _mesh_key(source: Source) -> object:
    """The same for objects that share a mesh."""
    if isinstance(source, SceneObject):
        return id(source.mesh)
    return (Path(source.path).resolve(), source.scale, is_volume(source.material))


def _mesh(source: Source) -> Mesh:
    return source.mesh if isinstance(source, SceneObject) else source.load()


def _facts(mesh: Mesh) -> _MeshFacts:
    if part_files.WHOLE_FACE in mesh.property_names:
        raise SceneError(f"a mesh has a property {part_files.WHOLE_FACE!r}; parts keep that name for themselves")
    chosen = np.arange(len(mesh.faces))
    if len(chosen) > _SAMPLE:
        chosen = np.random.default_rng(0).integers(0, len(mesh.faces), _SAMPLE)
    labels = [] if mesh.face_labels is None else np.unique(mesh.face_labels).tolist()
    sample = mesh.vertices[mesh.faces[chosen]].mean(axis=1)
    size = radius_m(mesh), volume_m3(mesh), convex_planes(mesh)
    return _MeshFacts(len(mesh.faces), mesh.center, sample, labels, *size)


def _entry(source: Source, facts: _MeshFacts, labels: LabelTable) -> part_files.ObjectEntry:
    return part_files.ObjectEntry(
        tuple(source.pose.position.tolist()),
        tuple(source.pose.quaternion.tolist()),
        source.body,
        _plain(source.material),
        labels.number(source.label),
        source.name,
        facts.faces,
        facts.radius_m,
        facts.volume_m3,
        None if facts.planes is None or not is_volume(source.material) else _tuples(facts.planes),
    )


def _tuples(planes: NDArray[np.float64]) -> tuple[tuple[float, float, float, float], ...]:
    return tuple((float(x), float(y), float(z), float(d)) for x, y, z, d in planes)


def _plain(material: object | None) -> dict[str, Any] | None:
    """A material as data from which `made_material` makes it again."""
    if material is None:
        return None
    if isinstance(material, Spec):
        data = material.model_dump(mode="json")
        if made_material(data) == material:
            return data
    raise SceneError(f"a material is a {type(material).__name__}; in a scene of parts it must be one of the library's")


def made_material(data: dict[str, Any] | None) -> Any:
    """The material or medium that an index describes."""
    return None if data is None else checked(Material | Medium, data, "material")


def _middle(entry: part_files.ObjectEntry, facts: _MeshFacts) -> NDArray[np.float64]:
    """Middle of an object in the world [m], shape (1, 3)."""
    return entry.pose.apply(facts.center)[None]


def _cuts(
    objects: Sequence[Source],
    entries: Sequence[part_files.ObjectEntry],
    facts: dict[object, _MeshFacts],
    small: float,
    parts: int,
) -> Cut | int:
    """Planes by the faces of all fixed objects."""
    points, load = [np.zeros((0, 3))], [np.zeros(0)]
    for source, entry in zip(objects, entries, strict=True):
        if entry.body is None:
            of = facts[_mesh_key(source)]
            here = entry.pose.apply(of.sample) if entry.faces > small else _middle(entry, of)
            points.append(here)
            load.append(np.full(len(here), entry.faces / len(here)))
    return balanced_cuts(np.concatenate(points), np.concatenate(load), parts)


def _write(
    object_id: int,
    entry: part_files.ObjectEntry,
    mesh: Mesh,
    cuts: Cut | int,
    parts: Sequence[_Part],
    number: int,
    labels: LabelTable,
) -> None:
    """Write an object into its parts; `number` is its mesh's."""
    for place, faces in _shares(entry, mesh, cuts):
        whole = len(faces) == len(mesh.faces)
        piece = part_files.PieceEntry(object_id, f"mesh-{number}.npz" if whole else f"object-{object_id}.npz")
        path = parts[place].folder / piece.file
        if not path.exists():
            curved = can_mirror(made_material(entry.material))
            parts[place].files.append(_save(path, mesh, None if whole else faces, labels, curved=curved))
        parts[place].add(entry, piece, mesh, mesh.faces[faces])


def _shares(entry: part_files.ObjectEntry, mesh: Mesh, cuts: Cut | int) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Each part of an object, with its faces there."""
    count = len(mesh.faces)
    if not isinstance(cuts, Cut):
        yield int(cuts), np.arange(count)
        return
    part = np.empty(count, np.int32)
    for start in range(0, count, _CHUNK):
        corners = mesh.vertices[mesh.faces[start : start + _CHUNK]]
        part[start : start + _CHUNK] = part_at(cuts, entry.pose.apply(corners.mean(axis=1)))
    for place in np.unique(part).tolist():
        yield place, np.flatnonzero(part == place)


def _save(
    path: Path, mesh: Mesh, faces: NDArray[np.intp] | None, labels: LabelTable, *, curved: bool
) -> part_files.FileEntry:
    """Write a mesh, or some of its faces with the vertices that they and the mesh's frame need.

    The curvature of a face depends on its neighbors, which may be in other parts: pieces of mirrors carry it.
    """
    chosen: Any = slice(None) if faces is None else faces
    keep = np.ones(len(mesh.vertices), np.bool_)
    if faces is not None:
        keep[:] = False
        keep[mesh.faces[faces].reshape(-1)] = True
        keep[_outermost(mesh)] = True
    renumbered = np.cumsum(keep, dtype=np.int32) - 1
    arrays: dict[str, NDArray[Any]] = {
        "vertices": mesh.vertices[keep],
        "faces": renumbered[mesh.faces[chosen]],
        **{f"face_{name}": values[chosen] for name, values in mesh.face_properties.items() if name != LABEL},
        **{f"vertex_{name}": values[keep] for name, values in mesh.vertex_properties.items() if name != LABEL},
    }
    if faces is not None and curved:
        arrays[f"face_{CURVATURE}"] = curvature_of(mesh)[faces]
    own = labels.face_numbers(mesh)
    if own is not None:
        arrays[f"face_{LABEL}"] = own[chosen]
    if faces is not None:
        arrays[f"face_{part_files.WHOLE_FACE}"] = faces.astype(np.int32)
    try:
        np.savez(path, **arrays)  # type: ignore[arg-type]
        written = sha256(path)
    except OSError as error:
        raise SceneError(f"{path} cannot be written: {error.strerror or error}") from None
    mesh_bytes = sum(array.nbytes for array in arrays.values())
    return part_files.FileEntry(path.name, written, len(arrays["faces"]), mesh_bytes)


def _outermost(mesh: Mesh) -> NDArray[np.intp]:
    """Vertices that decide a mesh's bounds, and its reach from their middle and from its origin."""
    local = mesh.vertices - np.asarray(mesh.bounds).mean(axis=0)
    return np.concatenate(
        [
            mesh.vertices.argmin(axis=0),
            mesh.vertices.argmax(axis=0),
            [(local**2).sum(axis=1).argmax(), (mesh.vertices**2).sum(axis=1).argmax()],
        ]
    )
