"""Untrusted mesh files: .glb .gltf .obj .ply .stl .off and .npz, and formats that packages announce.

A file is read completely or not at all: any error in it is one SceneError that names the file and the rule. Coordinates
are not changed. glTF is y-up by its standard, and many OBJ files are; rotate such a mesh with
`mesh.transformed(Pose.from_euler_deg(roll=90))`.
"""

from os import PathLike
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sensorium.core import plugins
from sensorium.core.errors import MissingExtraError, SceneError, SpecError, in_one_line
from sensorium.files.npz_archive import ArchiveError, read_arrays
from sensorium.scene.formats.gltf.reading import read_gltf
from sensorium.scene.formats.guards import check_stl, is_text_stl
from sensorium.scene.formats.obj_format import read_obj
from sensorium.scene.formats.ply_format import read_ply
from sensorium.scene.formats.text_formats import MeshArrays, read_off, read_stl_text
from sensorium.scene.formats.textures import PaintError
from sensorium.scene.mesh import NORMAL, TEXTURE, UV, Mesh

MAX_BYTES = 2 * 1024**3

# A mesh compresses a few times; an archive beyond this is a bomb
_MAX_ZIP_RATIO = 100


def load_mesh(path: str | PathLike[str], *, max_bytes: int = MAX_BYTES, paint: bool = True) -> Mesh:
    """Read a mesh file.

    Scene graphs (glTF) become one mesh with every transform applied. Vertex colors become the vertex property "color",
    RGBA in [0, 1]. If a glTF file paints with images, their base colors become the mesh's texture, as linear
    reflectances in red, green and blue; likewise the diffuse images (`map_Kd`) of an OBJ file's materials. A file that
    only colors its materials (the base colors of glTF, `Kd` of OBJ) gives the face property "texture", which a
    material uses in the same way. Other parts of materials and images of other formats are not read. Normals of PLY,
    glTF and OBJ files become the property "normal", which gives the curvature of mirrors. An .npz holds `vertices`,
    `faces` and properties as `face_<name>` and `vertex_<name>`.

    Args:
        path: File to read; its suffix names the format.
        max_bytes: Most that the file, or what it unpacks to, may take.
        paint: Whether materials and images are read; without, errors in them are ignored.

    Raises:
        PaintError: A SceneError in the paint of the mesh: its shape alone could be read.
        SceneError: The file is missing, of another kind, broken, too large, or refers to something outside
            its folder; or its mesh breaks a rule of `Mesh`.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    read = _reader(path, suffix)
    if not path.is_file():
        raise SceneError(f"{path}: there is no such file")
    size = path.stat().st_size
    if not 0 < size <= max_bytes:
        raise SceneError(f"{path}: it has {size} bytes; it must have at least 1 and at most {max_bytes}")

    # Readers fail in every way there is; to the caller all of them are one bad file
    try:
        with np.errstate(all="ignore"):  # what is not finite, Mesh refuses by name
            return read(path, max_bytes=max_bytes, paint=paint)
    except PaintError as error:
        raise PaintError(f"{path}: {error}") from error
    except (SceneError, ArchiveError, MissingExtraError) as error:
        raise SceneError(f"{path}: {error}") from error
    except Exception as error:
        raise SceneError(f"{path}: it cannot be read as {suffix}: {in_one_line(error)}") from error


class MeshReader(Protocol):
    """Reads a file of one format."""

    def __call__(self, path: Path, *, max_bytes: int, paint: bool) -> Mesh:
        """Read a file; arguments as for `load_mesh`. What it raises becomes one SceneError with the file's name."""


def suffixes() -> tuple[str, ...]:
    """Suffixes of all formats, with their dots: the library's, and those that installed packages announce."""
    return tuple(sorted({*_READERS, *_announced()}))


def _announced() -> dict[str, str]:
    """Suffixes that installed packages announce, each with the name of its entry point."""
    found = {f".{name.lower()}": name for name in plugins.announced("mesh_formats")}
    for suffix in found:
        if suffix in _READERS:
            raise SpecError(f"a package announces the mesh format {suffix!r}; the library reads that already")
    return found


def _reader(path: Path, suffix: str) -> MeshReader:
    """The reader of a suffix; packages announce theirs as entry points of `sensorium.mesh_formats`."""
    announced = _announced()
    if suffix in _READERS:
        return _READERS[suffix]
    if suffix not in announced:
        raise SceneError(f"{path}: suffix {path.suffix!r} is unknown; it must be one of {', '.join(suffixes())}")
    read = plugins.load("mesh_formats", announced[suffix])

    def checked(path: Path, *, max_bytes: int, paint: bool) -> Mesh:
        mesh = read(path, max_bytes=max_bytes, paint=paint)
        if not isinstance(mesh, Mesh):
            raise SceneError(f"the reader of {suffix} gave a {type(mesh).__name__}; it must give a sn.Mesh")
        return mesh

    return checked


def _from_arrays(arrays: MeshArrays) -> Mesh:
    of_vertices = {"color": arrays.color, UV: arrays.uv, NORMAL: arrays.normal}
    of_faces = {TEXTURE: arrays.face_texture, NORMAL: arrays.corner_normal}
    return Mesh(
        arrays.vertices,
        arrays.faces,
        face_properties={name: values for name, values in of_faces.items() if values is not None},
        vertex_properties={name: values for name, values in of_vertices.items() if values is not None},
        texture=arrays.texture,
    )


def _read_stl(path: Path) -> MeshArrays:
    """Text or binary STL, the latter a normal, three corners and two bytes for each triangle."""
    if is_text_stl(path):
        return read_stl_text(path)
    row = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("more", "<u2")])
    count = check_stl(path)
    with path.open("rb") as file:
        file.seek(84)
        corners = np.frombuffer(file.read(count * row.itemsize), row)["corners"]
    return MeshArrays(corners.reshape(-1, 3).astype(np.float64), np.arange(3 * count).reshape(-1, 3))


def _read_npz(path: Path, max_bytes: int) -> Mesh:
    """Read arrays from an .npz."""
    arrays = read_arrays(path, max_bytes=max_bytes, max_ratio=_MAX_ZIP_RATIO)

    # Names say where each array belongs
    for name in ("vertices", "faces"):
        if name not in arrays:
            raise SceneError(f"it has no array {name!r}; it has {sorted(arrays)}")
    vertices, faces = arrays.pop("vertices"), arrays.pop("faces")
    for name in arrays:
        if not name.startswith(("face_", "vertex_")):
            raise SceneError(f"it has an array {name!r}; properties are named face_<name> or vertex_<name>")
    return Mesh(
        vertices,
        faces,
        face_properties=_with_prefix(arrays, "face_"),
        vertex_properties=_with_prefix(arrays, "vertex_"),
    )


def _with_prefix(arrays: dict[str, NDArray[Any]], prefix: str) -> dict[str, NDArray[Any]]:
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}


# Formats of the library, one line a suffix
_READERS: dict[str, MeshReader] = {
    ".glb": lambda path, *, max_bytes, paint: _from_arrays(read_gltf(path, max_bytes, paint)),
    ".gltf": lambda path, *, max_bytes, paint: _from_arrays(read_gltf(path, max_bytes, paint)),
    ".npz": lambda path, *, max_bytes, paint: _read_npz(path, max_bytes),
    ".obj": lambda path, *, max_bytes, paint: _from_arrays(read_obj(path, paint)),
    ".off": lambda path, *, max_bytes, paint: _from_arrays(read_off(path)),
    ".ply": lambda path, *, max_bytes, paint: _from_arrays(read_ply(path)),
    ".stl": lambda path, *, max_bytes, paint: _from_arrays(_read_stl(path)),
}
