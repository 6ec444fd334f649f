"""A triangle mesh with named properties on its faces and vertices.

A mesh is a value: checked once when it is made, read-only after. Objects share meshes by identity, so a
thousand copies of one tree cost one tree.
"""

from collections.abc import Mapping, Sequence
from os import PathLike
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SceneError
from sensorium.core.frames import Pose
from sensorium.scene.formats.textures import PaintedImages, looked_up
from sensorium.scene.merging import merged_properties, without_what_some_lack

# Beyond this the ray caster's float32 boxes are no longer ordered; Embree requires |x| < 1.844e18.
MAX_COORDINATE_M = 1e18

LABEL = "label"
UV, TEXTURE = "uv", "texture"

# Normals at the vertices, shape (n, 3), or at the corners of faces, (m, 3, 3); curvature tensors of faces, (m, 6)
NORMAL, CURVATURE = "normal", "curvature_tensor"

# Faces that are seen from their front alone
ONE_SIDED = "one_sided"


class Mesh:
    """Triangles in their own frame O, wound so that (v1 - v0) x (v2 - v0) points outward.

    Args:
        vertices: Positions p_OV [m], shape (n, 3), finite.
        faces: Vertex indices, shape (m, 3), integers in [0, n), at least one face.
        face_properties: Arrays by name, shape (m, ...): one value for each face.
        vertex_properties: Arrays by name, shape (n, ...): interpolated over the face.
        texture: An image of reflectances in 0..1, shape (rows, columns, bands), row 0 at the top. The vertex property
            "uv", shape (n, 2), gives the texture coordinates of each vertex: u from 0 at the left edge to 1 at the
            right, v from 0 at the lower edge to 1 at the upper; beyond them it repeats. It is also readable as the
            property "texture". Files with images give `sensorium.scene.formats.textures.PaintedImages`, which has an
            image and a color for each face.

    Properties are numbers (a reflectance in six bands, a temperature, a color) and must be finite. The one named
    "label" is a class of each face or vertex: integers >= 0 or strings, where 0 and "" mean unlabeled. It is never
    interpolated: a face takes the label of its first vertex. The vertex property "normal", shape (n, 3), or the face
    property of that name, shape (m, 3, 3) for the corners of each face, gives the curvature of a smooth surface between
    its vertices: mirrors spread light by it. A face whose property "one_sided", shape (m,), is true exists only for
    rays from the side that its normal points to. Rays start at sensors, and for shadows at lit points. Every mesh has
    the property "curvature_tensor", see `sensorium.scene.curvature`, which is computed on request.

    >>> mesh = sn.Mesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]], face_properties={"temperature_K": [300.0]})
    >>> mesh.bounds.tolist()
    [[0.0, 0.0, 0.0], [1.0, 1.0, 0.0]]
    """

    __slots__ = (
        "__weakref__",
        "bounds",
        "face_properties",
        "faces",
        "radius",
        "texture",
        "vertex_properties",
        "vertices",
    )

    vertices: NDArray[np.float64]
    faces: NDArray[np.int32]
    face_properties: Mapping[str, NDArray[Any]]
    vertex_properties: Mapping[str, NDArray[Any]]
    texture: NDArray[np.float32] | PaintedImages | None
    bounds: NDArray[np.float64]
    radius: float

    def __init__(
        self,
        vertices: ArrayLike,
        faces: ArrayLike,
        *,
        face_properties: Mapping[str, ArrayLike] | None = None,
        vertex_properties: Mapping[str, ArrayLike] | None = None,
        texture: ArrayLike | PaintedImages | None = None,
    ) -> None:
        self.vertices = _checked_vertices(vertices)
        self.faces = _checked_faces(faces, vertex_count=len(self.vertices))
        self.face_properties = _checked_properties("face", face_properties, count=len(self.faces))
        self.vertex_properties = _checked_properties("vertex", vertex_properties, count=len(self.vertices))

        self.texture = None if texture is None else self._checked_texture(texture)
        if self.texture is not None and TEXTURE in (*self.face_properties, *self.vertex_properties):
            raise SceneError(f"property {TEXTURE!r} is given beside a texture, which goes by that name; rename it")

        _check_one_sided(self)

        # A name has one meaning, so that a hit can look it up without naming the element
        twice = sorted(set(self.face_properties) & set(self.vertex_properties))
        if twice:
            raise SceneError(f"property {twice[0]!r} is given for both faces and vertices; give it once")

        # Extent: the box in the mesh's axes, and the reach from its own origin
        self.bounds = _read_only(np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)]))
        self.radius = float(np.sqrt(np.max(np.sum(self.vertices**2, axis=1))))

    @classmethod
    def load(cls, path: "str | PathLike[str]", *, paint: bool = True) -> "Mesh":
        """Read a mesh file: .glb .gltf .obj .ply .stl .off or .npz; see `sensorium.scene.formats.loading`.

        Args:
            path: File to read; its suffix names the format.
            paint: Whether images and colors of its materials are read too; if not, only files of its shape are opened,
                and errors in materials are ignored.
        """
        from sensorium.scene.formats.loading import load_mesh
        from sensorium.scene.formats.textures import PaintError

        try:
            return load_mesh(path, paint=paint)
        except PaintError as error:
            raise SceneError(f"{error}; paint=False loads its shape alone") from error

    @classmethod
    def merge(cls, meshes: "Sequence[Mesh]") -> "Mesh":
        """Join meshes that share one frame into one, faces in the order given.

        Every mesh must have the same property names on the same elements: nothing is filled in silently, except the
        property "texture", which is white, 1 in each band, on meshes without paint. Normals that some meshes lack are
        left out. Meshes with texture images are not joined.
        """
        if not meshes:
            raise SceneError("merge got no meshes; it needs at least one")
        if any(mesh.texture is not None for mesh in meshes):
            raise SceneError("a mesh to be merged has a texture; one mesh has one texture, keep them apart")
        of_faces, of_vertices = (
            without_what_some_lack(properties, (NORMAL, CURVATURE))
            for properties in ([m.face_properties for m in meshes], [m.vertex_properties for m in meshes])
        )
        face_counts, vertex_counts = [len(m.faces) for m in meshes], [len(m.vertices) for m in meshes]

        # Indices increase by the number of vertices before them
        offsets = np.cumsum([0, *vertex_counts[:-1]])
        return cls(
            np.concatenate([mesh.vertices for mesh in meshes]),
            np.concatenate([mesh.faces + offset for mesh, offset in zip(meshes, offsets, strict=True)]),
            face_properties=merged_properties("face_properties", of_faces, face_counts, white=TEXTURE),
            vertex_properties=merged_properties("vertex_properties", of_vertices, vertex_counts, white=TEXTURE),
        )

    def _checked_texture(self, texture: "ArrayLike | PaintedImages") -> "NDArray[np.float32] | PaintedImages":
        """A texture in 0..1, with places for every vertex; one that is locked already is shared."""
        uv = self.vertex_properties.get(UV)
        if uv is None or uv.shape[1:] != (2,):
            raise SceneError(f"a texture needs the vertex property {UV!r} of shape (n, 2); it is missing or of another")
        if isinstance(texture, PaintedImages):
            if texture.face_paint.shape != (len(self.faces),):
                raise SceneError(f"face_paint has shape {texture.face_paint.shape}; it must be ({len(self.faces)},)")
            return texture
        locked = isinstance(texture, np.ndarray) and texture.flags.owndata and not texture.flags.writeable
        array = np.array(texture, dtype=np.float32, order="C", copy=None if locked else True)
        if array.ndim != 3 or 0 in array.shape:
            raise SceneError(f"texture has shape {array.shape}; it must be (rows, columns, bands)")
        if not (array.min() >= 0.0 and array.max() <= 1.0):
            raise SceneError(f"texture runs from {array.min()} to {array.max()}; it must stay in 0..1")
        return _read_only(array)

    @property
    def center(self) -> NDArray[np.float64]:
        """Middle of the bounding box [m], shape (3,)."""
        return 0.5 * (self.bounds[0] + self.bounds[1])

    @property
    def property_names(self) -> tuple[str, ...]:
        """Names of all face and vertex properties, sorted."""
        own = () if self.texture is None else (TEXTURE,)
        return tuple(sorted({*self.face_properties, *self.vertex_properties, *own}))

    @property
    def face_labels(self) -> NDArray[Any] | None:
        """Label of each face as given, int32 or strings, shape (m,); None where the mesh has none."""
        if LABEL in self.face_properties:
            return self.face_properties[LABEL]
        if LABEL in self.vertex_properties:
            return _read_only(self.vertex_properties[LABEL][self.faces[:, 0]])
        return None

    @property
    def one_sided(self) -> NDArray[np.bool_] | None:
        """Whether each face is seen from its front alone, shape (m,); None where all are seen from both sides."""
        given = self.face_properties.get(ONE_SIDED)
        return None if given is None or not given.any() else given.astype(np.bool_)

    def transformed(self, pose: Pose) -> "Mesh":
        """Return the mesh moved by X_AO: its vertices in frame A.

        Properties are carried over as they are, but normals and curvature tensors turn with it.
        """
        if pose.shape != ():
            raise SceneError(f"pose has batch shape {pose.shape}; a mesh is moved by a single pose, shape ()")
        return Mesh(
            pose.apply(self.vertices),
            self.faces,
            face_properties=_turned(self.face_properties, pose.rotation),
            vertex_properties=_turned(self.vertex_properties, pose.rotation),
            texture=self.texture,
        )

    def scaled(self, factor: float) -> "Mesh":
        """Return the mesh with all coordinates times a positive factor, such as 0.001 for one in millimeters."""
        if not (np.isfinite(factor) and factor > 0.0):
            raise SceneError(f"factor is {factor}; it must be finite and positive")
        of_faces = dict(self.face_properties)
        if CURVATURE in of_faces:
            of_faces[CURVATURE] = of_faces[CURVATURE] / factor
        return Mesh(
            factor * self.vertices,
            self.faces,
            face_properties=of_faces,
            vertex_properties=self.vertex_properties,
            texture=self.texture,
        )

    def property_at(self, name: str, face_id: ArrayLike, barycentric: ArrayLike) -> NDArray[Any]:
        """Value of a property at points on faces.

        Args:
            name: A face or vertex property.
            face_id: Faces, integers in [0, m), shape (*batch,). Leave misses out.
            barycentric: Coordinates (u, v) [1], shape (*batch, 2): the point is (1-u-v) v0 + u v1 + v v2.

        Returns:
            Shape (*batch, ...): the face's value, or the vertex values weighted by (1-u-v, u, v); a vertex
            "label" is that of the face's first vertex.
        """
        if name not in (*self.property_names, CURVATURE):
            known = ", ".join(self.property_names) or "none"
            raise SceneError(f"the mesh has no property {name!r}; it has: {known}")

        # Faces: a miss has nothing to look up, and -1 must not wrap around to the last face
        face = np.asarray(face_id)
        if face.dtype.kind not in "iu":
            raise SceneError(f"face_id has type {face.dtype}; it must be integers")
        if face.size and (face.min() < 0 or face.max() >= len(self.faces)):
            bad = face[(face < 0) | (face >= len(self.faces))].flat[0]
            raise SceneError(f"face_id holds {bad}; it must be in [0, {len(self.faces)})")
        uv = np.asarray(barycentric, dtype=np.float64)
        if uv.shape != (*face.shape, 2):
            raise SceneError(f"barycentric has shape {uv.shape}; face_id asks for {(*face.shape, 2)}")

        if name in self.face_properties:
            return self.face_properties[name][face]
        if name == CURVATURE:
            from sensorium.scene.curvature import curvature_of  # rarely needed

            return curvature_of(self)[face]
        if name == TEXTURE and self.texture is not None:
            places = self.property_at(UV, face, uv)
            if isinstance(self.texture, PaintedImages):
                return self.texture.at(face, places)
            return looked_up(self.texture, places)
        values = self.vertex_properties[name][self.faces[face]]
        if name == LABEL:
            return values[..., 0]
        weights = np.concatenate([1.0 - uv.sum(axis=-1, keepdims=True), uv], axis=-1)
        weights = weights.reshape(weights.shape + (1,) * (values.ndim - weights.ndim))
        return (weights * values).sum(axis=face.ndim)

    def __repr__(self) -> str:
        properties = f", properties {', '.join(self.property_names)}" if self.property_names else ""
        return f"Mesh({len(self.vertices)} vertices, {len(self.faces)} faces{properties})"

    def __reduce__(self) -> tuple[Any, ...]:
        # Mapping proxies do not pickle; a copy is made, and checked, from plain arrays
        properties = dict(self.face_properties), dict(self.vertex_properties)
        return _rebuilt, (self.vertices, self.faces, *properties, self.texture)


def _rebuilt(
    vertices: NDArray[np.float64],
    faces: NDArray[np.int32],
    face_properties: dict[str, NDArray[Any]],
    vertex_properties: dict[str, NDArray[Any]],
    texture: NDArray[np.float32] | PaintedImages | None = None,
) -> Mesh:
    """Make a mesh from the state of `Mesh.__reduce__`."""
    return Mesh(vertices, faces, face_properties=face_properties, vertex_properties=vertex_properties, texture=texture)


def _turned(properties: Mapping[str, NDArray[Any]], rotation: NDArray[np.float64]) -> dict[str, NDArray[Any]]:
    """Properties of a mesh that is turned by R_AO: normals n_A = R n_O and curvature tensors K_A = R K_O R^T."""
    turned = dict(properties)
    if NORMAL in turned and turned[NORMAL].shape[-1] == 3:
        turned[NORMAL] = turned[NORMAL] @ rotation.T
    if CURVATURE in turned:
        tensor = rotation @ full_tensor(turned[CURVATURE]) @ rotation.T
        turned[CURVATURE] = tensor[..., (0, 1, 2, 0, 0, 1), (0, 1, 2, 1, 2, 2)]
    return turned


def full_tensor(elements: NDArray[Any]) -> NDArray[np.float64]:
    """Symmetric tensors, shape (*batch, 3, 3), of their elements xx, yy, zz, xy, xz, yz, shape (*batch, 6)."""
    return np.asarray(elements, np.float64)[..., [[0, 3, 4], [3, 1, 5], [4, 5, 2]]]


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Lock an array this module owns."""
    array.setflags(write=False)
    return array


def _checked_vertices(vertices: ArrayLike) -> NDArray[np.float64]:
    """Copy vertices to float64, finite and small enough for the ray caster."""
    try:
        with np.errstate(invalid="ignore"):  # values that are not finite are refused below
            array = np.array(vertices, dtype=np.float64, order="C")
    except (TypeError, ValueError):
        raise SceneError(f"vertices are {str(vertices)[:60]!r}; they must be numbers of shape (n, 3)") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise SceneError(f"vertices have shape {array.shape}; it must be (n, 3)")
    bad = ~(np.abs(array) < MAX_COORDINATE_M)
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise SceneError(f"vertex {row} is {array[row].tolist()}; each must be finite and below 1e18 m")
    return _read_only(array)


def _checked_faces(faces: ArrayLike, *, vertex_count: int) -> NDArray[np.int32]:
    """Copy faces to int32 with every index in range."""
    try:
        array = np.asarray(faces)
    except ValueError:
        raise SceneError(f"faces are {str(faces)[:60]!r}; they must be integers of shape (m, 3)") from None
    if array.ndim != 2 or array.shape[1] != 3 or len(array) == 0:
        raise SceneError(f"faces have shape {array.shape}; it must be (m, 3) with at least one face")
    if array.dtype.kind not in "iu":
        raise SceneError(f"faces have type {array.dtype}; indices must be integers")
    bad = (array < 0) | (array >= min(vertex_count, np.iinfo(np.int32).max))
    if bad.any():
        row = int(np.argmax(bad.any(axis=1)))
        raise SceneError(f"face {row} is {array[row].tolist()}; indices must be in [0, {vertex_count})")
    return _read_only(np.array(array, dtype=np.int32, order="C"))


def _checked_properties(
    element: str, properties: Mapping[str, ArrayLike] | None, *, count: int
) -> Mapping[str, NDArray[Any]]:
    """Copy properties, each with one finite number (or label) per element."""
    checked: dict[str, NDArray[Any]] = {}
    for name, values in (properties or {}).items():
        try:
            array = np.array(values, order="C")
        except ValueError:
            raise SceneError(f"{element} property {name!r} is no array; each must have the same shape") from None
        if array.ndim == 0 or len(array) != count:
            raise SceneError(f"{element} property {name!r} has shape {array.shape}; its length must be {count}")
        if name == LABEL:
            array = _checked_labels(element, array)
        elif array.dtype.kind not in "biuf":
            raise SceneError(f"{element} property {name!r} has type {array.dtype}; it must be numbers")
        elif not np.isfinite(array).all():
            row = int(np.argmax(~np.isfinite(array).reshape(count, -1).all(axis=1)))
            raise SceneError(f"{element} property {name!r} is {array[row].tolist()} at {row}; it must be finite")
        checked[name] = _read_only(array)
    return MappingProxyType(checked)


def _check_one_sided(mesh: Mesh) -> None:
    """The property is one of faces, true or false."""
    if ONE_SIDED in mesh.vertex_properties:
        raise SceneError(f"property {ONE_SIDED!r} is given for vertices; it must be given for faces")
    given = mesh.face_properties.get(ONE_SIDED)
    if given is not None and (given.ndim != 1 or not np.isin(given, (0, 1)).all()):
        raise SceneError(f"face property {ONE_SIDED!r} has shape {given.shape}; it must be true or false for each face")


def _checked_labels(element: str, array: NDArray[Any]) -> NDArray[Any]:
    """Labels: strings, or integers that int32 holds."""
    if array.dtype.kind == "O" and all(isinstance(label, str) for label in array.flat):
        array = array.astype(np.str_)
    if array.ndim != 1 or array.dtype.kind not in "iuU":
        raise SceneError(
            f"{element} labels have shape {array.shape} and type {array.dtype}; they must be one integer or string each"
        )
    if array.dtype.kind == "U":
        return array
    if array.min() < 0 or array.max() > np.iinfo(np.int32).max:
        raise SceneError(f"{element} labels reach from {array.min()} to {array.max()}; they must be in [0, 2**31)")
    return array.astype(np.int32)
