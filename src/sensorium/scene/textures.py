"""Images of a mesh file as one texture: reflectances, and where each vertex lies in them.

A file may paint its pieces with several images; a mesh has one texture. So images are stacked into one, and the places
of vertices move with them. Images hold sRGB values, which are made linear: a texel is the share of light it reflects.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SceneError

# Most texels of an image, and of the texture made of all
MAX_TEXELS = 1 << 26

# Texels that are made linear at a time, so that a large image takes little more than its texture
_TEXELS_AT_A_TIME = 1 << 18


class PaintError(SceneError):
    """What a mesh is painted with cannot be used; its shape alone could be."""


@dataclass(frozen=True, eq=False)
class Paint:
    """What a piece of a mesh is painted with.

    Attributes:
        uv: Place of each vertex in the image, shape (n, 2), as `Mesh` takes it; None without an image.
        image: sRGB values, uint8 (rows, columns, 3); None is white.
        factor: Linear factors of red, green and blue, 0 to 1.
    """

    uv: NDArray[np.float64] | None = None
    image: NDArray[np.uint8] | None = None
    factor: tuple[float, float, float] = (1.0, 1.0, 1.0)


def pixels_of(image: Any) -> NDArray[np.uint8]:
    """Red, green and blue of a PIL image, uint8 (rows, columns, 3); its size is looked at before it is unpacked."""
    if image.width * image.height > MAX_TEXELS:
        raise PaintError(f"it has an image of {image.width} x {image.height} pixels; the most is {MAX_TEXELS} in all")
    return np.asarray(image if image.mode == "RGB" else image.convert("RGB"), np.uint8)


def linear(values: NDArray[np.uint8]) -> NDArray[np.float32]:
    """Linear share of light of 8-bit sRGB values (IEC 61966-2-1)."""
    s = np.arange(256) / 255.0
    table = np.where(s <= 0.04045, s / 12.92, ((s + 0.055) / 1.055) ** 2.4)
    return table.astype(np.float32)[values]


def one_texture(paints: Sequence[Paint], counts: Sequence[int]) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """One texture for all pieces, and where their vertices lie in it.

    Args:
        paints: Of each piece.
        counts: Vertices of each piece.

    Returns:
        Texture (rows, columns, 3) and uv of all vertices, piece by piece, (n, 2).
    """
    if len(paints) == 1 and paints[0].uv is not None:
        high, wide = _size(paints[0])
        texture = np.zeros((high, wide, 3), np.float32)
        _paint(texture, paints[0], np.arange(high), np.arange(wide))
        return _locked(texture), paints[0].uv

    # An image that a piece repeats is repeated here, since its neighbours in the stack would show otherwise. Each has
    # one texel more around it, like its edge, so that no neighbour shines in. All sizes are known before any is made.
    sizes, places = [], []
    for paint, count in zip(paints, counts, strict=True):
        uv = np.full((count, 2), 0.5) if paint.uv is None else paint.uv
        low = np.floor(uv.min(axis=0) + 1e-6) if count else np.zeros(2)
        times = np.maximum(np.ceil(uv.max(axis=0) - low - 1e-6), 1.0) if count else np.ones(2)
        if math.prod((*_size(paint), *times)) > MAX_TEXELS:
            raise PaintError(f"it repeats an image {times[0]:.0f} x {times[1]:.0f} times beside others; paint it apart")
        sizes.append((_size(paint)[0] * int(times[1]) + 2, _size(paint)[1] * int(times[0]) + 2))
        places.append((uv - low) / times)
    rows, columns = sum(high for high, _ in sizes), max(wide for _, wide in sizes)
    if rows * columns > MAX_TEXELS:
        raise PaintError(f"its images make a texture of {columns} x {rows} texels; the most is {MAX_TEXELS} in all")

    texture, first = np.zeros((rows, columns, 3), np.float32), 0
    for number, (paint, (high, wide)) in enumerate(zip(paints, sizes, strict=True)):
        own_high, own_wide = _size(paint)
        i = np.clip(np.arange(high) - 1, 0, high - 3) % own_high
        j = np.clip(np.arange(wide) - 1, 0, wide - 3) % own_wide
        _paint(texture[first : first + high, :wide], paint, i, j)
        x = 1.0 + places[number][:, 0] * (wide - 2)
        y = 1.0 + (1.0 - places[number][:, 1]) * (high - 2)
        places[number] = np.stack([x / columns, 1.0 - (first + y) / rows], axis=-1)
        first += high
    return _locked(texture), np.concatenate(places)


def _size(paint: Paint) -> tuple[int, int]:
    """Rows and columns of a paint; a colour is one texel."""
    return (1, 1) if paint.image is None else (paint.image.shape[0], paint.image.shape[1])


def _paint(target: NDArray[np.float32], paint: Paint, i: NDArray[np.int64], j: NDArray[np.int64]) -> None:
    """Fill a piece of a texture with linear reflectances: its row k shows row i[k] of the paint, its columns j."""
    image = np.full((1, 1, 3), 255, np.uint8) if paint.image is None else paint.image
    step = max(1, _TEXELS_AT_A_TIME // len(j))
    for first in range(0, len(i), step):
        part = linear(image[i[first : first + step, None], j])
        np.multiply(part, np.asarray(paint.factor, np.float32), out=target[first : first + step])


def _locked(texture: NDArray[np.float32]) -> NDArray[np.float32]:
    """A texture that nobody changes, which a mesh takes without a copy."""
    texture.setflags(write=False)
    return texture
