"""Mesh files of every format, images in them included."""

import base64
import functools
import io
import json
import struct
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fuzz.reader import Reader, must_be_finite
from sensorium.core.errors import SceneError
from sensorium.scene import shapes
from sensorium.scene.formats.loading import load_mesh

# Far more than any of these files needs; what they claim must be measured by it
_MAX_BYTES = 1 << 26

# A box has eight corners, of which each face needs its own for text and STL alike
_BOX = shapes.box(2.0, 1.0, 0.5)

_SCENE = ("sensorium.scene.formats.loading", "sensorium.scene.mesh")
_TEXT = (*_SCENE, "sensorium.scene.formats.text_formats", "sensorium.scene.formats.guards")
_GLTF = (
    *_SCENE,
    "sensorium.scene.formats.guards",
    "sensorium.scene.formats.textures",
    "sensorium.scene.alpha_mask",
    *(f"sensorium.scene.formats.gltf.{name}" for name in ("accessors", "container", "images", "materials", "nodes")),
    *(f"sensorium.scene.formats.gltf.{name}" for name in ("primitives", "reading")),
)


def _read(path: Path) -> None:
    mesh = load_mesh(path, max_bytes=_MAX_BYTES)
    must_be_finite(vertices=mesh.vertices, bounds=mesh.bounds, radius=mesh.radius)
    for name in ("color", "uv"):
        if name in mesh.vertex_properties:
            must_be_finite(**{name: mesh.vertex_properties[name]})
    assert mesh.faces.min() >= 0
    assert mesh.faces.max() < len(mesh.vertices)


def _reader(name: str, seeds: Any, modules: tuple[str, ...], words: tuple[bytes, ...] = (), **more: Any) -> Reader:
    suffix = more.pop("suffix", f".{name}")
    return Reader(f"mesh-{name}", suffix, _read, (SceneError,), seeds, modules, words=words, **more)


# Text


def _obj(folder: Path) -> list[bytes]:
    lines = [
        "mtllib box.mtl",
        "o box",
        *("v {} {} {}".format(*v) for v in _BOX.vertices.tolist()),
        "vn 0 0 1",
        "vt 0 1",
    ]
    lines += [f"f {a + 1} {b + 1}/1/1 {c + 1}//1" for a, b, c in _BOX.faces.tolist()]
    colored = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 1 1 0 0 0 1\nv 0 1 0 1 1 1\nf -4 -3 -2 \\\n -1\n"
    return ["\n".join(lines).encode(), colored.encode()]


def _off(folder: Path) -> list[bytes]:
    plain = [f"OFF\n{len(_BOX.vertices)} {len(_BOX.faces)} 0", *("{} {} {}".format(*v) for v in _BOX.vertices.tolist())]
    plain += [f"3 {a} {b} {c}" for a, b, c in _BOX.faces.tolist()]
    return ["\n".join(plain).encode(), b"COFF 3 1 0\n0 0 0 255 0 0\n1 0 0 0 255 0 9\n0 1 0 0 0 255\n3 0 1 2 # c\n"]


def _stl_text(folder: Path) -> list[bytes]:
    facets = [
        "facet normal 0 0 1\nouter loop\n" + "".join("vertex {} {} {}\n".format(*_BOX.vertices[i]) for i in face)
        for face in _BOX.faces[:4]
    ]
    return [("solid box\n" + "".join(f"{facet}endloop\nendfacet\n" for facet in facets) + "endsolid box\n").encode()]


# Binary


def _stl(folder: Path) -> list[bytes]:
    rows = np.zeros(len(_BOX.faces), np.dtype([("n", "<f4", 3), ("v", "<f4", (3, 3)), ("a", "<u2")]))
    rows["v"] = _BOX.vertices[_BOX.faces]
    return [bytes(80) + struct.pack("<I", len(rows)) + rows.tobytes()]


def _ply(folder: Path) -> list[bytes]:
    head = "ply\nformat {} 1.0\ncomment a box\nelement vertex {}\n{}element face {}\n"
    head += "property list uchar int vertex_indices\nend_header\n"
    xyz = "".join(f"property double {axis}\n" for axis in "xyz")
    color = "".join(f"property uchar {name}\n" for name in ("red", "green", "blue"))
    rows = np.zeros(8, np.dtype([("p", "<f8", 3), ("c", "u1", 3)]))
    rows["p"] = _BOX.vertices[:8] if len(_BOX.vertices) >= 8 else np.resize(_BOX.vertices, (8, 3))
    faces = np.zeros(2, np.dtype([("n", "u1"), ("i", "<i4", 4)]))
    faces["n"], faces["i"] = 4, ((0, 1, 2, 3), (4, 5, 6, 7))
    binary = head.format("binary_little_endian", 8, xyz + color, 2).encode() + rows.tobytes() + faces.tobytes()
    mixed = head.format("ascii", 4, xyz, 2) + "0 0 0\n1 0 0\n1 1 0\n0 1 0\n3 0 1 2\n4 0 1 2 3\n"
    return [binary, mixed.encode()]


def _gltf_tree(image: bytes | None = None) -> tuple[dict[str, Any], bytes]:
    """A square with texture coordinates under two nodes, and its buffer; a color paints it, or an image."""
    positions = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]], "<f4")
    uv = positions[:, :2].copy()
    corners = np.array([0, 1, 2, 0, 2, 3], "<u2")
    pieces = [positions.tobytes(), uv.tobytes(), corners.tobytes()]
    tree: dict[str, Any] = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [{"children": [1], "translation": [1, 2, 3]}, {"mesh": 0, "scale": [1, 1, -1]}],
        "meshes": [
            {"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "indices": 2, "mode": 4, "material": 0}]}
        ],
        "materials": [{"name": "paint", "pbrMetallicRoughness": {"baseColorFactor": [0.5, 0.25, 0.01, 1]}}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "VEC3", "min": [0, 0, 0], "max": [1, 1, 0]},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC2"},
            {"bufferView": 2, "componentType": 5123, "count": 6, "type": "SCALAR"},
        ],
    }
    if image is not None:
        pieces.append(image)
        tree["images"] = [{"bufferView": 3, "mimeType": "image/png"}]
        tree["textures"] = [{"source": 0}]
        tree["materials"][0]["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}
    ends = np.cumsum([len(piece) for piece in pieces])
    tree["bufferViews"] = [
        {"buffer": 0, "byteOffset": int(end) - len(piece), "byteLength": len(piece)}
        for end, piece in zip(ends, pieces, strict=True)
    ]
    body = b"".join(pieces)
    body += bytes(-len(body) % 4)
    tree["buffers"] = [{"byteLength": len(body)}]
    return tree, body


def _as_glb(tree: bytes, body: bytes) -> bytes:
    tree += b" " * (-len(tree) % 4)
    length = 12 + 8 + len(tree) + 8 + len(body)
    head = struct.pack("<4sII", b"glTF", 2, length)
    return head + struct.pack("<I4s", len(tree), b"JSON") + tree + struct.pack("<I4s", len(body), b"BIN\0") + body


def _as_gltf(image: bytes | None = None) -> bytes:
    tree, body = _gltf_tree(image)
    tree["buffers"][0]["uri"] = "data:application/octet-stream;base64," + base64.b64encode(body).decode()
    return json.dumps(tree).encode()


def _glb(folder: Path) -> list[bytes]:
    made = []
    for image in (None, _images(folder)[0]):
        tree, body = _gltf_tree(image)
        made.append(_as_glb(json.dumps(tree).encode(), body))
    return made


def _gltf(folder: Path) -> list[bytes]:
    return [_as_gltf(), _as_gltf(_images(folder)[0])]


def _images(folder: Path) -> list[bytes]:
    from PIL import Image

    pixels: NDArray[np.uint8] = (np.arange(6 * 5 * 3) * 7 % 256).astype(np.uint8).reshape(6, 5, 3)
    made = []
    for form in ("PNG", "JPEG", "WEBP"):
        file = io.BytesIO()
        Image.fromarray(pixels).save(file, form)
        made.append(file.getvalue())
    return made


def _painted(image: bytes) -> bytes:
    """A whole GLB around the bytes of an image."""
    tree, body = _gltf_tree(image)
    return _as_glb(json.dumps(tree).encode(), body)


@functools.cache
def _body() -> bytes:
    return _gltf_tree()[1]


def _with_body(tree: bytes) -> bytes:
    """A GLB around the bytes of its JSON."""
    return _as_glb(tree, _body())


def _npz(folder: Path) -> list[bytes]:
    made = []
    for save in (np.savez, np.savez_compressed):
        file = io.BytesIO()
        save(file, vertices=_BOX.vertices, faces=_BOX.faces, face_label=np.full(len(_BOX.faces), "box"))
        made.append(file.getvalue())
    return made


def _npy(folder: Path) -> list[bytes]:
    made = []
    for array in (_BOX.vertices, _BOX.vertices.astype(">f4"), np.asfortranarray(_BOX.vertices)):
        file = io.BytesIO()
        np.lib.format.write_array(file, array)
        made.append(file.getvalue())
    return made


def _archived(vertices: bytes) -> bytes:
    """An archive around the bytes of its vertices, with the checksums they need."""
    faces, file = io.BytesIO(), io.BytesIO()
    np.lib.format.write_array(faces, _BOX.faces)
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("vertices.npy", vertices)
        archive.writestr("faces.npy", faces.getvalue())
    return file.getvalue()


_GLTF_WORDS = tuple(
    f'"{word}"'.encode()
    for word in (
        *("buffer", "bufferView", "byteOffset", "byteLength", "byteStride", "componentType", "count", "type", "VEC3"),
        *("MAT4", "SCALAR", "nodes", "children", "matrix", "rotation", "scale", "translation", "mesh", "camera", "uri"),
        *(
            "sparse",
            "mode",
            "indices",
            "POSITION",
            "NORMAL",
            "COLOR_0",
            "TEXCOORD_0",
            "material",
            "baseColorFactor",
            "extensions",
            "scene",
        ),
        *("extensionsRequired", "targets", "weights", "skin", "baseColorFactor", "sampler", "normalized", "primitives"),
        *("KHR_draco_mesh_compression", "EXT_mesh_gpu_instancing", "KHR_texture_transform", "EXT_meshopt_compression"),
        *("KHR_mesh_quantization", "KHR_node_visibility", "visible", "TEXCOORD_1", "alphaMode", "MASK", "alphaCutoff"),
    )
)
_PLY_WORDS = tuple(
    word.encode()
    for word in (
        *("element vertex 4", "element face 99999999999", "property list uchar int vertex_indices", "property float x"),
        *(
            "property list double double y",
            "format ascii 1.0",
            "format binary_big_endian 1.0",
            "end_header\n",
            "comment ",
        ),
        *("property list char char z", "element x 1", "float", "double", "uint", "list", "alpha"),
    )
)
_OBJ_WORDS = (
    b"v ",
    b"f ",
    b"vn ",
    b"vt ",
    b"mtllib ",
    b"usemtl ",
    b"/",
    b"//",
    b"\\\n",
    b"f 1 2 3 4 5 6 7 8\n",
    b"l 1 2",
)
_STL_WORDS = (b"solid", b"endsolid", b"facet", b"endfacet", b"vertex", b"outer loop", b"endloop", b"vertex 0 0 0\n")
_NPY_WORDS = (
    b"'descr': ",
    b"'fortran_order': True",
    b"'shape': (8, 3)",
    b"'<f8'",
    b"'|O'",
    b"'<U9'",
    b"'>c16'",
    b"(0,)",
)

READERS = (
    _reader("obj", _obj, _TEXT, _OBJ_WORDS),
    _reader("off", _off, _TEXT, (b"OFF", b"COFF", b"3 0 1 2\n")),
    _reader("stl-text", _stl_text, _TEXT, _STL_WORDS, suffix=".stl"),
    _reader("stl", _stl, _TEXT),
    _reader("ply", _ply, (*_SCENE, "sensorium.scene.formats.ply_format"), _PLY_WORDS),
    _reader("glb", _glb, _GLTF, _GLTF_WORDS),
    _reader(
        "glb-json",
        lambda folder: [json.dumps(_gltf_tree()[0]).encode()],
        _GLTF,
        _GLTF_WORDS,
        suffix=".glb",
        packed=_with_body,
    ),
    _reader("gltf", _gltf, _GLTF, _GLTF_WORDS),
    _reader("gltf-image", _images, _GLTF, suffix=".glb", packed=_painted),
    _reader("npz", _npz, _SCENE),
    _reader("npz-array", _npy, (*_SCENE, "numpy.lib._format_impl"), _NPY_WORDS, suffix=".npz", packed=_archived),
)
