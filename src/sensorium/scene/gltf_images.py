"""Images of glTF files, looked at before a reader unpacks them.

Readers of images take dozens of formats, some of which start other programs, and believe headers that claim any size.
glTF knows three formats; an image must be one of them and stay within what its mesh may take.
"""

import base64
import binascii
import io
import warnings
from pathlib import Path
from typing import Any

from sensorium.errors import SceneError
from sensorium.scene.textures import PaintError

FORMATS = ("PNG", "JPEG", "WEBP")

# What unpacking takes for each pixel, and where shininess is converted to roughness [bytes]
_BYTES_PER_PIXEL, _BYTES_PER_GLOSSY_PIXEL = 16, 64
_GLOSSY = "KHR_materials_pbrSpecularGlossiness"

# What data in a uri follow
_DATA = "base64,"

# Skipped by its name, never opened
_NOT_READ = "image/ktx2"


def check_images(header: dict[str, Any], folder: Path, chunk: bytes, max_bytes: int) -> None:
    """Refuse images of other formats, or that unpack to more than max_bytes together; files that are missing pass.

    Args:
        header: The JSON of a file whose buffers, views and references are checked already.
        folder: Of the file.
        chunk: Binary chunk of a GLB, empty elsewhere.
        max_bytes: Most that all of them may take.
    """
    each_pixel = _BYTES_PER_GLOSSY_PIXEL if _GLOSSY in str(header.get("materials")) else _BYTES_PER_PIXEL
    total = 0
    for number, image in enumerate(header.get("images", [])):
        if image.get("mimeType") == _NOT_READ:
            continue
        data = _image_bytes(header, image, folder, chunk)
        if data is not None:
            width, height = _size(data, number)
            total += width * height * each_pixel
            if total > max_bytes:
                size = f"image {number} has {width} x {height} pixels"
                raise PaintError(f"{size}; unpacked, all take {total} bytes, the most is {max_bytes}")


def _image_bytes(header: dict[str, Any], image: dict[str, Any], folder: Path, chunk: bytes) -> bytes | None:
    """What an image is packed in; None where its file is missing."""
    if "bufferView" not in image:
        return _behind(image["uri"], folder) if "uri" in image else None
    view = header["bufferViews"][image["bufferView"]]
    buffer = header["buffers"][view["buffer"]]
    held = _behind(buffer["uri"], folder) if "uri" in buffer else chunk
    begin = view.get("byteOffset", 0)
    return None if held is None else held[begin : begin + view["byteLength"]]


def inline_data(uri: str) -> str | None:
    """The base64 text of a data URI, None for the name of a file.

    The reader of meshes takes what follows the first "base64," anywhere for data, so that must be where they begin:
    else it would unpack another image than the one that is looked at here.
    """
    head, _, data = uri.partition(",")
    if head.startswith("data:") and head.endswith(";base64") and "," not in data:
        return data
    if uri.startswith("data:") or _DATA in uri:
        raise SceneError(f"it refers to {uri[:80]!r}; data in a uri must be data:TYPE;base64,TEXT")
    return None


def _behind(uri: str, folder: Path) -> bytes | None:
    """Bytes in a data URI, or in a file of the folder."""
    data = inline_data(uri)
    if data is not None:
        try:
            return base64.b64decode(data)
        except binascii.Error as error:
            raise PaintError(f"it has data that are not base64: {error}") from None
    path = folder / uri
    return path.read_bytes() if path.is_file() else None


def _size(data: bytes, number: int) -> tuple[int, int]:
    """Width and height of an image by its header."""
    from PIL import Image, UnidentifiedImageError

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its size is checked here, and its comments are not read
        try:
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                return image.size
        except UnidentifiedImageError:
            raise PaintError(f"image {number} is no {' or '.join(FORMATS)}; glTF has no others") from None
        except (OSError, Image.DecompressionBombError) as error:
            raise PaintError(f"image {number} cannot be read: {error}") from None
