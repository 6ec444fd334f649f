"""Lists of radar detections as YAML, as drivers of Continental's ARS548 and SRR520 print them.

    v_ambiguous: 21.4454        fields of the list, `key: value` at the outermost level
    detections:
      - range: 4.81074          a detection begins with a dash; its fields are indented alike
        azimuth_angle: 0.344959
        range_rate: -0.0293251

Units are SI and radians. Only this part of YAML is read, line by line: no tags, no aliases, no text.
"""

import math
import re
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.files.plain_files import read_bounded

_MOST_BYTES = 1 << 26
_NEEDED = ("range", "azimuth_angle", "range_rate")
_MOST_FIELDS = 100
_LINE = re.compile(r"(?P<indent> *)(?P<dash>- )?(?P<key>[A-Za-z_]\w*):(?: +(?P<value>\S.*?))? *")
_FLAGS = {"true": 1.0, "false": 0.0}

# Fields that only lists of one device have
_DEVICES = {"ambiguity_free_velocity_min": "ARS548", "pdh00": "SRR520"}


class DetectionList(NamedTuple):
    """Detections of one radar frame.

    Attributes:
        path: The file.
        device: Model by the fields of its list; "" for any other.
        fields: Values of each field, shape (detections,); flags are 0 and 1. `range` [m], `azimuth_angle` [rad] and
            `range_rate` [m/s] are always there.
        head: Numbers of the list itself, as `v_ambiguous`.
    """

    path: Path
    device: str
    fields: dict[str, NDArray[np.float64]]
    head: dict[str, float]


def is_radar_list(start: bytes) -> bool:
    """Whether a file that begins with these bytes may be such a list: a message with a header."""
    return start.startswith(b"header:\n  stamp:\n")


def read_radar_list(path: str | PathLike[str]) -> DetectionList:
    """Read a list.

    Raises:
        SpecError: Naming the line, where it is not `key: value`; or a detection lacks a field that others have.
    """
    path = Path(path)
    try:
        content, size = read_bounded(path, _MOST_BYTES)
        text = content.decode("utf-8")
    except OSError as error:
        raise SpecError(f"{path.name!r} cannot be read: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise SpecError(f"{path.name!r} is not text in UTF-8") from None
    if len(content) > _MOST_BYTES:
        raise SpecError(f"{path.name!r} has {size} bytes; a list may have {_MOST_BYTES}")
    head, items = _parsed(path, text)
    if not items:
        raise SpecError(f"{path.name!r} has no detections; a list has them under 'detections:'")
    names = list(items[0])
    for number, item in enumerate(items):
        if item.keys() != items[0].keys():
            other = sorted(item.keys() ^ items[0].keys())[0]
            raise SpecError(f"detection {number} of {path.name!r} differs from the first in {other!r}; all must agree")
    missing = [name for name in _NEEDED if name not in names]
    if missing:
        raise SpecError(f"detections of {path.name!r} have no {missing[0]!r}; they must have {', '.join(_NEEDED)}")
    fields = {name: np.array([item[name] for item in items]) for name in names}
    device = next((model for key, model in _DEVICES.items() if key in head or key in names), "")
    return DetectionList(path, device, fields, head)


def _parsed(path: Path, text: str) -> tuple[dict[str, float], list[dict[str, float]]]:
    """Numbers of the list, and fields of each detection."""
    head: dict[str, float] = {}
    items: list[dict[str, float]] = []
    inside, indent = False, -1
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        match, at = _LINE.fullmatch(line), f"line {number} of {path.name!r}"
        if match is None:
            raise SpecError(f"{at} is {line.strip()[:60]!r}; it must be 'key: value'")
        key, value, depth = match["key"], match["value"], len(match["indent"])
        if depth == 0 and not match["dash"]:
            inside = key == "detections"
            if value is not None and (found := _number(value)) is not None:
                head[key] = found
            continue
        if not inside:
            continue  # fields of the header's time and place
        if match["dash"]:
            items.append({})
            indent = depth + 2
            depth = indent
        found = None if value is None else _number(value)
        if not items or depth != indent or found is None or key in items[-1] or len(items[-1]) >= _MOST_FIELDS:
            raise SpecError(f"{at} is {line.strip()[:60]!r}; it must be a field of a detection with a finite number")
        items[-1][key] = found
    return head, items


def _number(text: str) -> float | None:
    """A finite number or a flag; None for anything else."""
    if text in _FLAGS:
        return _FLAGS[text]
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) and abs(value) < 1e15 else None
