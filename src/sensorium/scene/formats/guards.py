"""Checks of sizes and references in a mesh file, before a reader uses them.

Readers trust headers: a short STL gives an empty mesh, a few bytes may claim terabytes, a reference may lead out of the
folder. Each guard raises SceneError with the broken rule.
"""

import struct
from pathlib import Path

from sensorium.core.errors import SceneError
from sensorium.files.plain_files import read_bounded


def is_text_stl(path: Path) -> bool:
    """Distinguish text from binary STL; some binary files begin with "solid" too, so the exact size decides."""
    with path.open("rb") as file:
        head = file.read(84)
    size = path.stat().st_size
    if len(head) == 84 and size == _stl_size(head):
        return False
    return head.lstrip().lower().startswith(b"solid")


def check_stl(path: Path) -> int:
    """Triangles of a binary STL: it has 84 bytes and 50 for each, no more and no less."""
    size = path.stat().st_size
    with path.open("rb") as file:
        head = file.read(84)
    if len(head) < 84:
        raise SceneError(f"it has {size} bytes; a binary STL has at least 84")
    if size != _stl_size(head):
        count = (_stl_size(head) - 84) // 50
        raise SceneError(f"it claims {count} triangles in {size} bytes; they take {_stl_size(head)}")
    return (size - 84) // 50


def check_inside(name: str, folder: Path, root: Path | None = None) -> Path:
    """Return the file that another file refers to; it must be in the mesh file's folder, the root, or below."""
    try:
        root, target = (root or folder).resolve(), (folder / name).resolve()
    except (OSError, ValueError) as error:
        raise SceneError(f"it refers to {name!r}, which is no file name") from error
    if not target.is_relative_to(root) or "\\" in name:
        raise SceneError(f"it refers to {name!r}, which leaves its folder; references must stay inside")
    return target


def read_reference(path: Path, max_bytes: int) -> bytes:
    """Bytes of a file that a mesh file refers to; one that is no regular file or too large is refused."""
    try:
        data, _ = read_bounded(path, max_bytes)
    except OSError as error:
        raise SceneError(f"it refers to {path.name!r}, which cannot be read: {error.strerror or error}") from None
    if len(data) > max_bytes:
        raise SceneError(f"it refers to {path.name!r}, which has more than {max_bytes} bytes")
    return data


def _stl_size(head: bytes) -> int:
    """Bytes a binary STL with this 84-byte header must have."""
    (count,) = struct.unpack("<I", head[80:84])
    return 84 + 50 * int(count)
