"""Materials of glTF files: base color, its image with texture coordinates, and the alpha mask.

Image readers accept dozens of formats, some of which start other programs, and trust headers of any size. glTF has
three formats; an image must be one of them and stay within the limit of unpacked bytes.
"""

import io
import math
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError, SceneWarning
from sensorium.scene.formats.gltf.container import Container
from sensorium.scene.formats.textures import CLAMP, MIRROR, REPEAT, PaintError, pixels_of

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


_TRANSFORM, _SHINY = "KHR_texture_transform", "KHR_materials_pbrSpecularGlossiness"
_WEBP, _BASIS = "EXT_texture_webp", "KHR_texture_basisu"
_WRAPS = {10497: REPEAT, 33071: CLAMP, 33648: MIRROR}


@dataclass(frozen=True)
class Material:
    """Base color and mask of a material.

    Attributes:
        factor: Linear factors of red, green and blue, and of alpha; each 0 to 1.
        gives_color: Whether the file gives these.
        image: Number of its image, None without any.
        uv_set: Which texture coordinates place the image.
        uv_map: 2 x 3 matrix that takes these coordinates, v downwards, to the image's.
        wrap: Continuation beyond the image, to the right and downwards.
        cutoff: Alpha below which a face has a hole; None where it has none.
    """

    factor: tuple[float, float, float, float] = (1.0, 1.0, 1.0, 1.0)
    gives_color: bool = False
    image: int | None = None
    uv_set: int = 0
    uv_map: tuple[tuple[float, float, float], tuple[float, float, float]] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0))
    wrap: tuple[int, int] = (REPEAT, REPEAT)
    cutoff: float | None = None

    def placed(self, uv: NDArray[np.float64]) -> NDArray[np.float64]:
        """Texture coordinates of the file in the image, (n, 2), v upwards as `Mesh` takes it."""
        matrix = np.array(self.uv_map)
        moved = uv @ matrix[:, :2].T + matrix[:, 2]
        return np.stack([moved[:, 0], 1.0 - moved[:, 1]], axis=-1)


def read_material(container: Container, number: Any) -> Material:
    """A material by its number; None is the white one of the format."""
    if number is None:
        return Material()
    given = container.item("materials", number, "a primitive")
    what = f"material {number}"
    shiny = _object(given, "extensions", what).get(_SHINY)
    if isinstance(shiny, dict):
        base, color_key, image_key = shiny, "diffuseFactor", "diffuseTexture"
    else:
        base, color_key, image_key = _object(given, "pbrMetallicRoughness", what), "baseColorFactor", "baseColorTexture"
    factor = _factor(base[color_key], what, color_key) if color_key in base else (1.0, 1.0, 1.0, 1.0)
    cutoff = None
    if given.get("alphaMode", "OPAQUE") == "MASK":
        cutoff = _number(given.get("alphaCutoff", 0.5), what, "alphaCutoff")
    if image_key not in base:
        return Material(factor, color_key in base, cutoff=cutoff)
    info = _object(base, image_key, what)
    moved = _object(info, "extensions", what).get(_TRANSFORM, {})
    uv_set = moved.get("texCoord", info.get("texCoord", 0))
    if not isinstance(uv_set, int) or isinstance(uv_set, bool) or uv_set < 0:
        raise PaintError(f"{what} has texCoord {uv_set!r}; it must be a whole number")
    image, wrap = _image_of(container, info.get("index"), what)
    return Material(factor, color_key in base, image, uv_set, _uv_map(moved, what), wrap, cutoff)


def _image_of(container: Container, number: Any, what: str) -> tuple[int, tuple[int, int]]:
    """Image of a texture, and its continuation."""
    texture = container.item("textures", number, what)
    extensions = _object(texture, "extensions", f"texture {number}")
    source = extensions[_WEBP].get("source") if _WEBP in extensions else texture.get("source")
    if source is None:
        why = f"needs the extension {next(iter(extensions))}, which is not supported" if extensions else "has no source"
        if _BASIS in extensions:
            why = "is packed as KTX2 (KHR_texture_basisu), for which no maintained decoder can be installed"
        raise PaintError(f"texture {number} {why}")
    container.item("images", source, f"texture {number}")
    sampler = container.item("samplers", texture["sampler"], f"texture {number}") if "sampler" in texture else {}
    codes = tuple(sampler.get(key, 10497) for key in ("wrapS", "wrapT"))
    for code in codes:
        if code not in _WRAPS:
            raise PaintError(f"texture {number} wraps by {code!r}; it must be one of {sorted(_WRAPS)}")
    return source, (_WRAPS[codes[0]], _WRAPS[codes[1]])


def _uv_map(moved: Any, what: str) -> tuple[tuple[float, float, float], tuple[float, float, float]]:
    """KHR_texture_transform: scale, then turn counter-clockwise as seen on the image, then offset."""
    if not isinstance(moved, dict):
        raise PaintError(f"{what} has {_TRANSFORM} {str(moved)[:60]!r}; it must be an object")
    scale, offset = moved.get("scale", [1.0, 1.0]), moved.get("offset", [0.0, 0.0])
    if any(not isinstance(pair, list) or len(pair) != 2 for pair in (scale, offset)):
        raise PaintError(f"{what} has scale {str(scale)[:40]} and offset {str(offset)[:40]}; each must be 2 numbers")
    (a, b), (x, y) = ([_number(each, what, _TRANSFORM) for each in pair] for pair in (scale, offset))
    angle = _number(moved.get("rotation", 0.0), what, "rotation")
    c, s = math.cos(angle), math.sin(angle)
    return (c * a, s * b, x), (-s * a, c * b, y)


def _factor(given: Any, what: str, key: str) -> tuple[float, float, float, float]:
    """Red, green, blue and alpha of a factor."""
    values = [v for v in given if isinstance(v, int | float) and not isinstance(v, bool)] if _is_four(given) else []
    if len(values) != 4 or not all(0.0 <= value <= 1.0 for value in values):
        raise PaintError(f"{what} has {key} {str(given)[:60]}; it must be 4 numbers in 0..1")
    red, green, blue, alpha = map(float, values)
    return red, green, blue, alpha


def _is_four(given: Any) -> bool:
    return isinstance(given, list) and len(given) == 4


def _number(given: Any, what: str, key: str) -> float:
    if not isinstance(given, int | float) or isinstance(given, bool) or not abs(given) < 1e30:
        raise PaintError(f"{what} has {key} {str(given)[:60]}; it must be a finite number")
    return float(given)


def _object(item: dict[str, Any], key: str, what: str) -> dict[str, Any]:
    value = item.get(key, {})
    if not isinstance(value, dict):
        raise PaintError(f"{what} has {key} {str(value)[:60]!r}; it must be an object")
    return value
