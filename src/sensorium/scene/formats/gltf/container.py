"""The container of a glTF file: JSON, buffers, and the limit of unpacked bytes.

A file claims sizes and refers to other files. Each claim is held against the bytes that are there, and each reference
must stay in the folder of the file.
"""

import base64
import binascii
import json
import struct
from functools import cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from sensorium.core.errors import SceneError
from sensorium.scene.formats.guards import check_inside, read_reference

_GLB_JSON, _GLB_BINARY = 0x4E4F534A, 0x004E4942

# Unpacked bytes allowed for a file of any size, and the multiple of its own bytes
_FREE_BYTES, _RATIO = 1 << 26, 256

# Total bytes of a mesh that several nodes show
_FREE_PLACED_BYTES = 1 << 28

# Extensions that this package obeys
_OBEYED = (
    *("KHR_mesh_quantization", "EXT_mesh_gpu_instancing", "KHR_node_visibility", "KHR_draco_mesh_compression"),
    *("KHR_texture_transform", "EXT_texture_webp", "KHR_materials_pbrSpecularGlossiness"),
)

# Extensions that change neither the shape nor the base color, which are all that is read
_NO_MATTER = (
    *("KHR_materials_", "KHR_lights_", "EXT_lights_", "KHR_xmp", "KHR_animation_pointer", "KHR_interactivity"),
    *("KHR_node_selectability", "KHR_node_hoverability", "KHR_audio", "EXT_mesh_features", "EXT_structural_metadata"),
)

_MESHOPT = ("EXT_meshopt_compression", "KHR_meshopt_compression")

# Extensions of images, each refused if a face uses the image
_OF_IMAGES = ("KHR_texture_basisu", "EXT_texture_avif", "MSFT_texture_dds")


class Container:
    """A glTF or GLB file with its buffers.

    Args:
        path: The file.
        max_bytes: Most that it may unpack to.

    Attributes:
        header: Its JSON.
        folder: Folder of the file.
        held: Bytes of the file and of the buffers beside it.
    """

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.folder, self._max_bytes = path.parent, max_bytes
        tree, self._chunk = _glb_chunks(path) if path.suffix.lower() == ".glb" else (path.read_bytes(), None)
        header = json.loads(tree.decode("utf-8-sig"))
        if not isinstance(header, dict):
            raise SceneError("its JSON is not an object")
        self.header: dict[str, Any] = header
        self.held = path.stat().st_size
        self._buffers: dict[int, bytes] = {}
        self._check_buffers()

    def items(self, key: str) -> list[Any]:
        """A list of the JSON, empty where it has none."""
        found = self.header.get(key, [])
        if not isinstance(found, list):
            raise SceneError(f"{key} is {str(found)[:60]!r}; it must be a list")
        return found

    def item(self, key: str, number: Any, asked_by: str) -> dict[str, Any]:
        """An object of a list of the JSON, by its number."""
        found = self.items(key)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(found):
            raise SceneError(f"{asked_by} uses number {number!r} of {key}; there are {len(found)}")
        if not isinstance(found[number], dict):
            raise SceneError(f"number {number} of {key} is {str(found[number])[:60]!r}; it must be an object")
        item: dict[str, Any] = found[number]
        return item

    @cached_property
    def most_unpacked(self) -> int:
        """Most bytes that its arrays, or its images, may take together."""
        return min(self._max_bytes, _FREE_BYTES + _RATIO * self.held)

    @cached_property
    def most_placed(self) -> int:
        """Most bytes that meshes may take, each as often as nodes show it."""
        return min(self._max_bytes, _FREE_PLACED_BYTES + _RATIO * self.held)

    def check_extensions(self) -> None:
        """Refuse a file that requires extensions that this package would ignore."""
        for extension in map(str, self.items("extensionsRequired")):
            if extension in _MESHOPT:
                raise SceneError(
                    f"it requires the extension {extension}, for which no maintained decoder can be installed"
                )
            if extension not in (*_OBEYED, *_OF_IMAGES) and not extension.startswith(_NO_MATTER):
                raise SceneError(f"it requires the extension {extension}, which is not supported")

    def view(self, number: Any, asked_by: str) -> tuple[memoryview, int | None]:
        """Bytes of a view into a buffer, and the stride that it gives."""
        view, what = self.item("bufferViews", number, asked_by), f"bufferView {number}"
        if any(extension in view.get("extensions", {}) for extension in _MESHOPT):
            fallback = self.item("buffers", view.get("buffer"), what)
            if "uri" not in fallback and not (self._chunk is not None and view.get("buffer") == 0):
                raise SceneError(f"{what} is packed by meshopt, for which no maintained decoder can be installed")
        buffer = whole(view, "buffer", what)
        begin, length = whole(view, "byteOffset", what, 0), whole(view, "byteLength", what)
        data = self._buffer(buffer, what)
        if begin + length > len(data):
            raise SceneError(f"{what} reaches beyond its buffer")
        stride = whole(view, "byteStride", what) if "byteStride" in view else None
        return memoryview(data)[begin : begin + length], stride

    def behind(self, uri: Any) -> bytes | None:
        """Bytes in a data URI or in a file of the folder, None where there is no such file."""
        data = _inline(uri)
        if data is not None:
            return data
        found = self._place(uri)
        return None if found is None else read_reference(found, self._max_bytes)

    def check_place(self, uri: Any) -> None:
        """Refuse a URI that leads out of the folder, or not to a file."""
        if _inline_text(uri) is None:
            self._place(uri)

    def _place(self, uri: str) -> Path | None:
        """The file that a URI names, percent-encoded or, as some write it, plain."""
        if urlsplit(uri).scheme or uri.startswith("//"):
            raise SceneError(f"it refers to {uri[:80]!r}; references must be files in its folder")
        for name in dict.fromkeys((unquote(uri), uri)):
            target = check_inside(name, self.folder)
            if target.is_file():
                return target
            if target.exists() and not target.is_dir():
                raise SceneError(f"it refers to {uri[:80]!r}, which is a pipe, a socket or a device; it must be a file")
        return None

    def _check_buffers(self) -> None:
        """Buffers claim no more than there is; those in other files count as bytes of the file."""
        claimed = 0
        for k, buffer in enumerate(self.items("buffers")):
            claimed += whole(buffer, "byteLength", f"buffer {k}")
            if k == 0 and self._chunk is not None and "uri" in buffer:
                raise SceneError("buffer 0 has a uri and a binary chunk; it must have one of them")
            if "uri" in buffer and _inline_text(buffer["uri"]) is None:
                found = self._place(buffer["uri"])
                self.held += 0 if found is None else found.stat().st_size
        if claimed > self._max_bytes:
            raise SceneError(f"its buffers claim {claimed} bytes; the most is {self._max_bytes}")

    def _buffer(self, number: int, asked_by: str) -> bytes:
        """Bytes of a buffer, as long as it claims."""
        if number not in self._buffers:
            buffer = self.item("buffers", number, asked_by)
            if "uri" in buffer:
                data = self.behind(buffer["uri"])
                if data is None:
                    raise SceneError(f"buffer {number} is in {str(buffer['uri'])[:80]!r}, which is not there")
            elif self._chunk is not None and number == 0:
                data = self._chunk
            else:
                raise SceneError(f"buffer {number} has neither a uri nor a binary chunk")
            if buffer["byteLength"] > len(data):
                raise SceneError(f"buffer {number} claims {buffer['byteLength']} bytes; there are {len(data)}")
            self._buffers[number] = data[: buffer["byteLength"]]
        return self._buffers[number]


def whole(item: Any, key: str, what: str, default: int | None = None) -> int:
    """An integer >= 0 from an object of JSON."""
    if not isinstance(item, dict):
        raise SceneError(f"{what} is {str(item)[:60]!r}; it must be an object")
    value = item.get(key, default)
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise SceneError(f"{what} has {key} {value!r}; it must be a whole number")
    return value


def _inline_text(uri: Any) -> str | None:
    """The base64 text of a data URI, None for the name of a file."""
    if not isinstance(uri, str):
        raise SceneError(f"it refers to {uri!r}; a uri must be a string")
    if not uri.startswith("data:"):
        return None
    head, _, text = uri.partition(",")
    if not head.endswith(";base64"):
        raise SceneError(f"it refers to {uri[:80]!r}; data in a uri must be data:TYPE;base64,TEXT")
    return text


def _inline(uri: Any) -> bytes | None:
    text = _inline_text(uri)
    if text is None:
        return None
    try:
        return base64.b64decode(text)
    except binascii.Error as error:
        raise SceneError(f"it has data that are not base64: {error}") from None


def _glb_chunks(path: Path) -> tuple[bytes, bytes | None]:
    """JSON of a GLB file and its binary chunk, None without one; the rest must be complete chunks too."""
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
