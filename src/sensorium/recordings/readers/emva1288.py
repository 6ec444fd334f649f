"""Image sets of EMVA 1288: a descriptor as text, and PNG images of an evenly lit chip.

Lines of the descriptor, each with a letter first; `#` begins a comment:

    v 3.0                         release of the standard
    n 12 640 480                  bits, width and height of all images
    b 40000.0 120.0               bright images: exposure [ns], photons on a pixel
    d 40000.0                     dark images: exposure [ns]
    i images/b_000_snap_001.png   an image of the group above it, or with backslashes

Two images of a group are a pair for the photon transfer; groups of more are for nonuniformity. The same description is
written by `write_descriptor`. Layout as in the reference sets of the EMVA 1288 working group.
"""

import io
import math
import warnings
from collections.abc import Iterable, Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.files.atomic import replacing
from sensorium.files.plain_files import read_bounded

DESCRIPTOR = "EMVA1288_Data.txt"
"""Name of the descriptor in a folder."""

_MAX_DESCRIPTOR_BYTES = 1 << 24
_MAX_PIXELS = 1 << 27
_MAX_PACKED_BYTES = 1 << 29

# Bytes that an image may unpack to, and more for each of its own: images at one code pack a thousandfold
_SMALL_BYTES, _RATIO = 1 << 26, 100


class ImageGroup(NamedTuple):
    """Images of one exposure.

    Attributes:
        exposure_s: Exposure time [s].
        photons: Mean number of photons on a pixel during it; 0 in the dark.
        images: Files of the images that are there.
        missing: Number of images that the descriptor lists and that are not there.
    """

    exposure_s: float
    photons: float
    images: tuple[Path, ...]
    missing: int = 0


class ImageSet(NamedTuple):
    """A set of images of one camera.

    Attributes:
        path: The descriptor.
        bits: Bits of a pixel.
        width: Pixels side by side.
        height: Pixels one above the other.
        bright: Groups with light.
        dark: Groups without.
    """

    path: Path
    bits: int
    width: int
    height: int
    bright: tuple[ImageGroup, ...]
    dark: tuple[ImageGroup, ...]

    @property
    def missing(self) -> int:
        """Number of images that the descriptor lists and that are not there."""
        return sum(group.missing for group in self.bright + self.dark)

    def read(self, path: Path) -> NDArray[np.uint16]:
        """Pixels of an image of the set, shape (height, width).

        Raises:
            SpecError: It is no gray PNG of the set's size, or a pixel has more bits than the set.
        """
        pixels = _gray_png(path, (self.height, self.width))
        if int(pixels.max()) >= 1 << self.bits:
            raise SpecError(f"{path.name!r} has a pixel of {pixels.max()}; {self.path.name!r} gives {self.bits} bits")
        return pixels


def read_emva1288(path: str | PathLike[str]) -> ImageSet:
    """Read a descriptor; images are read later, one by one.

    Args:
        path: The descriptor, or a folder with one of the name `DESCRIPTOR`.

    Raises:
        SpecError: A line is wrong, a file name leads out of the folder, or no group has an image that is there.
    """
    path = Path(path)
    path = path / DESCRIPTOR if path.is_dir() else path
    try:
        data, size = read_bounded(path, _MAX_DESCRIPTOR_BYTES)
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror or error}") from None
    if len(data) > _MAX_DESCRIPTOR_BYTES:
        raise SpecError(f"{path.name!r} has {size} bytes; a descriptor may have {_MAX_DESCRIPTOR_BYTES}")
    format_, groups = _parsed(path, data.decode("utf-8", "replace"))
    bits, width, height = format_
    made = [(kind, _with_files(path, exposure, photons, names)) for kind, exposure, photons, names in groups]
    found = ImageSet(
        *(path, bits, width, height),
        bright=tuple(group for kind, group in made if kind == "b"),
        dark=tuple(group for kind, group in made if kind == "d"),
    )
    if not any(group.images for group in found.bright + found.dark):
        raise SpecError(f"none of the {found.missing} images of {path.name!r} is there")
    return found


def write_descriptor(
    path: str | PathLike[str], *, bits: int, width: int, height: int, groups: Iterable[tuple[str, ImageGroup]]
) -> None:
    """Write a descriptor; arguments as in `ImageSet`, groups with "b" or "d" each and images below the folder."""
    path = Path(path)
    lines = ["v 3.1", f"n {bits} {width} {height}"]
    for kind, group in groups:
        photons = f" {group.photons!r}" if kind == "b" else ""
        lines.append(f"{kind} {group.exposure_s * 1e9!r}{photons}")
        lines += [f"i {image.relative_to(path.parent).as_posix()}" for image in group.images]
    with replacing(path) as file:
        file.write(("\n".join(lines) + "\n").encode())


_Group = tuple[str, float, float, list[str]]


def _parsed(path: Path, text: str) -> tuple[tuple[int, int, int], list[_Group]]:
    """Bits, width and height, and groups: kind, exposure [s], photons, names."""
    format_: tuple[int, int, int] | None = None
    groups: list[_Group] = []
    for number, letter, fields in _lines(text):
        at = f"line {number} of {path.name!r}"
        if letter == "n":
            bits, width, height = (int(value) for value in _numbers(at, fields, (3,), whole=True))
            if not (1 <= bits <= 16 and width >= 1 and height >= 1 and width * height <= _MAX_PIXELS):
                rule = f"it must be 1 to 16 bits and at most {_MAX_PIXELS} pixels"
                raise SpecError(f"{at} is {bits} bits, {width} x {height} pixels; {rule}")
            format_ = bits, width, height
        elif letter in "bd":
            values = _numbers(at, fields, (2,) if letter == "b" else (1, 2))
            photons = values[1] if letter == "b" else 0.0
            groups.append((letter, values[0] * 1e-9, photons, []))
        elif letter == "i":
            if not groups or len(fields) == 0:
                raise SpecError(f"{at} is an image without a group or a name; a line b or d must come before")
            groups[-1][3].append(" ".join(fields).replace("\\", "/"))
        elif letter != "v":
            raise SpecError(f"{at} begins with {letter[:20]!r}; it must begin with v, n, b, d, i or #")
    if format_ is None:
        raise SpecError(f"{path.name!r} has no line n; it must give bits, width and height")
    return format_, groups


def _lines(text: str) -> Iterator[tuple[int, str, list[str]]]:
    """Number, letter and further fields of each line that is neither empty nor a comment."""
    for number, line in enumerate(text.splitlines(), start=1):
        fields = line.split()
        if fields and not fields[0].startswith("#"):
            yield number, fields[0], fields[1:]


def _numbers(at: str, fields: list[str], counts: tuple[int, ...], *, whole: bool = False) -> list[float]:
    try:
        values = [float(int(field)) if whole else float(field) for field in fields]
    except (ValueError, OverflowError):
        values = [math.nan]
    if len(values) not in counts or not all(math.isfinite(value) and value >= 0.0 for value in values):
        wanted = " or ".join(str(count) for count in counts)
        raise SpecError(f"{at} has {' '.join(fields)[:60]!r}; it must have {wanted} finite numbers of at least 0")
    return values


def _with_files(path: Path, exposure_s: float, photons: float, names: list[str]) -> ImageGroup:
    """A group with the images that are there."""
    root, there = path.parent.resolve(), []
    for name in names:
        try:
            target = (root / name).resolve()
            is_there = target.is_file()
        except (OSError, ValueError):
            raise SpecError(f"{path.name!r} names {name[:80]!r}, which is no file name") from None
        if not target.is_relative_to(root):
            raise SpecError(f"{path.name!r} names {name[:80]!r}, which leaves its folder; images must be inside")
        if is_there:
            there.append(target)
    return ImageGroup(exposure_s, photons, tuple(there), len(names) - len(there))


def _gray_png(path: Path, shape: tuple[int, int]) -> NDArray[np.uint16]:
    """Pixels of a gray PNG of 8 or 16 bits; its size is checked before it is unpacked."""
    from PIL import Image, UnidentifiedImageError

    try:
        data, size = read_bounded(path, _MAX_PACKED_BYTES)
        if len(data) > _MAX_PACKED_BYTES:
            raise SpecError(f"{path.name!r} has {size} bytes; an image may have {_MAX_PACKED_BYTES}")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # its size is checked here
            with Image.open(io.BytesIO(data), formats=("PNG",)) as image:
                if (image.height, image.width) != shape or image.mode not in ("L", "I;16", "I"):
                    what = f"{image.width} x {image.height} pixels of mode {image.mode}"
                    raise SpecError(f"{path.name!r} has {what}; it must have {shape[1]} x {shape[0]} of gray")
                most = _SMALL_BYTES + _RATIO * len(data)
                if 2 * image.width * image.height > most:
                    what = f"{len(data)} bytes and {image.width} x {image.height} pixels"
                    raise SpecError(f"{path.name!r} has {what}; it may unpack to {most} bytes")
                pixels = np.asarray(image)
    except SpecError:
        raise
    except UnidentifiedImageError:
        raise SpecError(f"{path.name!r} is no PNG image") from None
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror or error}") from None
    except Exception as error:  # the decoder may raise anything for broken bytes
        raise SpecError(f"{path.name!r} cannot be read: {type(error).__name__} {error}") from None
    if int(pixels.min()) < 0 or int(pixels.max()) > 65535:
        raise SpecError(f"{path.name!r} has pixels of {pixels.min()} to {pixels.max()}; they must have 16 bits")
    return pixels.astype(np.uint16)
