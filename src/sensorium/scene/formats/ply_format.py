"""A strict reader for PLY, text and binary, with polygons of any mixture.

Vertices come from x, y, z of the element "vertex", normals from its nx, ny, nz, colors from its red, green, blue (and
alpha), triangles from the element "face" and from the strips of "tristrips". Other properties are passed over.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.text_formats import MeshArrays

_TYPES = {
    **dict.fromkeys(("char", "int8"), "i1"),
    **dict.fromkeys(("uchar", "uint8"), "u1"),
    **dict.fromkeys(("short", "int16"), "i2"),
    **dict.fromkeys(("ushort", "uint16"), "u2"),
    **dict.fromkeys(("int", "int32"), "i4"),
    **dict.fromkeys(("uint", "uint32"), "u4"),
    **dict.fromkeys(("float", "float32"), "f4"),
    **dict.fromkeys(("double", "float64"), "f8"),
}
_ORDERS = {"ascii": "<", "binary_little_endian": "<", "binary_big_endian": ">"}
_INDEX_NAMES = ("vertex_indices", "vertex_index")

_MAX_INDEX = 2.0**31

# Columns of an element by property name: an array, or for lists of unequal length a list of arrays
Columns = dict[str, Any]


@dataclass
class _Property:
    """One property as the header declares it; `length` is the type of the count before a list, else None."""

    name: str
    kind: np.dtype[Any]
    length: np.dtype[Any] | None


@dataclass
class _Element:
    name: str
    count: int
    properties: list[_Property] = field(default_factory=list)


def read_ply(path: Path) -> MeshArrays:
    """Read vertices, colors and triangles; polygons become fans around their first vertex."""
    with path.open("rb") as file:
        elements, is_text = _read_header(file)
        data = file.read()

    # Text becomes a row of float64, which holds every PLY type exactly, so that one walk serves both
    color_full = {p.name: _full_scale(p.kind) for e in elements if e.name == "vertex" for p in e.properties}
    if is_text:
        data = np.array(data.split(), dtype="<f8").tobytes()
        wide = np.dtype("<f8")
        for element in elements:
            for prop in element.properties:
                prop.kind, prop.length = wide, None if prop.length is None else wide
    columns: dict[str, Columns] = {}
    offset = 0
    for element in elements:
        columns[element.name], offset = _read_items(element, data, offset)

    # Vertices, their colors, and faces
    vertex, face = columns.get("vertex", {}), columns.get("face", {})
    polygons = next((face[name] for name in _INDEX_NAMES if name in face), ())
    strips = next((columns["tristrips"][name] for name in _INDEX_NAMES if name in columns.get("tristrips", {})), ())
    faces = np.concatenate([_fans(polygons), _of_strips(strips)])
    if not all(axis in vertex for axis in "xyz") or len(faces) == 0:
        raise SceneError(
            "it has no triangles; it needs the elements vertex (x, y, z) and face or tristrips (vertex_indices)"
        )
    color = None
    if all(name in vertex for name in ("red", "green", "blue")):
        names = ("red", "green", "blue", "alpha")
        opaque = np.ones(len(vertex["red"]))
        color = np.stack([vertex[n] / color_full[n] if n in vertex else opaque for n in names], axis=-1)
    normal = None
    if all(name in vertex for name in ("nx", "ny", "nz")):
        normal = np.stack([vertex[name] for name in ("nx", "ny", "nz")], axis=-1).astype(np.float32)
        normal = normal if np.isfinite(normal).all() else None
    return MeshArrays(np.stack([vertex[axis] for axis in "xyz"], axis=-1), faces, color, normal=normal)


def _read_header(file: BinaryIO) -> tuple[list[_Element], bool]:
    """Elements in order, and whether the body is text."""
    if file.readline(10).strip() != b"ply":
        raise SceneError("it does not begin with 'ply'")
    words = file.readline(100).decode("ascii", errors="replace").split()
    if len(words) < 2 or words[0] != "format" or words[1] not in _ORDERS:
        raise SceneError(f"its second line is {' '.join(words)!r}; it must be 'format' and one of {list(_ORDERS)}")
    order, is_text = _ORDERS[words[1]], words[1] == "ascii"

    elements: list[_Element] = []
    for raw in iter(lambda: file.readline(10_000), b""):
        words = raw.decode("ascii", errors="replace").split()
        key = words[0] if words else ""
        if key == "end_header":
            return elements, is_text
        if key == "element" and len(words) == 3:
            if not words[2].isdecimal():
                raise SceneError(f"it claims {words[2]} items of {words[1]!r}; a count must be a whole number")
            elements.append(_Element(words[1], int(words[2])))
        elif key == "property" and len(words) in (3, 5) and elements:
            if unknown := [word for word in words[1:-1] if word not in _TYPES and word != "list"]:
                raise SceneError(f"it has a property of type {unknown[0]!r}; PLY has no such type")
            types = [np.dtype(order + _TYPES[word]) for word in words[1:-1] if word != "list"]
            elements[-1].properties.append(_Property(words[-1], types[-1], types[0] if len(types) == 2 else None))
        elif key not in ("comment", "obj_info", ""):
            raise SceneError(f"its header has the line {' '.join(words)[:60]!r}, which cannot stand there")
    raise SceneError("its header has no end")


def _read_items(element: _Element, data: bytes, offset: int) -> tuple[Columns, int]:
    """Columns of one element and the offset behind it."""
    if element.count == 0 or not element.properties:
        return {}, offset

    # Most files hold one kind of polygon: try the list lengths of the first item for all items
    lengths = {name: len(values) for name, values in _read_item(element, data, offset)[0].items() if values.ndim}
    fields: list[tuple[Any, ...]] = []
    for prop in element.properties:
        if prop.length is not None:
            fields += [(f"length of {prop.name}", prop.length), (prop.name, prop.kind, (lengths[prop.name],))]
        else:
            fields.append((prop.name, prop.kind))
    row = np.dtype(fields)
    end = offset + element.count * row.itemsize
    if end <= len(data):
        table = np.frombuffer(data, dtype=row, count=element.count, offset=offset)
        if all((table[f"length of {name}"] == length).all() for name, length in lengths.items()):
            return {p.name: table[p.name] for p in element.properties}, end
    if not lengths:
        raise _short(element)

    # Otherwise walk item by item
    columns: Columns = {prop.name: [] for prop in element.properties}
    for _ in range(element.count):
        item, offset = _read_item(element, data, offset)
        for name, values in item.items():
            columns[name].append(values)
    return columns, offset


def _read_item(element: _Element, data: bytes, offset: int) -> tuple[dict[str, NDArray[Any]], int]:
    """Values of one item, lists as arrays (k,) and others as arrays (), and the offset behind it."""
    item = {}
    for prop in element.properties:
        length = 1
        if prop.length is not None:
            if offset + prop.length.itemsize > len(data):
                raise _short(element)
            length = int(np.frombuffer(data, prop.length, 1, offset)[0])
            offset += prop.length.itemsize
        if length < 0 or offset + length * prop.kind.itemsize > len(data):
            raise _short(element)
        values = np.frombuffer(data, prop.kind, length, offset) if length else np.zeros(0, prop.kind)
        item[prop.name] = values if prop.length is not None else values[0:1].reshape(())
        offset += length * prop.kind.itemsize
    return item, offset


def _short(element: _Element) -> SceneError:
    return SceneError(f"it claims {element.count} items of {element.name!r}; it ends before the last of them")


def _full_scale(kind: np.dtype[Any]) -> float:
    """Value of full brightness: the largest integer, or 1."""
    return 1.0 if kind.kind == "f" else float(np.iinfo(kind).max)


def _fans(polygons: Any) -> NDArray[np.int64]:
    """Triangles (m, 3) of polygons: an array (n, k), or a list of arrays."""
    corners, length = _flat(polygons)
    if len(length) and length.min() < 3:
        raise SceneError(f"it has a face of {length.min()} vertices; it needs at least 3")

    # Triangle k of a polygon has its first corner and its corners k + 1 and k + 2
    begin, count = np.cumsum(length) - length, length - 2
    first = np.repeat(begin, count)
    k = np.arange(len(first)) - np.repeat(np.cumsum(count) - count, count)
    return np.stack([corners[first], corners[first + k + 1], corners[first + k + 2]], axis=-1)


def _of_strips(strips: Any) -> NDArray[np.int64]:
    """Triangles (m, 3) of strips that -1 ends: each vertex from the third on makes one with the two before it.

    Every other triangle of a strip is turned over, so that all face the same way; those of no area, by which strips are
    joined, are left out.
    """
    corners, length = _flat(strips)
    strip = np.insert(corners, np.cumsum(length), -1)  # one after the other
    three = np.stack([strip[:-2], strip[1:-1], strip[2:]], axis=-1)
    ends, number = np.flatnonzero(strip == -1), np.arange(len(three))
    place = number - np.append(-1, ends)[np.searchsorted(ends, number)] - 1
    turned = place % 2 == 1
    three[turned] = three[turned][:, [1, 0, 2]]
    first, second, third = three.T
    return three[(three != -1).all(axis=1) & (first != second) & (second != third) & (third != first)]


def _flat(lists: Any) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Vertex indices of lists, one after the other, and the length of each; lists are an array (n, k) or arrays."""
    if isinstance(lists, np.ndarray):
        if lists.ndim != 2:
            raise SceneError("its vertex_indices are single numbers; they must be lists")
        length, group = np.full(len(lists), lists.shape[1]), lists.reshape(-1)
    else:
        length = np.array([len(each) for each in lists], np.int64)
        group = np.concatenate([np.zeros(0), *lists]) if len(lists) else np.zeros(0)
    if not ((np.abs(group) < _MAX_INDEX) & (group == np.floor(group))).all():
        raise SceneError("it has a vertex index that is no whole number below 2**31")
    return group.astype(np.int64), length
