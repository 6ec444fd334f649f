"""Mesh files made to exhaust a machine: arrays without data, images of a few bytes, chains, and repeated mentions."""

import base64
import json
import os
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.hostile import Hostile

_TRIANGLE = struct.pack("<9f", 0, 0, 0, 1, 0, 0, 0, 1, 0) + struct.pack("<6f", 0, 0, 1, 0, 0, 1)
_IMAGE_BYTES = 1 << 28


def _read(path: Path) -> None:
    import warnings

    from sensorium.core.errors import SceneWarning
    from sensorium.scene.formats.loading import load_mesh

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SceneWarning)
        load_mesh(path)


def _tree(**changes: Any) -> dict[str, Any]:
    """A triangle with texture coordinates."""
    return {
        "asset": {"version": "2.0"},
        "scenes": [{"nodes": [0]}],
        "nodes": [{"mesh": 0}],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0, "TEXCOORD_0": 1}, "material": 0}]}],
        "materials": [{"pbrMetallicRoughness": {"baseColorTexture": {"index": 0}}}],
        "textures": [{"source": 0}],
        "images": [{"uri": "data:image/png;base64," + base64.b64encode(_png(1, 1)).decode()}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3"},
            {"bufferView": 0, "byteOffset": 36, "componentType": 5126, "count": 3, "type": "VEC2"},
        ],
        "bufferViews": [{"buffer": 0, "byteLength": len(_TRIANGLE)}],
        "buffers": [
            {
                "byteLength": len(_TRIANGLE),
                "uri": "data:application/octet-stream;base64," + base64.b64encode(_TRIANGLE).decode(),
            }
        ],
        **changes,
    }


def _gltf(**changes: Any) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        (folder / "m.gltf").write_text(json.dumps(_tree(**changes)))
        return folder / "m.gltf"

    return make


def _png(width: int, height: int, bits: int = 1) -> bytes:
    """A black PNG of 1 bit a pixel, or of 8 bits of gray."""
    row = bytes(1 + (width * bits + 7) // 8)
    packer = zlib.compressobj(9)
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    chunks = ((b"IHDR", struct.pack(">IIBBBBB", width, height, bits, 0, 0, 0, 0)), (b"IDAT", data), (b"IEND", b""))
    parts = (struct.pack(">I", len(d)) + name + d + struct.pack(">I", zlib.crc32(name + d)) for name, d in chunks)
    return b"\x89PNG\r\n\x1a\n" + b"".join(parts)


def _with_image(*images: bytes, mask: bool = False) -> Callable[[Path], Path]:
    """Every image is asked for by a triangle of its own."""

    def make(folder: Path) -> Path:
        for number, data in enumerate(images):
            (folder / f"{number}.png").write_bytes(data)
        attributes = {"POSITION": 0, "TEXCOORD_0": 1}
        count = range(len(images))
        paint = [{"pbrMetallicRoughness": {"baseColorTexture": {"index": k}}} for k in count]
        return _gltf(
            meshes=[{"primitives": [{"attributes": attributes, "material": k} for k in count]}],
            materials=[{**each, "alphaMode": "MASK"} for each in paint] if mask else paint,
            textures=[{"source": k} for k in count],
            images=[{"uri": f"{k}.png"} for k in count],
        )(folder)

    return make


def _checkered_masks(folder: Path) -> Path:
    """Every texel has another alpha than its neighbors, on a hundred faces that repeat the image a thousand times."""
    import io

    import numpy as np
    from PIL import Image

    pixels = np.zeros((512, 512, 4), np.uint8)
    pixels[..., 3] = 255 * (np.indices((512, 512)).sum(axis=0) % 2)
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "PNG")
    moved = {"KHR_texture_transform": {"scale": [1000, 1000]}}
    path = _with_image(*[data.getvalue()] * 100, mask=True)(folder)
    tree = json.loads(path.read_text())
    for material in tree["materials"]:
        material["pbrMetallicRoughness"]["baseColorTexture"]["extensions"] = moved
    path.write_text(json.dumps(tree))
    return path


def _pipe_image(folder: Path) -> Path:
    os.mkfifo(folder / "pipe.png")
    return _gltf(images=[{"uri": "pipe.png"}])(folder)


def _device_buffer(folder: Path) -> Path:
    (folder / "zero.bin").symlink_to("/dev/zero")
    return _gltf(buffers=[{"byteLength": 60, "uri": "zero.bin"}])(folder)


def _chain(folder: Path) -> Path:
    nodes: list[dict[str, Any]] = [{"children": [k + 1], "translation": [0, 0, 1]} for k in range(50_000)]
    return _gltf(nodes=[*nodes, {"mesh": 0}])(folder)


def _empty_strips(folder: Path) -> Path:
    """A strip of no vertices a byte, behind one of a vertex."""
    head = "ply\nformat binary_little_endian 1.0\nelement vertex 1\n"
    head += "".join(f"property float {axis}\n" for axis in "xyz")
    head += "element tristrips 1000000\nproperty list uchar int vertex_indices\nend_header\n"
    (folder / "m.ply").write_bytes(head.encode() + bytes(12) + b"\x01" + bytes(4) + bytes(999_999))
    return folder / "m.ply"


def _repeated_material_file(folder: Path) -> Path:
    (folder / "m.mtl").write_text("".join(f"newmtl m{k}\nKd 1 1 1\n" for k in range(20_000)))
    (folder / "m.obj").write_text("mtllib m.mtl\n" * 20_000 + "v 0 0 0\nv 1 0 0\nv 0 1 0\nusemtl m1\nf 1 2 3\n")
    return folder / "m.obj"


def _shared_array(folder: Path) -> Path:
    """10,000 primitives of one triangle each on one array of 60,000 vertices."""
    points = bytes(12 * 60_000)
    corners = struct.pack("<3I", 0, 1, 2)
    body = points + corners
    (folder / "b.bin").write_bytes(body)
    return _gltf(
        buffers=[{"byteLength": len(body), "uri": "b.bin"}],
        bufferViews=[
            {"buffer": 0, "byteLength": len(points)},
            {"buffer": 0, "byteOffset": len(points), "byteLength": 12},
        ],
        accessors=[
            {"bufferView": 0, "componentType": 5126, "count": 60_000, "type": "VEC3"},
            {"bufferView": 1, "componentType": 5125, "count": 3, "type": "SCALAR"},
        ],
        meshes=[{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}] * 10_000}],
    )(folder)


_HUGE = [{"componentType": 5126, "count": 10**8, "type": "VEC3"}] * 2
_UNPACK = "unpack to .* bytes; the most for a file of"
_PIXELS = "pixels; unpacked, all up to it take"

MESHES: tuple[Hostile, ...] = (
    Hostile("gltf-no-view", _gltf(accessors=_HUGE), _read, _UNPACK),
    Hostile(
        "gltf-no-view-instances",
        _gltf(
            nodes=[{"mesh": 0, "extensions": {"EXT_mesh_gpu_instancing": {"attributes": {"TRANSLATION": 2}}}}],
            accessors=[*_tree()["accessors"], {"componentType": 5126, "count": 5_000_000, "type": "VEC3"}],
        ),
        _read,
        "node 0 has 5000000 instances",
        1 << 28,
    ),
    Hostile(
        "gltf-nodes-show-again",
        _gltf(
            nodes=[{"mesh": 0} for _ in range(3000)],
            scenes=[{"nodes": list(range(3000))}],
            meshes=[{"primitives": [{"attributes": {"POSITION": 0}}] * 3000}],
        ),
        _read,
        "it unpacks to 9000000 triangles",
    ),
    Hostile("gltf-node-chain", _chain, _read, "", 1 << 28, cpu_us_a_byte=10.0),
    Hostile("gltf-shared-array", _shared_array, _read, "", 1 << 27),
    Hostile("gltf-one-bit-image", _with_image(_png(8000, 8000)), _read, _PIXELS),
    Hostile("gltf-many-images", _with_image(*[_png(3000, 3000)] * 20), _read, _PIXELS, _IMAGE_BYTES),
    Hostile("gltf-checkered-masks", _checkered_masks, _read, "", 1 << 29, cpu_s=20.0),
    Hostile("gltf-pipe-image", _pipe_image, _read, "which is a pipe, a socket or a device"),
    Hostile("gltf-device-buffer", _device_buffer, _read, "leaves its folder"),
    Hostile("ply-empty-strips", _empty_strips, _read, "no triangles", 1 << 28),
    Hostile("obj-mtllib-again", _repeated_material_file, _read, ""),
)
