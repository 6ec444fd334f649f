"""What a mesh file claims and refers to, checked before a reader believes it.

Readers trust headers: a short STL gives an empty mesh, a few bytes may ask for terabytes, a reference may
lead out of the folder. Each guard raises SceneError with the rule that was broken.
"""

import os
import stat
import struct
from pathlib import Path

from sensorium.errors import SceneError


def is_text_stl(path: Path) -> bool:
    """Tell text from binary STL; some binary files begin with "solid" too, so the exact size decides."""
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
    """Return the file that one in a folder refers to; it must lie in the mesh file's folder, the root, or below."""
    try:
        root, target = (root or folder).resolve(), (folder / name).resolve()
    except (OSError, ValueError) as error:
        raise SceneError(f"it refers to {name!r}, which is no file name") from error
    if not target.is_relative_to(root) or "\\" in name:
        raise SceneError(f"it refers to {name!r}, which leaves its folder; references must stay inside")
    return target


def read_regular(path: Path, max_bytes: int) -> bytes:
    """Bytes of a regular file. A pipe, a socket or a device is refused, and never waited for."""
    handle = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    with os.fdopen(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            raise SceneError(f"it refers to {path.name!r}, which is a pipe, a socket or a device; it must be a file")
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise SceneError(f"it refers to {path.name!r}, which has more than {max_bytes} bytes")
    return data


def _stl_size(head: bytes) -> int:
    """Bytes a binary STL with this 84-byte header must have."""
    (count,) = struct.unpack("<I", head[80:84])
    return 84 + 50 * int(count)
