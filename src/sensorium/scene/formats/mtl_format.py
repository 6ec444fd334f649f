"""Material files of OBJ meshes: of each material the color `Kd` and the image `map_Kd` with its mapping.

A material is parsed when a face uses it, so that errors in an unused one have no effect. An image is searched beside
the material file and below, or beside the mesh; an absolute path of another computer by its file name. Options that
move an image are applied, those that change its values are refused, and those for a renderer's filtering are ignored.
"""

from dataclasses import dataclass
from pathlib import Path, PureWindowsPath

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SceneError
from sensorium.scene.formats.guards import check_inside
from sensorium.scene.formats.text_lines import lines_of, plain_number
from sensorium.scene.formats.textures import PaintError, pixels_of

Color = tuple[float, float, float]

# Image formats that are opened; image readers accept others, some of which start programs
_FORMATS = ("PNG", "JPEG", "WEBP", "BMP", "TGA", "TIFF", "GIF")

# Options of `map_Kd` with the most words each takes; of those in _PLACES fewer may be given
_PLACES = {"-o": 3, "-s": 3, "-t": 3}
_OTHERS = {"-blendu": 1, "-blendv": 1, "-boost": 1, "-cc": 1, "-clamp": 1, "-imfchan": 1, "-mm": 2, "-texres": 1}


@dataclass(frozen=True)
class ImageMap:
    """An image on faces: at (u, v) of the mesh it shows its value at scale times (u, v) plus offset.

    Attributes:
        path: Its file.
        said: Which line names it.
        scale: Of u and v, as `-s` says.
        offset: Of u and v, as `-o` says.
        clamped: Whether its edge continues beyond it; else it repeats.
    """

    path: Path
    said: str
    scale: tuple[float, float] = (1.0, 1.0)
    offset: tuple[float, float] = (0.0, 0.0)
    clamped: bool = False

    def placed(self, uv: NDArray[np.float64]) -> NDArray[np.float64]:
        """Positions in the image of places on the mesh, shape (n, 2)."""
        return np.asarray(np.asarray(self.scale) * uv + np.asarray(self.offset))

    def pixels(self) -> NDArray[np.uint8]:
        """Its sRGB values, (rows, columns, 3)."""
        from PIL import Image

        try:
            with Image.open(self.path, formats=_FORMATS) as image:
                return pixels_of(image)
        except SceneError as error:
            raise PaintError(f"{self.said}: {error}") from None
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            raise PaintError(f"{self.said}: image {self.path.name!r} cannot be read: {why}") from error


@dataclass
class MtlMaterial:
    """A material as its file says it.

    Attributes:
        file: The material file.
        root: Folder of the mesh, which no image may leave.
        color_line: Number and words of its last line `Kd`, None without any.
        map_line: Likewise of `map_Kd`.
    """

    file: Path
    root: Path
    color_line: tuple[int, list[str]] | None = None
    map_line: tuple[int, list[str]] | None = None

    def color(self) -> Color:
        """Linear reflectance in red, green and blue; one number applies to all three, white if none is given."""
        if self.color_line is None:
            return (1.0, 1.0, 1.0)
        number, words = self.color_line
        values = [value for word in words if (value := _number(word)) is not None and 0.0 <= value <= 1.0]
        if len(values) not in (1, 3) or len(values) != len(words):
            given = " ".join(words)[:60]
            raise PaintError(f"{self.file.name} line {number} has Kd {given!r}; it must be 1 or 3 numbers in 0..1")
        red, green, blue = values * (3 // len(values))
        return (red, green, blue)

    def image(self) -> ImageMap | None:
        """Its image, None without any."""
        if self.map_line is None:
            return None
        number, words = self.map_line
        said = f"{self.file.name} line {number}"
        scale, offset, clamped = (1.0, 1.0), (0.0, 0.0), False
        rest = list(words)
        while rest and rest[0].startswith("-"):
            option, values, rest = _option(rest, said)
            if option == "-s":
                scale = values[0], (values[1:] or [1.0])[0]
            elif option == "-o":
                offset = values[0], (values[1:] or [0.0])[0]
            elif option == "-clamp":
                clamped = values == [1.0]
        if not rest:
            raise PaintError(f"{said} maps {' '.join(words)[:60]!r}; it must end with the name of an image")
        return ImageMap(self._find(" ".join(rest), said), said, scale, offset, clamped)

    def _find(self, name: str, said: str) -> Path:
        """The file that a line names: beside the material file, or beside the mesh."""
        # An absolute path belongs to the computer it was written on
        absolute = bool(PureWindowsPath(name).anchor)
        local = PureWindowsPath(name).name if absolute else name.replace("\\", "/")
        for folder in (self.file.parent, self.root):
            try:
                found = check_inside(local, folder, root=self.root)
            except SceneError as error:
                if folder == self.file.parent:
                    raise PaintError(f"{said}: {error}") from None
                break  # from the mesh it would leave the folder; from the material file it does not
            if found.is_file():
                return found
        also = f", nor {local!r} beside it" if absolute else ""
        raise PaintError(f"{said} names the image {name!r}, which is not there{also}")


def read_mtl(path: Path, root: Path) -> dict[str, MtlMaterial]:
    """Materials of a file by name; their images must be in the root folder or below."""
    found: dict[str, MtlMaterial] = {}
    current: MtlMaterial | None = None
    for number, words in lines_of(path):
        key = words[0].lower()
        if key == "newmtl":
            current = found[" ".join(words[1:])] = MtlMaterial(path, root)
        elif key == "kd" and current is not None:
            current.color_line = number, words[1:]
        elif key == "map_kd" and current is not None:
            current.map_line = number, words[1:]
    return found


def _option(words: list[str], said: str) -> tuple[str, list[float], list[str]]:
    """The option that words begin with, its values, and the words after it; on is 1 and off is 0."""
    option = words[0].lower()
    if option not in _PLACES and option not in _OTHERS:
        known = ", ".join(sorted((*_PLACES, *_OTHERS)))
        raise PaintError(f"{said} has the option {option[:20]!r}; it must be one of {known}")

    # Numbers end where the file name begins, which may be a number too
    values: list[float] = []
    for word in words[1 : 1 + _PLACES.get(option, 0)]:
        value = _number(word)
        if value is None or len(values) + 2 == len(words):
            break
        values.append(value)
    taken = len(values) if option in _PLACES else _OTHERS[option]
    given = words[1 : 1 + taken]
    if option == "-clamp":
        values = [1.0 if [word.lower() for word in given] == ["on"] else 0.0]
    if option in _PLACES and not values:
        raise PaintError(f"{said} has the option {option} without numbers; it takes 1 to 3")
    if option == "-t" and any(values):
        raise PaintError(f"{said} has the option -t {' '.join(given)}; images are not disturbed, it must be 0")
    if option == "-mm" and [_number(word) for word in given] != [0.0, 1.0]:
        raise PaintError(f"{said} has the option -mm {' '.join(given)}; values are not changed, it must be 0 1")
    return option, values, words[1 + taken :]


def _number(word: str) -> float | None:
    """A finite number, None where a word is none."""
    try:
        value = float(plain_number(word))
    except ValueError:
        return None
    return value if np.isfinite(value) else None
