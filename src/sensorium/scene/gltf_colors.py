"""Base colours of glTF materials, as the file has them.

The reader of meshes keeps a base colour in 8 bits, which is coarse for dark ones: it is linear. So its numbers are
looked up in the file's JSON.
"""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.scene.textures import PaintError

Color = tuple[float, float, float]

_WHITE: Color = (1.0, 1.0, 1.0)
_METALLIC, _FACTOR = "pbrMetallicRoughness", "baseColorFactor"


def base_colors(header: dict[str, Any]) -> list[tuple[str, Color]]:
    """Name and base colour of those materials that faces use and that give one, in their order.

    Args:
        header: The JSON of a file whose meshes are checked already.
    """
    materials = header.get("materials", [])
    primitives = [primitive for mesh in header.get("meshes", []) for primitive in mesh["primitives"]]
    used = {primitive["material"] for primitive in primitives if "material" in primitive}
    found = []
    for number, material in enumerate(materials if isinstance(materials, list) else []):
        part = material.get(_METALLIC) if isinstance(material, dict) and number in used else None
        if isinstance(part, dict) and _FACTOR in part:
            found.append((str(material.get("name", "")), _color(part[_FACTOR], number)))
    return found


def exact_color(read: Any, name: Any, known: list[tuple[str, Color]]) -> Color:
    """The colour of a file that was read in 8 bits; the one read where the file has none that is the same in 8 bits.

    Args:
        read: Red, green, blue and more, 0 to 255; None for white.
        name: Of its material, which decides among several.
        known: Colours of the file, by `base_colors`.
    """
    if read is None:
        return _WHITE
    coarse = np.asarray(read, np.float64).reshape(-1)[:3]
    same = [(own, color) for own, color in known if np.array_equal(np.round(255.0 * np.array(color)), coarse)]
    for _, color in sorted(same, key=lambda each: each[0] != str(name)):
        return color
    red, green, blue = (coarse / 255.0).tolist()
    return red, green, blue


def of_faces(colors: list[Color], counts: list[int]) -> NDArray[np.float32]:
    """Colour of each face of pieces with so many faces, (m, 3)."""
    return np.repeat(np.array(colors, np.float32), counts, axis=0)


def _color(given: Any, number: int) -> Color:
    """Red, green and blue of a factor."""
    numbers = given if isinstance(given, list) and len(given) == 4 else []
    values = [float(each) for each in numbers if isinstance(each, int | float) and not isinstance(each, bool)]
    if len(values) != 4 or not all(math.isfinite(value) and 0.0 <= value <= 1.0 for value in values):
        raise PaintError(f"material {number} has {_FACTOR} {str(given)[:60]}; it must be 4 numbers in 0..1")
    return values[0], values[1], values[2]
