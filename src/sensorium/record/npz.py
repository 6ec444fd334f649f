"""Whole scans as NumPy archives, and back."""

import math
import zipfile
from dataclasses import fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from sensorium.errors import RecordError, SpecError
from sensorium.frames import Pose
from sensorium.record.atomic import replacing
from sensorium.sensors.scan import Light, Scan
from sensorium.sensors.waveform.reading import Waveforms

_LIGHT = tuple(field.name for field in fields(Light))
_ARRAYS = ("range_m", "points", "object_id", "face_id", "label", "offset_ns", "knot_ns")
_WAVEFORM = ("start_s", "resolution_s", "index")
_NUMBERS = {"start_ns": int, "end_ns": int, "clock_offset_ns": int, "clock_skew": float, "frame": str}

# An archive may not unpack to more than this, lest a small file fill the memory [bytes]
_LARGEST = 4 << 30


def save_npz(scan: Scan, path: str | PathLike[str], *, compress: bool = True) -> None:
    """Write every array and number of a scan under its own name; light's begin with `light_`, samples' `waveform_`.

    Args:
        scan: Any scan, with worlds and sensors too.
        path: File to write; one that exists is replaced.
        compress: Whether to compress, which takes longer and is a few times smaller.
    """
    content: dict[str, Any] = {name: getattr(scan, name) for name in (*_ARRAYS, *_NUMBERS)}
    content |= {"X_WS_position": scan.X_WS.position, "X_WS_quaternion": scan.X_WS.quaternion}
    if scan.light is not None:
        light = {f"light_{name}": getattr(scan.light, name) for name in _LIGHT}
        content |= {name: array for name, array in light.items() if array is not None}
    if scan.normals is not None:
        content["normals"] = scan.normals
    if scan.waveform is not None:
        content |= {f"waveform_{name}": getattr(scan.waveform, name) for name in ("samples", *_WAVEFORM)}
    with replacing(path) as file:
        (np.savez_compressed if compress else np.savez)(file, **content)


def load_npz(path: str | PathLike[str]) -> Scan:
    """The scan that `save_npz` wrote, equal in every bit.

    Raises:
        SpecError: There is no such file.
        RecordError: It is not such an archive.
    """
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(entry.file_size for entry in archive.infolist())
        if size > _LARGEST:
            raise RecordError(f"{path.name!r} unpacks to {size} bytes; a scan must not exceed {_LARGEST}")
        with np.load(path, allow_pickle=False) as content:
            return _scan({name: content[name] for name in content.files})
    except OSError as error:
        raise SpecError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except (KeyError, ValueError, TypeError, EOFError, NotImplementedError, zipfile.BadZipFile) as error:
        reason = " ".join(str(error).split())[:120]
        raise RecordError(f"{path.name!r} is no archive of a scan: {reason}") from None


def _scan(content: dict[str, Any]) -> Scan:
    light = None
    if "light_intensity" in content:
        light = Light(**{name: content.get(f"light_{name}") for name in _LIGHT})  # type: ignore[arg-type]
    numbers: dict[str, Any] = {name: kind(content[name].item()) for name, kind in _NUMBERS.items()}
    if not math.isfinite(numbers["clock_skew"]):
        raise ValueError("clock_skew is not finite")
    pose = Pose._trusted(content["X_WS_position"], content["X_WS_quaternion"])
    waveform = None
    if "waveform_samples" in content:
        window = {name: float(content[f"waveform_{name}"].item()) for name in _WAVEFORM}
        waveform = Waveforms(content["waveform_samples"], **window)
    arrays = {name: content[name] for name in _ARRAYS}
    return Scan(**arrays, **numbers, X_WS=pose, light=light, waveform=waveform, normals=content.get("normals"))
