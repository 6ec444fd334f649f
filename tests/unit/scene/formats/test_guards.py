import base64
import copy
import json
import os
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sensorium.core.errors import SceneError
from sensorium.scene.formats import loading
from sensorium.scene.formats.guards import read_reference
from sensorium.scene.mesh import Mesh

POSITIONS = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0]], dtype="<f4")
INDICES = np.array([0, 1, 2], dtype="<u2")
BLOB = POSITIONS.tobytes() + INDICES.tobytes()
GLTF = {
    "asset": {"version": "2.0"},
    "scene": 0,
    "scenes": [{"nodes": [0]}],
    "nodes": [{"mesh": 0}],
    "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
    "buffers": [
        {
            "byteLength": len(BLOB),
            "uri": "data:application/octet-stream;base64," + base64.b64encode(BLOB).decode(),
        }
    ],
    "bufferViews": [
        {"buffer": 0, "byteOffset": 0, "byteLength": 36},
        {"buffer": 0, "byteOffset": 36, "byteLength": 6},
    ],
    "accessors": [
        {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
        {"bufferView": 1, "componentType": 5123, "count": 3, "type": "SCALAR"},
    ],
}


def write_gltf(folder: Path, **changes: object) -> Path:
    (folder / "m.gltf").write_text(json.dumps({**copy.deepcopy(GLTF), **changes}))
    return folder / "m.gltf"


def test_gltf_with_inline_and_outer_buffers(tmp_path: Path) -> None:
    assert np.array_equal(Mesh.load(write_gltf(tmp_path)).vertices, POSITIONS)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "b.bin").write_bytes(BLOB)
    outer = [{"byteLength": len(BLOB), "uri": "data/b.bin"}]
    assert np.array_equal(Mesh.load(write_gltf(tmp_path, buffers=outer)).vertices, POSITIONS)


@pytest.mark.parametrize(
    ("uri", "match"),
    [
        ("../b.bin", "leaves its folder"),
        ("data/../../b.bin", "leaves its folder"),
        ("%2e%2e/b.bin", "leaves its folder"),
        ("/etc/hostname", "leaves its folder"),
        ("..\\b.bin", "leaves its folder"),
        ("file:///etc/hostname", "must be files in its folder"),
        ("http://127.0.0.1/b.bin", "must be files in its folder"),
        ("//127.0.0.1/b.bin", "must be files in its folder"),
        ("b\0.bin", "no file name"),
        (7, "a uri must be a string"),
    ],
)
def test_gltf_references_stay_inside_the_folder(tmp_path: Path, uri: object, match: str) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "b.bin").write_bytes(BLOB)
    path = write_gltf(inside, buffers=[{"byteLength": len(BLOB), "uri": uri}])
    with pytest.raises(SceneError, match=rf"m\.gltf: .*{match}"):
        Mesh.load(path)
    with pytest.raises(SceneError, match=rf"m\.gltf: .*{match}"):
        Mesh.load(write_gltf(inside, images=[{"uri": uri}]))
    assert np.array_equal(Mesh.load(write_gltf(inside, images=[{"uri": uri}]), paint=False).vertices, POSITIONS)


def test_gltf_buffer_through_a_link_out_of_the_folder_is_refused(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "b.bin").write_bytes(BLOB)
    (inside / "b.bin").symlink_to(tmp_path / "b.bin")
    with pytest.raises(SceneError, match="leaves its folder"):
        Mesh.load(write_gltf(inside, buffers=[{"byteLength": len(BLOB), "uri": "b.bin"}]))


def edited(*keys: object, value: object) -> Callable[[dict], None]:
    def edit(tree: dict) -> None:
        item = tree
        for key in keys[:-1]:
            item = item[key]  # type: ignore[index]
        item[keys[-1]] = value  # type: ignore[index]

    return edit


@pytest.mark.parametrize(
    ("edit", "match"),
    [
        (edited("buffers", 0, "byteLength", value=10**12), "its buffers claim 1000000000000 bytes; the most is"),
        (edited("buffers", 0, "byteLength", value=42.5), "byteLength 42.5; it must be a whole number"),
        (
            edited("buffers", 0, value={"byteLength": 42, "uri": "gone.bin"}),
            "buffer 0 is in 'gone.bin', which is not there",
        ),
        (edited("buffers", 0, value={"byteLength": 4}), "neither a uri nor a binary chunk"),
        (edited("bufferViews", 0, "byteLength", value=50), "bufferView 0 reaches beyond"),
        (edited("bufferViews", 0, "buffer", value=1), "bufferView 0 uses number 1 of buffers; there are 1"),
        (edited("bufferViews", 0, "byteOffset", value=-4), "byteOffset -4"),
        (edited("accessors", 0, "count", value=4), "accessor 0 claims 4 items"),
        (edited("accessors", 0, "count", value=10**15), "accessor 0 claims 10{15} items"),
        (edited("bufferViews", 0, "byteStride", value=4), "accessor 0 claims 3 items"),
        (edited("accessors", 0, "bufferView", value=9), "accessor 0 uses number 9 of bufferViews; there are 2"),
        (edited("accessors", 0, "type", value="VEC9"), "unknown type"),
        (edited("accessors", 0, "sparse", value={}), "sparse accessor 0 has count None; it must be a whole number"),
        (edited("accessors", 1, value=None), "number 1 of accessors is 'None'; it must be an object"),
        (edited("accessors", 1, "componentType", value=5126), "accessor 1 claims 3 items, which reach beyond"),
        (edited("nodes", 0, "children", value=[0]), "nodes must form a tree"),
        (edited("nodes", 0, "children", value=[5]), "nodes must form a tree"),
        (edited("nodes", 0, "mesh", value=3), "a node uses number 3 of meshes; there are 1"),
        (edited("nodes", 0, "extensions", value={"EXT_mesh_gpu_instancing": {}}), "node 0 has instances with"),
        (edited("scenes", value=[]), "no scene"),
        (edited("scenes", 0, value={}), "no triangles"),
        (
            edited("extensionsRequired", value=["EXT_no_such"]),
            "requires the extension EXT_no_such, which is not supported",
        ),
        (edited("extensionsRequired", value=["EXT_meshopt_compression"]), "EXT_meshopt_compression, for which no main"),
        (edited("nodes", 0, "translation", value=[float("nan"), 0.0, 0.0]), "vertex 0 is .*nan"),
    ],
)
def test_gltf_claims_are_checked(tmp_path: Path, edit: Callable[[dict], None], match: str) -> None:
    tree = copy.deepcopy(GLTF)
    tree["accessors"].append({"bufferView": 0, "componentType": 5126, "count": 1, "type": "SCALAR"})
    edit(tree)
    path = tmp_path / "m.gltf"
    path.write_text(json.dumps(tree))
    with pytest.raises(SceneError, match=rf"m\.gltf: .*{match}"):
        Mesh.load(path)


def test_gltf_without_data_may_not_unpack_beyond_the_limit(tmp_path: Path) -> None:
    tree = copy.deepcopy(GLTF)
    tree["accessors"].append({"componentType": 5126, "count": 10**12, "type": "VEC3"})
    tree["meshes"][0]["primitives"][0]["attributes"]["POSITION"] = 2
    with pytest.raises(SceneError, match=r"unpack to 12\d+ bytes"):
        Mesh.load(write_gltf(tmp_path, **tree))


def test_gltf_nodes_may_not_multiply_a_mesh_beyond_the_limit(tmp_path: Path) -> None:
    nodes = [{"mesh": 0} for _ in range(200)]
    path = write_gltf(tmp_path, nodes=nodes, scenes=[{"nodes": list(range(200))}])
    assert len(Mesh.load(path).faces) == 200
    with pytest.raises(SceneError, match="unpacks to 200 triangles; at most 119"):
        loading.load_mesh(path, max_bytes=10_000)


def test_gltf_optional_looks_are_passed_over(tmp_path: Path) -> None:
    path = write_gltf(
        tmp_path, extensionsRequired=["KHR_materials_unlit"], images=[{"uri": "no_such.png"}]
    )  # of no face
    assert len(Mesh.load(path).faces) == 1


def glb(tree: bytes, blob: bytes = BLOB, *, magic: bytes = b"glTF", version: int = 2, extra: int = 0) -> bytes:
    tree += b" " * (-len(tree) % 4)
    blob += b"\0" * (-len(blob) % 4)
    body = struct.pack("<2I", len(tree), 0x4E4F534A) + tree + struct.pack("<2I", len(blob), 0x004E4942) + blob
    return magic + struct.pack("<2I", version, 12 + len(body) + extra) + body


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"magic": b"gLTF"}, "begins with b'gLTF'"),
        ({"version": 1}, "GLB version 1"),
        ({"extra": 1000}, "claims 1\\d+ bytes; there are"),
        ({"blob": b"\0" * 8}, "buffer 0 claims 42 bytes; there are 8"),
    ],
)
def test_glb_frames_are_checked(tmp_path: Path, options: dict, match: str) -> None:
    tree = json.dumps({**GLTF, "buffers": [{"byteLength": len(BLOB)}]}).encode()
    path = tmp_path / "m.glb"
    path.write_bytes(glb(tree))
    assert len(Mesh.load(path).faces) == 1
    path.write_bytes(glb(tree, **options))
    with pytest.raises(SceneError, match=match):
        Mesh.load(path)


def test_json_nested_without_end_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.gltf").write_text("[" * 100_000)
    with pytest.raises(SceneError, match=r"cannot be read as \.gltf"):
        Mesh.load(tmp_path / "m.gltf")


@pytest.mark.parametrize("size", [50, 84, 134])
def test_stl_that_claims_a_billion_triangles_is_refused(tmp_path: Path, size: int) -> None:
    head = b"\0" * 80 + struct.pack("<I", 10**9)
    (tmp_path / "m.stl").write_bytes(head.ljust(size, b"\0")[:size])
    with pytest.raises(SceneError, match=r"at least 84|claims 1000000000 triangles .* they take 50000000084"):
        Mesh.load(tmp_path / "m.stl")


def test_stl_without_triangles_is_refused(tmp_path: Path) -> None:
    (tmp_path / "m.stl").write_bytes(b"\0" * 84)
    with pytest.raises(SceneError, match="at least one face"):
        Mesh.load(tmp_path / "m.stl")


def test_only_regular_files_are_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "b.bin")
    with pytest.raises(SceneError, match="a pipe, a socket or a device"):
        read_reference(tmp_path / "b.bin", 100)
    with pytest.raises(SceneError, match="a pipe, a socket or a device"):
        Mesh.load(write_gltf(tmp_path, buffers=[{"byteLength": 42, "uri": "b.bin"}]))
    (tmp_path / "c.bin").write_bytes(bytes(100))
    assert read_reference(tmp_path / "c.bin", 100) == bytes(100)
    with pytest.raises(SceneError, match=r"'c\.bin', which has more than 99 bytes"):
        read_reference(tmp_path / "c.bin", 99)
