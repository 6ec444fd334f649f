"""Paint of a mesh's faces: one image of reflectances, or the images of a file, each kept once as bytes.

Images of files hold sRGB values, which are made linear at look-up: a texel is the share of light it reflects. A texel
at (row i, column j) is at ((j + 0.5) / columns, 1 - (i + 0.5) / rows); values between texels are bilinear.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError

# Most texels of an image
MAX_TEXELS = 1 << 26

# Continuation beyond the edges of an image: repeated, its edge, or mirrored
REPEAT, CLAMP, MIRROR = 0, 1, 2


class PaintError(SceneError):
    """The paint of a mesh cannot be used; its shape alone could be."""


@dataclass(frozen=True)
class Paint:
    """Paint of faces.

    Attributes:
        image: Number of the image, -1 for none, which is white.
        factor: Linear factors of red, green and blue, 0 to 1.
        wrap: Continuation beyond the image, sideways and up or down: REPEAT, CLAMP or MIRROR.
    """

    image: int = -1
    factor: tuple[float, float, float] = (1.0, 1.0, 1.0)
    wrap: tuple[int, int] = (REPEAT, REPEAT)


@dataclass(frozen=True, eq=False)
class PaintedImages:
    """Images of a file and which of them paints each face.

    Attributes:
        images: sRGB values, uint8 (rows, columns, 3) each, row 0 at the top.
        paints: Paints of the faces.
        face_paint: Number of the paint of each face, int32 (m,).
    """

    images: tuple[NDArray[np.uint8], ...]
    paints: tuple[Paint, ...]
    face_paint: NDArray[np.int32]

    def __post_init__(self) -> None:
        self.face_paint.setflags(write=False)
        for image in self.images:
            image.setflags(write=False)

    @property
    def nbytes(self) -> int:
        """Bytes that images and numbers of paints take."""
        return self.face_paint.nbytes + sum(image.nbytes for image in self.images)

    def at(self, face: NDArray[Any], uv: NDArray[Any]) -> NDArray[np.float64]:
        """Linear reflectances in red, green and blue, (*batch, 3), at places (u, v) of faces, (*batch, 2)."""
        found = np.ones((*face.shape, 3))
        numbers = self.face_paint[face]
        for number in np.unique(numbers):
            paint, here = self.paints[number], numbers == number
            seen = np.ones((int(here.sum()), 3))
            if paint.image >= 0:
                seen = looked_up(self.images[paint.image], uv[here], paint.wrap)
            found[here] = np.asarray(paint.factor) * seen
        return found


def linear_table() -> NDArray[np.float32]:
    """Linear share of light of each 8-bit sRGB value (IEC 61966-2-1), (256,)."""
    s = np.arange(256) / 255.0
    return np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4).astype(np.float32)


def wrapped(index: NDArray[np.int64], count: int, wrap: int) -> NDArray[np.int64]:
    """Texel indices along one side of an image for texels beyond its edges too."""
    if wrap == CLAMP:
        return np.clip(index, 0, count - 1)
    if wrap == MIRROR:
        turned = index % (2 * count)
        return np.where(turned < count, turned, 2 * count - 1 - turned)
    return index % count


def looked_up(texture: NDArray[Any], uv: NDArray[Any], wrap: tuple[int, int] = (REPEAT, REPEAT)) -> NDArray[np.float64]:
    """Values of an image at places (u, v), (*batch, 2), between the four texels around; sRGB bytes are made linear.

    Args:
        texture: Reflectances, (rows, columns, bands), or sRGB bytes.
        uv: Places.
        wrap: Continuation beyond it.
    """
    rows, columns = texture.shape[:2]
    table = linear_table() if texture.dtype == np.uint8 else None
    x, y = uv[..., 0] * columns - 0.5, (1.0 - uv[..., 1]) * rows - 0.5
    left, top = np.floor(x).astype(np.int64), np.floor(y).astype(np.int64)
    a, b = (x - left)[..., None], (y - top)[..., None]
    i = [wrapped(top + k, rows, wrap[1]) for k in (0, 1)]
    j = [wrapped(left + k, columns, wrap[0]) for k in (0, 1)]

    def texel(row: NDArray[np.int64], column: NDArray[np.int64]) -> NDArray[Any]:
        values = texture[row, column]
        return values if table is None else table[values]

    upper = (1.0 - a) * texel(i[0], j[0]) + a * texel(i[0], j[1])
    lower = (1.0 - a) * texel(i[1], j[0]) + a * texel(i[1], j[1])
    return np.asarray((1.0 - b) * upper + b * lower, np.float64)


def pixels_of(image: Any, *, alpha: bool = False) -> NDArray[np.uint8]:
    """Values of a PIL image, uint8 (rows, columns, 3), or 4 if it has alpha and alpha is requested.

    Its size is looked at before it is unpacked.
    """
    if image.width * image.height > MAX_TEXELS:
        raise PaintError(f"it has an image of {image.width} x {image.height} pixels; the most of one is {MAX_TEXELS}")
    if image.mode.startswith("I"):  # 16 bits: PIL would clip them to 255
        gray = np.asarray(image).astype(np.int64) >> 8
        return np.repeat(np.clip(gray, 0, 255).astype(np.uint8)[..., None], 3, axis=2)
    has_alpha = alpha and ("A" in image.getbands() or "transparency" in image.info)
    mode = "RGBA" if has_alpha else "RGB"
    return np.array(image if image.mode == mode else image.convert(mode), np.uint8)


def painted(pieces: Sequence[tuple[NDArray[np.uint8] | None, Paint]], face_counts: Sequence[int]) -> PaintedImages:
    """Paint of pieces with given numbers of faces; an image of several pieces is kept once."""
    images: dict[int, tuple[int, NDArray[np.uint8]]] = {}
    paints: dict[Paint, int] = {}
    numbers = []
    for image, paint in pieces:
        number = -1
        if image is not None:
            number, _ = images.setdefault(id(image), (len(images), image))
        whole = Paint(number, paint.factor, paint.wrap)
        numbers.append(paints.setdefault(whole, len(paints)))
    of_faces = np.repeat(np.array(numbers, np.int32), face_counts)
    return PaintedImages(tuple(image for _, image in images.values()), tuple(paints), of_faces)
