"""Mesh files, read with suspicion: .glb .gltf .obj .ply .stl .off and .npz.

A file comes out whole or not at all: whatever is wrong with it is one SceneError that names the file and the
rule. Coordinates stay as they are stored. glTF is y-up by its standard, and many OBJ files are; turn such a
mesh with `mesh.transformed(Pose.from_euler_deg(roll=90))`.
"""

import warnings
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SceneError, in_one_line
from sensorium.npz_archive import ArchiveError, read_arrays
from sensorium.scene.gltf_colors import Color, base_colors, exact_color, of_faces
from sensorium.scene.guards import Triangles, check_gltf, check_stl, gltf_header, is_text_stl
from sensorium.scene.mesh import NORMAL, TEXTURE, UV, Mesh
from sensorium.scene.ply_format import read_ply
from sensorium.scene.text_formats import MeshArrays, read_obj, read_off, read_stl_text
from sensorium.scene.textures import Paint, PaintError, one_texture, pixels_of

SUFFIXES = (".glb", ".gltf", ".npz", ".obj", ".off", ".ply", ".stl")

MAX_BYTES = 2 * 1024**3

# A mesh compresses a few times; an archive beyond this is a bomb
_MAX_ZIP_RATIO = 100

_BYTES_PER_TRIANGLE = 84  # three vertices of its own and three indices


def load_mesh(path: str | PathLike[str], *, max_bytes: int = MAX_BYTES, paint: bool = True) -> Mesh:
    """Read a mesh file.

    Scene graphs (glTF) become one mesh with every transform applied. Vertex colours become the vertex
    property "color", RGBA in [0, 1]. Where a glTF file paints with images, their base colours become the
    mesh's texture, as linear reflectances in red, green and blue; likewise the diffuse images (`map_Kd`) of an
    OBJ file's materials. A file that only colours its materials (the base colours of glTF, `Kd` of OBJ) gives the
    face property "texture", which a material asks for in the same way. Nothing else of materials is read, and no
    images of other formats. Normals of PLY, glTF and OBJ files become the property "normal", which says how mirrors
    curve. An .npz holds `vertices`, `faces` and properties as `face_<name>` and `vertex_<name>`.

    Args:
        path: File to read; its suffix names the format.
        max_bytes: Most that the file, or what it unpacks to, may take.
        paint: Whether materials and images are read; without, what is wrong with them is no matter.

    Raises:
        PaintError: A SceneError, of what the mesh is painted with: its shape alone could be read.
        SceneError: The file is missing, of another kind, broken, too large, or refers to something outside
            its folder; or its mesh breaks a rule of `Mesh`.
    """
    path = Path(path)
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES:
        raise SceneError(f"{path}: suffix {path.suffix!r} is unknown; it must be one of {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise SceneError(f"{path}: there is no such file")
    size = path.stat().st_size
    if not 0 < size <= max_bytes:
        raise SceneError(f"{path}: it has {size} bytes; it must have at least 1 and at most {max_bytes}")

    # Readers fail in every way there is; to the caller all of them are one bad file
    try:
        return _read(path, suffix, max_bytes, paint)
    except PaintError as error:
        raise PaintError(f"{path}: {error}") from error
    except (SceneError, ArchiveError) as error:
        raise SceneError(f"{path}: {error}") from error
    except Exception as error:
        raise SceneError(f"{path}: it cannot be read as {suffix}: {in_one_line(error)}") from error


def _read(path: Path, suffix: str, max_bytes: int, paint: bool) -> Mesh:
    """Send a file to the reader of its format."""
    if suffix == ".npz":
        return _read_npz(path, max_bytes)
    if suffix == ".obj":
        return _from_arrays(read_obj(path, paint))
    if suffix == ".off":
        return _from_arrays(read_off(path))
    if suffix == ".stl" and is_text_stl(path):
        return _from_arrays(read_stl_text(path))
    if suffix == ".stl":
        return _read_trimesh(path, check_stl(path), max_bytes, paint=False)
    if suffix == ".ply":
        return _from_arrays(read_ply(path))
    return _read_trimesh(path, check_gltf(path, max_bytes=max_bytes, images=paint), max_bytes, paint)


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


def _read_trimesh(path: Path, expected: Triangles, max_bytes: int, paint: bool) -> Mesh:
    """Read a guarded file with trimesh and flatten its scene graph."""
    import trimesh

    least, most = expected
    if most * _BYTES_PER_TRIANGLE > max_bytes:
        raise SceneError(f"it unpacks to {most} triangles; at most {max_bytes // _BYTES_PER_TRIANGLE} are taken")

    # Each node shows a geometry under its own transform; points and lines have no surface
    parts: list[Any] = []
    matrices: list[NDArray[np.float64]] = []
    with np.errstate(all="ignore"):  # what is not finite, Mesh refuses by name
        loaded = trimesh.load(path, force="scene", process=False, skip_materials=True)
        for node in loaded.graph.nodes_geometry:
            matrix, name = loaded.graph[node]
            if isinstance(loaded.geometry[name], trimesh.Trimesh):
                parts.append(loaded.geometry[name])
                matrices.append(np.asarray(matrix, dtype=np.float64))
    found = sum(len(part.faces) for part in parts)
    if found == 0:
        raise SceneError("it has no triangles; a mesh needs at least one")
    if not least <= found <= most:
        raise SceneError(f"it claims {least} triangles and {found} were found; it must be whole")

    colored = any(part.visual.kind == "vertex" for part in parts)
    merged = Mesh.merge([_placed(part, m, colored) for part, m in zip(parts, matrices, strict=True)])
    return _painted(path, merged, parts) if paint else merged


def _painted(path: Path, merged: Mesh, parts: list[Any]) -> Mesh:
    """The mesh of a glTF file with its images as a texture; with base colours alone, one for each face."""
    header = gltf_header(path)
    colors = base_colors(header)
    if not header.get("images") and not colors:
        return merged
    counts = [len(part.vertices) for part in parts]
    paints = _paints(path, counts, colors)
    if any(paint.image is not None for paint in paints):
        texture, uv = one_texture(paints, counts)
        properties = {**merged.vertex_properties, UV: uv}
        return Mesh(merged.vertices, merged.faces, vertex_properties=properties, texture=texture)
    if not colors or not paints:
        return merged
    by_face = of_faces([paint.factor for paint in paints], [len(part.faces) for part in parts])
    own = dict(merged.vertex_properties)
    return Mesh(merged.vertices, merged.faces, face_properties={TEXTURE: by_face}, vertex_properties=own)


def _paints(path: Path, counts: list[int], colors: list[tuple[str, Color]]) -> list[Paint]:
    """What the pieces of a glTF file are painted with, in the order of their nodes.

    A second reading: with materials, trimesh gives other colours to the vertices of some files.
    """
    import trimesh

    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of images, whose comments may be broken
        try:
            loaded = trimesh.load(path, force="scene", process=False)
        except Exception as error:
            raise PaintError(f"its materials cannot be read: {in_one_line(error)}") from error
        parts = [loaded.geometry[loaded.graph[node][1]] for node in loaded.graph.nodes_geometry]
    parts = [part for part in parts if isinstance(part, trimesh.Trimesh)]
    if [len(part.vertices) for part in parts] != counts:
        return []
    paints = []
    for part in parts:
        material, uv = getattr(part.visual, "material", None), getattr(part.visual, "uv", None)
        image, given = getattr(material, "baseColorTexture", None), getattr(material, "baseColorFactor", None)
        factor = exact_color(given, getattr(material, "name", None), colors)
        if image is None or uv is None:
            paints.append(Paint(factor=factor))
        else:
            paints.append(Paint(np.asarray(uv, np.float64), pixels_of(image), factor))
    return paints


def _placed(part: Any, matrix: NDArray[np.float64], colored: bool) -> Mesh:
    """One geometry under its transform [A t; 0 1], which may scale, shear and mirror."""
    with np.errstate(all="ignore"):  # what is not finite, Mesh refuses by name
        vertices = np.asarray(part.vertices) @ matrix[:3, :3].T + matrix[:3, 3]
        is_mirror = np.linalg.det(matrix[:3, :3]) < 0.0

    # A mirror turns windings inside out; turn them back
    faces = np.asarray(part.faces)
    if is_mirror:
        faces = faces[:, ::-1]

    # Normals are covectors; trimesh makes some up where a file has none, but not before it is asked
    properties: dict[str, NDArray[Any]] = {}
    if "vertex_normals" in part._cache:
        with np.errstate(all="ignore"):
            normals = (np.asarray(part.vertex_normals) @ np.linalg.pinv(matrix[:3, :3])).astype(np.float32)
        if np.isfinite(normals).all():
            properties[NORMAL] = normals

    # White is what glTF multiplies with where a primitive has no colours of its own
    if colored:
        properties["color"] = np.ones((len(vertices), 4))
        if part.visual.kind == "vertex":
            properties["color"] = np.asarray(part.visual.vertex_colors, dtype=np.float64) / 255.0
    return Mesh(vertices, faces, vertex_properties=properties)


def _read_npz(path: Path, max_bytes: int) -> Mesh:
    """Read arrays out of an .npz."""
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
