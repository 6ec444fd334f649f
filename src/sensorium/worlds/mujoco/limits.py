"""Limits on the memory that a model may request: in proportion to its files, since short MJCF may request all memory.

Three kinds of claims are counted while a model's XML is read, before the engine sees it: *cells* (points of height
fields, pixels of textures and images, numbers of user data), *copies* (elements that `replicate`, `composite`,
`flexcomp` and `attach` make of one that is written), and the sizes of `<size>`.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from sensorium.core.errors import SpecError

# Cells that any model may have, of up to 8 bytes each, and how many more for each byte of its files
_CELLS, _CELLS_A_BYTE = 1 << 24, 100

# Generated elements; MuJoCo's time grows with their square, to some seconds for this number
_COPIES = 10_000

# Numbers of <size>; those that are counted for each element have less
_MEMORY_BYTES = 1 << 32
_SIZES = {
    **dict.fromkeys(("njmax", "nconmax", "nstack"), 1 << 24),
    "nuserdata": 1 << 20,
    "nkey": 1000,
    **dict.fromkeys(
        (f"nuser_{kind}" for kind in ("body", "jnt", "geom", "site", "cam", "tendon", "actuator", "sensor")), 1000
    ),
}
_UNITS = {unit: 1024**power for power, unit in enumerate("KMGTPE", start=1)}

# Numbers that are lengths of arrays, by element
_LENGTHS = {"numeric": ("size",), "user": ("dim",)}
_LENGTHS_ANYWHERE = ("actdim", "nsample")

_LONGEST_NUMBER, _MOST_NUMBERS = 20, 16
_FAR_TOO_MANY = 10**18
_PNG = b"\x89PNG\r\n\x1a\n"


@dataclass
class Claims:
    """Requests of one model, with the files that it includes.

    Attributes:
        cells: Points, pixels and numbers.
        elements: Elements that are written.
        made: Elements after copying; those of attached models not counted.
        attached: Number of attached models.
        models: Files of models that may be attached.
    """

    cells: int = 0
    elements: int = 0
    made: int = 0
    attached: int = 0
    models: set[Path] = field(default_factory=set)

    def add(self, tag: str, attributes: Mapping[str, str], times: int) -> int:
        """Count an element of which `times` copies are made; returns the number of copies of its children."""
        self.elements += 1
        self.made += times
        if tag == "attach":
            self.attached += times
        elif tag in ("composite", "flexcomp"):
            self.made += times * math.prod(_numbers(tag, attributes, "count"))
        elif tag == "hfield":
            self.cells += math.prod(_number(tag, attributes, key) for key in ("nrow", "ncol"))
        elif tag == "texture":
            width, height = (_number(tag, attributes, key) for key in ("width", "height"))
            sides = height if attributes.get("type") == "2d" else max(height, 6 * width)
            self.cells += width * sides * max(1, _number(tag, attributes, "nchannel"))
        elif tag == "mesh" and "builtin" in attributes:
            self.cells += max(_numbers(tag, attributes, "params"), default=0) ** 2
        elif tag == "size":
            _check_sizes(attributes)
        for key in (*_LENGTHS.get(tag, ()), *_LENGTHS_ANYWHERE):
            self.cells += times * _number(tag, attributes, key)
        return min(times * max(1, _number(tag, attributes, "count")), _FAR_TOO_MANY) if tag == "replicate" else times


def check_claims(models: Mapping[Path | None, Claims], files: list[Path], xml_bytes: int) -> None:
    """Raise SpecError if models request more than their files account for.

    Args:
        models: Claims by the model's file; that of the whole has None.
        files: Meshes and images that they refer to.
        xml_bytes: Bytes of all XML.
    """
    try:
        copies = _made(models, None, {}) - sum(claims.elements for claims in models.values())
    except RecursionError:
        raise SpecError(f"the model attaches others in a chain of {len(models)}; that is too long") from None
    if copies > _COPIES:
        raise SpecError(
            f"the model makes {_told(copies)} copies of its elements (replicate, composite, flexcomp, attach); a file "
            f"may make {_COPIES}, a mujoco.MjModel that you compile any number"
        )
    cells = sum(claims.cells for claims in models.values()) + sum(map(_pixels, files))
    most = _CELLS + _CELLS_A_BYTE * (xml_bytes + sum(file.stat().st_size for file in files))
    if cells > most:
        raise SpecError(
            f"the model asks for {_told(cells)} points, pixels and numbers (hfield, texture, images, sizes); its files "
            f"may ask for {most}, a mujoco.MjModel that you compile for any number"
        )


def _made(models: Mapping[Path | None, Claims], name: Path | None, known: dict[Path | None, float]) -> float:
    """Elements of a model with everything attached to it, by the largest candidates."""
    if name not in known:
        known[name] = math.inf  # for a model that is attached to itself
        claims = models[name]
        largest = max((_made(models, each, known) for each in claims.models if each in models), default=0.0)
        known[name] = claims.made + (claims.attached * largest if claims.attached else 0.0)
    return known[name]


def _told(number: float) -> str:
    return f"{number:g}" if number > 1e15 else f"{number:.0f}"


def _pixels(file: Path) -> int:
    """Pixels of a PNG image, which compression may shrink a thousandfold; 0 for other files."""
    with file.open("rb") as opened:
        head = opened.read(24)
    if not head.startswith(_PNG) or len(head) < 24:
        return 0
    return int.from_bytes(head[16:20], "big") * int.from_bytes(head[20:24], "big")


def _check_sizes(attributes: Mapping[str, str]) -> None:
    memory = attributes.get("memory", "").strip()
    if memory and memory != "-1":
        factor = _UNITS.get(memory[-1].upper(), 1)
        claimed = factor * _whole("size", "memory", memory[:-1] if factor > 1 else memory)
        if claimed > _MEMORY_BYTES:
            raise SpecError(f"memory of size is {memory!r}; a file may ask for {_MEMORY_BYTES} bytes")
    for key, most in _SIZES.items():
        if _number("size", attributes, key) > most:
            raise SpecError(f"{key} of size is {attributes[key][:40]!r}; a file may ask for {most}")


def _number(tag: str, attributes: Mapping[str, str], key: str) -> int:
    """A whole number that is an attribute; 0 where it is missing or negative."""
    return _whole(tag, key, attributes[key]) if key in attributes else 0


def _numbers(tag: str, attributes: Mapping[str, str], key: str) -> list[int]:
    words = attributes.get(key, "").split()
    if len(words) > _MOST_NUMBERS:
        raise SpecError(f"{key} of {tag} has {len(words)} numbers; it may have {_MOST_NUMBERS}")
    return [_whole(tag, key, word) for word in words]


def _whole(tag: str, key: str, word: str) -> int:
    try:
        value = float(word) if len(word) <= _LONGEST_NUMBER else math.nan
        return max(0, math.ceil(value))
    except (ValueError, OverflowError):
        raise SpecError(f"{key} of {tag} is {word[:40]!r}; it must be a number that a model can have") from None
