"""Images of glTF files, checked before a reader unpacks them.

Image readers accept dozens of formats, some of which start other programs, and trust headers of any size. glTF has
three formats; an image must be one of them and stay within the limit of unpacked bytes.
"""

import io
import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError, SceneWarning
from sensorium.scene.formats.gltf.container import Container
from sensorium.scene.formats.textures import PaintError, pixels_of

FORMATS = ("PNG", "JPEG", "WEBP")

# Unpacked bytes allowed for images of any size, and the multiple of their packed bytes. Deflate packs a thousandfold if
# all pixels are equal; an image of one bit a pixel takes 24 times as much here as in its file.
_FREE_BYTES, _RATIO = 1 << 26, 256


class Images:
    """Images of a file by their numbers, each unpacked once, and only if a face uses it."""

    def __init__(self, container: Container, max_bytes: int) -> None:
        self._container, self._max_bytes = container, max_bytes
        self._unpacked: dict[int, NDArray[np.uint8] | None] = {}
        self._packed_bytes = self._bytes = 0
        for k, image in enumerate(container.items("images")):
            try:
                if "uri" in image:
                    container.check_place(image["uri"])
                elif "bufferView" in image:
                    container.item("bufferViews", image["bufferView"], f"image {k}")
                else:
                    raise SceneError(f"image {k} has neither a uri nor a bufferView; it must have one of them")
            except SceneError as error:
                raise PaintError(str(error)) from None

    def pixels(self, number: int) -> NDArray[np.uint8] | None:
        """Values (sRGB) and alpha of an image, (rows, columns, 4), or (rows, columns, 3) where it has no alpha.

        None if its file is missing, with a `SceneWarning`.
        """
        if number not in self._unpacked:
            self._unpacked[number] = self._read(number)
        return self._unpacked[number]

    def _read(self, number: int) -> NDArray[np.uint8] | None:
        from PIL import Image, UnidentifiedImageError

        image = self._container.item("images", number, "a texture")
        data = self._packed(image, number)
        if data is None:
            message = f"image {number}, {str(image.get('uri'))[:80]!r}, is not there; its faces are painted without it"
            warnings.warn(message, SceneWarning, stacklevel=2)
            return None
        self._packed_bytes += len(data)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its size is checked here, and its comments are not read
            try:
                with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
                    self._measure(opened.width, opened.height, number)
                    return pixels_of(opened, alpha=True)
            except UnidentifiedImageError:
                raise PaintError(f"image {number} is no {' or '.join(FORMATS)}; no others are read") from None
            except SceneError:
                raise
            except Exception as error:
                raise PaintError(f"image {number} cannot be read: {type(error).__name__}: {error}") from None

    def _packed(self, image: dict[str, Any], number: int) -> bytes | None:
        """The compression of an image."""
        try:
            if "uri" in image:
                return self._container.behind(image["uri"])
            return bytes(self._container.view(image["bufferView"], f"image {number}")[0])
        except SceneError as error:
            raise PaintError(str(error)) from None

    def _measure(self, width: int, height: int, number: int) -> None:
        self._bytes += 4 * width * height
        most = min(self._max_bytes, _FREE_BYTES + _RATIO * self._packed_bytes)
        if self._bytes > most:
            raise PaintError(
                f"image {number} has {width} x {height} pixels; unpacked, all up to it take {self._bytes} bytes, "
                f"the most for {self._packed_bytes} packed bytes is {most}"
            )
