"""A glTF file as one mesh: every primitive at its nodes' transforms, painted and cut by masks."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.alpha_mask import cut, most_faces
from sensorium.scene.formats.gltf.accessors import Accessors
from sensorium.scene.formats.gltf.container import Container
from sensorium.scene.formats.gltf.materials import Images, Material, read_material
from sensorium.scene.formats.gltf.nodes import Shown, shown_meshes
from sensorium.scene.formats.gltf.primitives import Primitive, read_mesh
from sensorium.scene.formats.text_formats import MeshArrays
from sensorium.scene.formats.textures import Paint, PaintError, painted

_BYTES_PER_TRIANGLE = 84  # three vertices of its own and three indices

_White = Material()


@dataclass(frozen=True, eq=False)
class _Piece:
    """A primitive with its paint, in the frame of its mesh; uv has v upwards."""

    shape: Primitive
    material: Material
    uv: NDArray[np.float64] | None = None
    image: NDArray[np.uint8] | None = None


def read_gltf(path: Path, max_bytes: int, paint: bool) -> MeshArrays:
    """Read a glTF or GLB file.

    Args:
        path: The file.
        max_bytes: Most that it may unpack to.
        paint: Whether materials and images are read; without, no face is painted or cut by a mask.
    """
    container = Container(path, max_bytes)
    container.check_extensions()
    accessors = Accessors(container)
    images = Images(container, max_bytes) if paint else None
    painter = _Painter(container, images)
    pieces: dict[tuple[int, str], list[_Piece]] = {}
    placed: list[tuple[Shown, list[_Piece]]] = []
    triangles = 0
    for shown in shown_meshes(container, accessors):
        key = shown.mesh, str(shown.weights)
        if key not in pieces:
            shapes = read_mesh(container, accessors, shown.mesh, shown.weights)
            pieces[key] = [piece for shape in shapes for piece in painter.piece(shape)]
        triangles += len(shown.matrices) * sum(len(piece.shape.faces) for piece in pieces[key])
        placed.append((shown, pieces[key]))
    if triangles == 0:
        raise SceneError("it has no triangles; a mesh needs at least one")
    if triangles * _BYTES_PER_TRIANGLE > container.most_placed:
        most = container.most_placed // _BYTES_PER_TRIANGLE
        raise SceneError(f"it unpacks to {triangles} triangles; at most {most} are taken")
    whole = [(piece, matrix) for shown, own in placed for matrix in shown.matrices for piece in own]
    return _joined(whole, paint)


class _Painter:
    """Gives primitives their paint, and cuts holes where a mask has them."""

    def __init__(self, container: Container, images: Images | None) -> None:
        self._container, self._images = container, images
        self._materials: dict[int | None, Material] = {}
        self._colors: dict[int, NDArray[np.uint8]] = {}
        self._room = most_faces(0)

    def piece(self, shape: Primitive) -> list[_Piece]:
        """The primitive, painted; None if its mask leaves nothing of it."""
        if self._images is None:
            return [_Piece(shape, _White)]
        number = shape.material
        if number not in self._materials:
            try:
                self._materials[number] = read_material(self._container, number)
            except SceneError as error:
                raise PaintError(str(error)) from None
        material = self._materials[number]
        uv = shape.uv.get(material.uv_set)
        pixels = None
        if material.image is not None and uv is not None:
            pixels = self._images.pixels(material.image)
            uv = material.placed(uv)
            if not np.isfinite(uv).all():
                raise PaintError(f"texture coordinates of material {number} are not finite; each must be")
        if pixels is None or uv is None or material.image is None:
            hidden = material.cutoff is not None and material.factor[3] < material.cutoff
            return [] if hidden else [_Piece(shape, material)]
        color = self._colors.setdefault(material.image, np.ascontiguousarray(pixels[..., :3]))
        if material.cutoff is None or (pixels.shape[2] == 3 and material.factor[3] >= material.cutoff):
            return [_Piece(shape, material, uv, color)]
        return self._masked(_Piece(shape, material, uv, color), pixels)

    def _masked(self, piece: _Piece, pixels: NDArray[np.uint8]) -> list[_Piece]:
        """The opaque part of a masked primitive."""
        shape, material = piece.shape, piece.material
        assert piece.uv is not None
        assert material.cutoff is not None
        alpha = np.full(pixels.shape[:2], material.factor[3])
        if pixels.shape[2] == 4:
            alpha = pixels[..., 3] * (material.factor[3] / 255.0)
        own = most_faces(len(shape.faces)) - most_faces(0)
        room = own + self._room // 4  # so that those to come have some too
        stays, cuts = cut(piece.uv[shape.faces], alpha, material.cutoff, material.wrap, room)
        self._room -= max(len(cuts.face) - own, 0)
        if not len(cuts.face) and not stays.any():
            return []
        corners = shape.faces[cuts.face]

        def extended(values: NDArray[np.float64]) -> NDArray[np.float64]:
            return np.concatenate([values, (cuts.weights @ values[corners]).reshape(-1, values.shape[1])])

        vertices = extended(shape.vertices)
        new = len(shape.vertices) + np.arange(3 * len(cuts.face)).reshape(-1, 3)
        normal, color = (None if each is None else extended(each) for each in (shape.normal, shape.color))
        faces = np.concatenate([shape.faces[stays], new])
        left = Primitive(vertices, faces, normal, color, {}, shape.material)
        return [_Piece(left, material, extended(piece.uv), piece.image)]


def _joined(whole: list[tuple[_Piece, NDArray[np.float64]]], paint: bool) -> MeshArrays:
    """All pieces in the file's frame."""
    counts = [len(piece.shape.vertices) for piece, _ in whole]
    face_counts = [len(piece.shape.faces) for piece, _ in whole]
    firsts = np.cumsum([0, *counts[:-1]])
    vertices, faces, normals = np.empty((sum(counts), 3)), np.empty((sum(face_counts), 3), np.int64), []
    face = 0
    for (piece, matrix), first in zip(whole, firsts, strict=True):
        shape, linear = piece.shape, matrix[:3, :3]
        vertices[first : first + len(shape.vertices)] = shape.vertices @ linear.T + matrix[:3, 3]
        # A mirror turns windings inside out; turn them back
        wound = shape.faces[:, ::-1] if np.linalg.det(linear) < 0.0 else shape.faces
        faces[face : face + len(wound)] = wound + first
        face += len(wound)
        if shape.normal is not None:
            normals.append(_covectors(shape.normal, linear))

    has_normals = all(piece.shape.normal is not None for piece, _ in whole)
    normal = np.concatenate(normals) if has_normals else None
    if normal is not None and not np.isfinite(normal).all():
        normal = None
    color = None
    if any(piece.shape.color is not None for piece, _ in whole):
        # glTF multiplies with white if a primitive has no colors
        own = (
            np.ones((n, 4)) if p.shape.color is None else p.shape.color for (p, _), n in zip(whole, counts, strict=True)
        )
        color = np.clip(np.concatenate(list(own)), 0.0, 1.0)
    if not paint:
        return MeshArrays(vertices, faces, color, normal=normal)
    if any(piece.image is not None for piece, _ in whole):
        places = [np.zeros((n, 2)) if p.uv is None else p.uv for (p, _), n in zip(whole, counts, strict=True)]
        paints = [(p.image, Paint(-1, p.material.factor[:3], p.material.wrap)) for p, _ in whole]
        texture = painted(paints, face_counts)
        return MeshArrays(vertices, faces, color, texture, np.concatenate(places), normal=normal)
    by_face = None
    if any(piece.material.gives_color for piece, _ in whole):
        by_face = np.repeat(np.array([p.material.factor[:3] for p, _ in whole], np.float32), face_counts, axis=0)
    return MeshArrays(vertices, faces, color, face_texture=by_face, normal=normal)


def _covectors(normal: NDArray[np.float64], linear: NDArray[np.float64]) -> NDArray[np.float32]:
    """Normals under a linear map: n A^-1, with the pseudoinverse where the map is flat."""
    if not np.isfinite(linear).all():
        return np.full(normal.shape, np.nan, np.float32)
    return (normal @ np.linalg.pinv(linear)).astype(np.float32)
