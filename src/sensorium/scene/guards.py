"""What a binary mesh file claims, checked before a reader believes it.

Readers trust headers: a short STL gives an empty mesh, a few bytes may ask for terabytes, a reference may
lead out of the folder. Each guard looks at one format, raises SceneError with the rule that was broken, and
returns how many triangles an honest reader must find, as (least, most).
"""

import json
import struct
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sensorium.errors import SceneError
from sensorium.scene.gltf_images import check_images, inline_data
from sensorium.scene.textures import PaintError

Triangles = tuple[int, int]

_GLTF_COMPONENT_BYTES = {5120: 1, 5121: 1, 5122: 2, 5123: 2, 5125: 4, 5126: 4}
_GLTF_TYPE_WIDTH = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT2": 4, "MAT3": 9, "MAT4": 16}
_GLTF_FLOAT = 5126
_GLB_JSON, _GLB_BINARY = 0x4E4F534A, 0x004E4942
_GLTF_STRIP, _GLTF_FAN, _GLTF_TRIANGLES = 5, 6, 4

# Extensions that change looks only; any other that a file requires could change its shape
_GLTF_LOOKS = ("KHR_materials_", "KHR_texture_", "EXT_texture_", "KHR_lights_", "MSFT_texture_")


def is_text_stl(path: Path) -> bool:
    """Tell text from binary STL; some binary files begin with "solid" too, so the exact size decides."""
    with path.open("rb") as file:
        head = file.read(84)
    size = path.stat().st_size
    if len(head) == 84 and size == _stl_size(head):
        return False
    return head.lstrip().lower().startswith(b"solid")


def check_stl(path: Path) -> Triangles:
    """Binary STL: 84 bytes and 50 for each triangle, no more and no less."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(84)
    if len(head) < 84:
        raise SceneError(f"it has {size} bytes; a binary STL has at least 84")
    if size != _stl_size(head):
        count = (_stl_size(head) - 84) // 50
        raise SceneError(f"it claims {count} triangles in {size} bytes; they take {_stl_size(head)}")
    count = (size - 84) // 50
    return count, count


def check_gltf(path: Path, *, max_bytes: int, images: bool = True) -> Triangles:
    """GLB and glTF: references inside the folder, arrays inside their buffers, nodes in a tree; and images, if read."""
    tree, chunk = _glb_chunks(path) if path.suffix.lower() == ".glb" else (path.read_bytes(), None)
    header = json.loads(tree.decode("utf-8"))
    if not isinstance(header, dict):
        raise SceneError("its JSON is not an object")
    for extension in header.get("extensionsRequired", []):
        if not str(extension).startswith(_GLTF_LOOKS):
            raise SceneError(f"it requires the extension {extension}, which is not supported")

    # Buffers: what they hold must be there; neither they nor images may point outside
    if images:
        _check_image_places(header, path.parent)
    sizes = []
    for k, buffer in enumerate(header.get("buffers", [])):
        claimed = _whole(buffer, "byteLength", f"buffer {k}")
        if k == 0 and chunk is not None and "uri" in buffer:
            raise SceneError("buffer 0 has a uri and a binary chunk; it must have one of them")
        if "uri" in buffer:
            held = _check_uri(buffer["uri"], path.parent)
        elif chunk is not None and k == 0:
            held = len(chunk)
        else:
            raise SceneError(f"buffer {k} has neither a uri nor a binary chunk")
        if claimed > held:
            raise SceneError(f"buffer {k} claims {claimed} bytes; there are {held}")
        sizes.append(claimed)
    if sum(sizes) > max_bytes:
        raise SceneError(f"its buffers hold {sum(sizes)} bytes; the most is {max_bytes}")

    _check_accessors(header, sizes, max_bytes)
    found = _gltf_triangles(header)
    if images:
        check_images(header, path.parent, chunk or b"", max_bytes)
    return found


def gltf_header(path: Path) -> dict[str, Any]:
    """The JSON of a GLB or glTF file that was checked."""
    tree, _ = _glb_chunks(path) if path.suffix.lower() == ".glb" else (path.read_bytes(), None)
    header: dict[str, Any] = json.loads(tree.decode("utf-8"))
    return header


def check_inside(name: str, folder: Path, root: Path | None = None) -> Path:
    """Return the file that one in a folder refers to; it must lie in the mesh file's folder, the root, or below."""
    try:
        root, target = (root or folder).resolve(), (folder / name).resolve()
    except (OSError, ValueError) as error:
        raise SceneError(f"it refers to {name!r}, which is no file name") from error
    if not target.is_relative_to(root) or "\\" in name:
        raise SceneError(f"it refers to {name!r}, which leaves its folder; references must stay inside")
    return target


def _stl_size(head: bytes) -> int:
    """Bytes a binary STL with this 84-byte header must have."""
    (count,) = struct.unpack("<I", head[80:84])
    return 84 + 50 * int(count)


def _glb_chunks(path: Path) -> tuple[bytes, bytes | None]:
    """JSON of a GLB file and its binary chunk, None without one; whatever follows must be chunks too, and whole."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(20)
        if len(head) < 20 or head[:4] != b"glTF":
            raise SceneError(f"it has {size} bytes and begins with {head[:4]!r}; a GLB has at least 20 and b'glTF'")
        version, length, json_bytes, kind = struct.unpack("<4I", head[4:])
        if version != 2 or kind != _GLB_JSON:
            raise SceneError(f"it is GLB version {version}; only version 2 with JSON first is read")
        if length > size or 20 + json_bytes > size:
            raise SceneError(f"it claims {max(length, 20 + json_bytes)} bytes; there are {size}")
        tree, binary = file.read(json_bytes), None
        while len(next_head := file.read(8)) == 8:
            chunk_bytes, kind = struct.unpack("<2I", next_head)
            if file.tell() + chunk_bytes > size:
                raise SceneError(f"a chunk claims {chunk_bytes} bytes; there are {size - file.tell()}")
            if kind == _GLB_BINARY and binary is not None:
                raise SceneError("it has two binary chunks; one is allowed")
            if kind == _GLB_BINARY:
                binary = file.read(chunk_bytes)
            else:
                file.seek(chunk_bytes, 1)
        return tree, binary


def _check_uri(uri: Any, folder: Path) -> int:
    """Bytes behind a URI: data inside it, or a file inside the folder (0 if there is none)."""
    if not isinstance(uri, str):
        raise SceneError(f"it refers to {uri!r}; a uri must be a string")
    data = inline_data(uri)
    if data is not None:
        return 3 * len(data) // 4
    if urlsplit(uri).scheme or uri.startswith("//"):
        raise SceneError(f"it refers to {uri[:80]!r}; references must be files in its folder")
    check_inside(unquote(uri), folder)
    target = check_inside(uri, folder)
    return target.stat().st_size if target.is_file() else 0


def _check_image_places(header: dict[str, Any], folder: Path) -> None:
    """Images lie in the file or in its folder."""
    for k, image in enumerate(header.get("images", [])):
        try:
            if "uri" in image:
                _check_uri(image["uri"], folder)
            elif _whole(image, "bufferView", f"image {k}") >= len(header.get("bufferViews", [])):
                raise SceneError(f"image {k} uses bufferView {image['bufferView']}, which is not there")
        except SceneError as error:
            raise PaintError(str(error)) from None


def _whole(item: dict[str, Any], key: str, what: str, default: int | None = None) -> int:
    """A whole number >= 0 out of JSON."""
    value = item.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SceneError(f"{what} has {key} {value!r}; it must be a whole number")
    return value


def _check_accessors(header: dict[str, Any], buffer_sizes: list[int], max_bytes: int) -> None:
    """Every view lies in its buffer and every array in its view; all of them, unpacked, in max_bytes."""
    views = header.get("bufferViews", [])
    unpacked = 0
    for k, view in enumerate(views):
        buffer = _whole(view, "buffer", f"bufferView {k}")
        end = _whole(view, "byteOffset", f"bufferView {k}", 0) + _whole(view, "byteLength", f"bufferView {k}")
        if buffer >= len(buffer_sizes) or end > buffer_sizes[buffer]:
            raise SceneError(f"bufferView {k} reaches beyond its buffer")
        unpacked += view["byteLength"]
    for k, accessor in enumerate(header.get("accessors", [])):
        component = _GLTF_COMPONENT_BYTES.get(accessor.get("componentType"), 0)
        item = component * _GLTF_TYPE_WIDTH.get(accessor.get("type"), 0)
        if not item:
            raise SceneError(f"accessor {k} has an unknown type")
        count = _whole(accessor, "count", f"accessor {k}")
        unpacked += count * item
        if "bufferView" not in accessor:
            continue
        view_index = _whole(accessor, "bufferView", f"accessor {k}")
        if view_index >= len(views):
            raise SceneError(f"accessor {k} uses bufferView {view_index}; there are {len(views)}")
        view = views[view_index]
        stride = _whole(view, "byteStride", f"bufferView {view_index}", item)
        end = _whole(accessor, "byteOffset", f"accessor {k}", 0) + (max(count, 1) - 1) * stride + item
        if count and (stride < item or end > view["byteLength"]):
            raise SceneError(f"accessor {k} claims {count} items, which reach beyond its bufferView")
    if unpacked > max_bytes:
        raise SceneError(f"its arrays unpack to {unpacked} bytes; the most is {max_bytes}")


def _gltf_triangles(header: dict[str, Any]) -> Triangles:
    """Triangles of the scene, each mesh as often as nodes show it."""
    nodes, meshes, accessors = (header.get(key, []) for key in ("nodes", "meshes", "accessors"))
    scenes = header.get("scenes", [])
    if not scenes:
        raise SceneError("it has no scene, so nothing in it has a place")
    scene_index = _whole(header, "scene", "the file", 0)
    waiting = list(scenes[scene_index].get("nodes", [])) if scene_index < len(scenes) else []

    least = most = 0
    seen: set[int] = set()
    while waiting:
        k = waiting.pop()
        if not isinstance(k, int) or not 0 <= k < len(nodes) or k in seen:
            raise SceneError(f"node {k!r} is missing or reached twice; nodes must form a tree")
        seen.add(k)
        node = nodes[k]
        waiting += node.get("children", [])
        if "camera" in node and ("mesh" in node or "children" in node):
            raise SceneError(f"node {k} is a camera that carries others, which is not supported")
        if "EXT_mesh_gpu_instancing" in node.get("extensions", {}):
            raise SceneError(f"node {k} uses EXT_mesh_gpu_instancing, which is not supported")
        if "mesh" not in node:
            continue
        for primitive in meshes[_whole(node, "mesh", f"node {k}")]["primitives"]:
            for extension in primitive.get("extensions", {}):
                if not extension.startswith(_GLTF_LOOKS):
                    raise SceneError(f"mesh {node['mesh']} uses the extension {extension}, which is not supported")
            mode = primitive.get("mode", _GLTF_TRIANGLES)
            position = accessors[_whole(primitive["attributes"], "POSITION", f"mesh {node['mesh']}")]
            corners = accessors[primitive["indices"]] if "indices" in primitive else position
            if mode == _GLTF_FAN or position["componentType"] != _GLTF_FLOAT:
                raise SceneError(f"mesh {node['mesh']} has a triangle fan or packed positions; neither is supported")
            for accessor in (position, corners):
                if "sparse" in accessor or "bufferView" not in accessor:
                    raise SceneError(f"mesh {node['mesh']} is sparse or compressed, which is not supported")
            if mode == _GLTF_TRIANGLES:
                least += corners["count"] // 3
                most += corners["count"] // 3
            elif mode == _GLTF_STRIP:
                most += max(corners["count"] - 2, 0)
    return least, most
