"""Triangles of COLLADA files (.dae), the visual meshes of many robots.

Read as in ROS tools: lengths in meters by the file's unit, coordinates unchanged for any up axis, poses of nodes
composed; colors, textures and joints of skins are left out (COLLADA 1.4.1 specification, chapter 5).
"""

from typing import Any
from xml.etree import ElementTree
from xml.parsers import expat

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError, in_one_line
from sensorium.scene.mesh import Mesh

# Nodes may be used again and again: a small file must not become a large mesh
_MOST_TRIANGLES_A_BYTE, _MOST_DEPTH = 1.0, 64

Float = NDArray[np.float64]
_Triangles = tuple[Float, NDArray[np.int64]]


def read_dae(data: bytes, name: str) -> Mesh:
    """All geometry of a file as one mesh [m].

    Args:
        data: Content of the file.
        name: Name in messages; a file that is not COLLADA raises SceneError.
    """
    # Any error of a broken file becomes a SceneError; numbers that are too large are found by the mesh
    try:
        with np.errstate(all="ignore"):
            vertices, faces = _Reader(_parsed(data), len(data)).triangles()
        if not len(faces):
            raise ValueError("it has no triangles")
        return Mesh(vertices, faces)
    except Exception as error:
        raise SceneError(f"{name}: it cannot be read as .dae: {in_one_line(error)}") from None


def _parsed(data: bytes) -> ElementTree.Element:
    """The tree, without namespaces; entities, by which a few bytes become many, are refused."""
    parser = ElementTree.XMLParser()

    def refuse(*_: object) -> None:
        raise ValueError("it has a DOCTYPE; it must have none")

    inner = expat.ParserCreate()
    inner.StartDoctypeDeclHandler = refuse
    try:
        inner.Parse(data, True)
    except expat.ExpatError as error:
        raise ValueError(f"it is no XML: {error}") from None
    parser.feed(data)
    root = parser.close()
    for element in root.iter():
        element.tag = element.tag.rpartition("}")[2]
    return root


class _Reader:
    """One file, while it is read."""

    def __init__(self, root: ElementTree.Element, size: int) -> None:
        self._root = root
        self._by_id = {str(element.get("id")): element for element in root.iter() if element.get("id")}
        self._made: dict[str, list[_Triangles]] = {}
        self._left = int(_MOST_TRIANGLES_A_BYTE * size) + 1000
        self._vertices: list[Float] = []
        self._faces: list[NDArray[np.int64]] = []
        self._count = 0

    def triangles(self) -> _Triangles:
        """Vertices (n, 3) [m] and faces (m, 3) of the scene; of all geometry if there is none."""
        unit = self._root.find("asset/unit")
        meter = 1.0 if unit is None else float(unit.get("meter", 1.0))
        scene = self._root.find("scene/instance_visual_scene")
        shown = self._by_id.get(scene.get("url", "").lstrip("#")) if scene is not None else None
        if shown is None:
            for geometry in self._root.iter("geometry"):
                self._place(geometry.get("id", ""), np.eye(4))
        else:
            for node in shown.findall("node"):
                self._walk(node, np.eye(4), 0)
        if not self._faces:
            return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
        return meter * np.concatenate(self._vertices), np.concatenate(self._faces)

    def _walk(self, node: ElementTree.Element, above: Float, depth: int) -> None:
        """A node and all below it, X of the node above given."""
        self._left -= 1
        if depth > _MOST_DEPTH or self._left < 0:
            raise ValueError(f"its nodes lie more than {_MOST_DEPTH} deep, or are used too often")
        X = above
        for child in node:
            if child.tag in _TRANSFORMS:
                X = X @ _TRANSFORMS[child.tag](_floats(child))
        for child in node:
            url = child.get("url", "").lstrip("#")
            if child.tag == "instance_geometry":
                self._place(url, X)
            elif child.tag == "instance_controller":
                skin = self._by_id[url].find("skin")
                self._place(skin.get("source", "").lstrip("#") if skin is not None else "", X)
            elif child.tag == "instance_node":
                self._walk(self._by_id[url], X, depth + 1)
            elif child.tag == "node":
                self._walk(child, X, depth + 1)

    def _place(self, geometry: str, X: Float) -> None:
        """Add a geometry where a node puts it."""
        if geometry not in self._made:
            self._made[geometry] = self._geometry(self._by_id[geometry])
        for vertices, faces in self._made[geometry]:
            self._left -= len(faces)
            if self._left < 0:
                raise ValueError("its geometry is used too often: it must have a triangle a byte at the most")
            turned = faces if np.linalg.det(X[:3, :3]) >= 0 else faces[:, ::-1]
            used, flat = np.unique(turned, return_inverse=True)
            self._vertices.append(vertices[used] @ X[:3, :3].T + X[:3, 3])
            self._faces.append(flat.reshape(-1, 3) + self._count)
            self._count += len(used)

    def _geometry(self, geometry: ElementTree.Element) -> list[_Triangles]:
        found = []
        for kind, triangles_of in _PRIMITIVES.items():
            for primitive in geometry.findall(f"mesh/{kind}"):
                inputs = primitive.findall("input")
                stride = 1 + max(int(one.get("offset", 0)) for one in inputs)
                corner = next(one for one in inputs if one.get("semantic") == "VERTEX")
                vertices = self._positions(corner.get("source", "").lstrip("#"))
                corners = [
                    np.array((p.text or "").split(), np.int64).reshape(-1, stride)[:, int(corner.get("offset", 0))]
                    for p in primitive.findall("p")
                ]
                faces = triangles_of(corners, primitive)
                if faces.size and (faces.min() < 0 or faces.max() >= len(vertices)):
                    raise ValueError(f"a face has vertex {faces.max()} of {len(vertices)}")
                if faces.size:
                    found.append((vertices, faces))
        return found

    def _positions(self, vertices: str) -> Float:
        """Places of the vertices of a geometry, (n, 3)."""
        inputs = self._by_id[vertices].findall("input")
        source = next(one for one in inputs if one.get("semantic") == "POSITION").get("source", "").lstrip("#")
        numbers = self._by_id[source].find("float_array")
        if numbers is None:
            raise ValueError(f"source {source!r} has no numbers")
        accessor = self._by_id[source].find("technique_common/accessor")
        stride = 3 if accessor is None else int(accessor.get("stride", 3))
        places = _floats(numbers).reshape(-1, stride)[:, :3]
        if not np.isfinite(places).all():
            raise ValueError("a vertex is not finite")
        return places


def _floats(element: ElementTree.Element) -> Float:
    return np.array((element.text or "").split(), np.float64)


def _rotation(numbers: Float) -> Float:
    """A turn by an angle [deg] about an axis (Rodrigues' formula)."""
    axis, angle = numbers[:3] / np.linalg.norm(numbers[:3]), np.radians(numbers[3])
    K = np.array([[0, -axis[2], axis[1]], [axis[2], 0, -axis[0]], [-axis[1], axis[0], 0]])
    out = np.eye(4)
    out[:3, :3] += np.sin(angle) * K + (1.0 - np.cos(angle)) * K @ K
    return out


def _translation(numbers: Float) -> Float:
    out = np.eye(4)
    out[:3, 3] = numbers[:3]
    return out


_TRANSFORMS: dict[str, Any] = {
    "matrix": lambda numbers: numbers.reshape(4, 4),
    "translate": _translation,
    "rotate": _rotation,
    "scale": lambda numbers: np.diag([*numbers[:3], 1.0]),
}


def _fans(corners: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    """Polygons as fans of triangles about their first corner."""
    parts = [np.stack([np.full(len(one) - 2, one[0]), one[1:-1], one[2:]], axis=-1) for one in corners if len(one) >= 3]
    return np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)


def _polylist(corners: list[NDArray[np.int64]], primitive: ElementTree.Element) -> NDArray[np.int64]:
    counts = primitive.find("vcount")
    ends = np.cumsum(np.array("" if counts is None else (counts.text or "").split() or [], np.int64))
    if not corners or not len(ends):
        return np.zeros((0, 3), np.int64)
    return _fans(np.split(corners[0], ends[:-1]))


def _strips(corners: list[NDArray[np.int64]], _: ElementTree.Element) -> NDArray[np.int64]:
    parts = []
    for one in corners:
        faces = np.stack([one[:-2], one[1:-1], one[2:]], axis=-1)
        faces[1::2] = faces[1::2, [1, 0, 2]]
        parts.append(faces)
    return np.concatenate(parts) if parts else np.zeros((0, 3), np.int64)


_PRIMITIVES: dict[str, Any] = {
    "triangles": lambda corners, _: np.concatenate([one.reshape(-1, 3) for one in corners] or [np.zeros((0, 3), int)]),
    "polylist": _polylist,
    "polygons": lambda corners, _: _fans(corners),
    "trifans": lambda corners, _: _fans(corners),
    "tristrips": _strips,
}
