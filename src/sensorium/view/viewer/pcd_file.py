"""Clouds in PCD files, binary or text."""

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, in_one_line
from sensorium.files.plain_files import open_regular

_LETTERS = {"F": "f", "I": "i", "U": "u"}
_MAX_POINT_BYTES = 1 << 12
_HEADER = ("FIELDS", "SIZE", "TYPE", "COUNT", "POINTS", "DATA")


def read_pcd(path: Path) -> tuple[NDArray[np.float64], NDArray[np.int32]]:
    """Points [m], shape (n, 3), and their label numbers, shape (n,), 0 where the file has none."""
    try:
        with open_regular(path) as file:
            content = file.read()
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror}") from None
    header, begin = _header(path, content)
    try:
        count = int(header["POINTS"][0])
        sizes = zip(header["FIELDS"], header["TYPE"], header["SIZE"], header["COUNT"], strict=True)
        kind = np.dtype([(name, f"<{_LETTERS[t]}{s}", (int(c),) if int(c) > 1 else ()) for name, t, s, c in sizes])
        if kind.itemsize > _MAX_POINT_BYTES:
            raise ValueError(f"a point takes {kind.itemsize} bytes; it may take {_MAX_POINT_BYTES}")
        if header["DATA"] == ["binary"]:
            rows = np.frombuffer(content, kind, count, begin)
        elif header["DATA"] == ["ascii"]:
            with np.errstate(over="ignore"):  # numbers too large for the type become infinite, and are refused below
                rows = np.array([tuple(line.split()) for line in content[begin:].decode().splitlines()[:count]], kind)
        else:
            raise SpecError(f"{path.name!r} is PCD as {header['DATA'][0]!r}; it must be binary or ascii")
        xyz = np.stack([rows[axis] for axis in "xyz"], axis=-1).astype(np.float64)
        label = rows["label"].astype(np.int32) if "label" in header["FIELDS"] else np.zeros(len(rows), np.int32)
        if xyz.shape != (count, 3) or label.shape != (count,):
            raise ValueError(f"it claims {count} points and has {xyz.shape[0]}, of shape {xyz.shape[1:]}")
        if np.isinf(xyz).any():
            raise ValueError("a point is infinitely far away")
    except (KeyError, ValueError, IndexError, TypeError, OverflowError) as error:
        raise SpecError(f"{path.name!r} is no whole PCD file: {in_one_line(error)}") from None
    return xyz, label


def _header(path: Path, content: bytes) -> tuple[dict[str, list[str]], int]:
    """The words of each line up to DATA, and where the points begin."""
    found: dict[str, list[str]] = {}
    place = 0
    while "DATA" not in found:
        end = content.find(b"\n", place)
        if end < 0 or end - place > 10_000:
            raise SpecError(f"{path.name!r} is no PCD file; its header must end with a line DATA")
        word, *rest = content[place:end].decode("ascii", "replace").split() or [""]
        place = end + 1
        if word in _HEADER:
            found[word] = rest
    found.setdefault("COUNT", ["1"] * len(found.get("FIELDS", [])))
    return found, place
