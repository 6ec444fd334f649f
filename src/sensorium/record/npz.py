"""Whole scans as NumPy archives, and back."""

import math
from dataclasses import fields
from os import PathLike
from typing import Any

import numpy as np

from sensorium.core.errors import RecordError, SpecError
from sensorium.core.frames import Pose
from sensorium.files.atomic import checked_path, replacing
from sensorium.files.npz_archive import read_arrays
from sensorium.record.clouds.cloud import checked_scan
from sensorium.sensors.lidar.range_image import RangeImage
from sensorium.sensors.lidar.scan import Light, Scan, ScanField
from sensorium.sensors.lidar.waveform.reading import Waveforms

# Arrays that a scan may lack, and kinds of numbers that those of light may be: intensities have a scale of their own
_OPTIONAL = tuple(field.name for kind in (Scan, Light) for field in fields(kind) if field.default is None)
_OF_LIGHT = "iuf"

_TIMES = ("offset_ns", "knot_ns")
_WAVEFORM = ("start_s", "resolution_s", "index")
_IMAGE = ("near", "far", "scale_m")
_NUMBERS = {"start_ns": int, "end_ns": int, "clock_offset_ns": int, "clock_skew": float, "frame": str}

# An archive may not unpack to more than this, lest a small file fill the memory [bytes]
_LARGEST = 4 << 30


def save_npz(path: str | PathLike[str], scan: Scan, *, compress: bool = True) -> None:
    """Write every array and number of a scan under its own name.

    Names of light's begin with `light_`, of samples' `waveform_`, and of range images' `range_image_`.

    Args:
        path: File to write; one that exists is replaced.
        scan: Any scan, with worlds and sensors too.
        compress: Whether to compress, which takes longer and is a few times smaller.
    """
    content: dict[str, Any] = {name: getattr(checked_scan(scan), name) for name in (*_TIMES, *_NUMBERS)}
    content |= {"X_WS_position": scan.X_WS.position, "X_WS_quaternion": scan.X_WS.quaternion}
    for field in scan.FIELDS:
        owner = scan.light if field.of_light else scan
        array = None if owner is None else getattr(owner, field.name)
        if array is not None:
            content[_key(field)] = array
    if scan.waveform is not None:
        content |= {f"waveform_{name}": getattr(scan.waveform, name) for name in ("samples", *_WAVEFORM)}
    if scan.range_image is not None:
        content |= {f"range_image_{name}": getattr(scan.range_image, name) for name in _IMAGE}
        content["range_image_range"] = scan.range_image.values
    with replacing(path) as file:
        (np.savez_compressed if compress else np.savez)(file, **content)


def load_npz(path: str | PathLike[str]) -> Scan:
    """The scan that `save_npz` wrote, equal in every bit.

    Raises:
        SpecError: There is no such file.
        RecordError: It is not such an archive.
    """
    path = checked_path(path)
    try:
        return _scan(read_arrays(path, max_bytes=_LARGEST))
    except OSError as error:
        raise SpecError(f"{str(path)!r} cannot be read: {error.strerror}") from None
    except (KeyError, ValueError, TypeError) as error:
        reason = " ".join(str(error).split())[:120]
        raise RecordError(f"{path.name!r} is no archive of a scan: {reason}") from None


def _scan(content: dict[str, Any]) -> Scan:
    shape = content["range_m"].shape
    arrays = _arrays(content, shape, of_light=False)
    offset_ns = content["offset_ns"]
    if offset_ns.dtype.kind not in "iu" or np.broadcast_shapes(offset_ns.shape, shape) != shape:
        raise ValueError(f"offset_ns has shape {offset_ns.shape} and type {offset_ns.dtype} beside ranges {shape}")
    numbers: dict[str, Any] = {name: kind(content[name].item()) for name, kind in _NUMBERS.items()}
    if not math.isfinite(numbers["clock_skew"]):
        raise ValueError("clock_skew is not finite")

    # The path of the sensor: poses at knots, for each world and sensor
    knot_ns = _array(content, "knot_ns", "iu", (content["knot_ns"].size,))
    position, quaternion = content["X_WS_position"], content["X_WS_quaternion"]
    batch = position.shape[:-1]
    for name, array, width in (("X_WS_position", position, 3), ("X_WS_quaternion", quaternion, 4)):
        _array(content, name, "f", (*batch, width))
        if batch[:1] != knot_ns.shape or not np.isfinite(array).all():
            raise ValueError(f"{name} has shape {array.shape} for {len(knot_ns)} knots; it must fit them and be finite")
    pose = Pose._trusted(position, quaternion)

    # Arrays that only some lidars have
    light = waveform = image = None
    if "light_intensity" in content:
        light = Light(**_arrays(content, shape, of_light=True))
    if "waveform_samples" in content:
        window = {name: float(content[f"waveform_{name}"].item()) for name in _WAVEFORM}
        samples = content["waveform_samples"]
        if not all(map(math.isfinite, window.values())) or window["resolution_s"] <= 0.0 or window["index"] <= 0.0:
            raise ValueError(f"waveform_ is {window}; its numbers must be finite, and two of them positive")
        if samples.dtype.kind != "f" or samples.ndim < 3 or samples.shape[-3:-1] != shape[-2:]:
            raise ValueError(f"waveform_samples has shape {samples.shape} and type {samples.dtype} beside {shape}")
        waveform = Waveforms(samples, **window)
    if "range_image_range" in content:
        values = {name: float(content[f"range_image_{name}"].item()) for name in _IMAGE}
        image = RangeImage(_array(content, "range_image_range", "f", shape), **values)
    return Scan(
        **arrays,
        **numbers,
        offset_ns=offset_ns,
        knot_ns=knot_ns,
        X_WS=pose,
        light=light,
        waveform=waveform,
        range_image=image,
    )


def _key(field: ScanField) -> str:
    """Name of a field's array in the archive."""
    return f"light_{field.name}" if field.of_light else field.name


def _arrays(content: dict[str, Any], shape: tuple[int, ...], *, of_light: bool) -> dict[str, Any]:
    """Arrays of returns by name, of light or all others; those that a scan may lack where they are there."""
    found = {}
    for field in Scan.FIELDS:
        if field.of_light == of_light and (_key(field) in content or field.name not in _OPTIONAL):
            kinds = _OF_LIGHT if of_light else np.dtype(field.dtype).kind
            found[field.name] = _array(content, _key(field), kinds, shape + field.tail)
    return found


def _array(content: dict[str, Any], name: str, kinds: str, shape: tuple[int, ...]) -> Any:
    """An array of the archive, of one of some number types and with the shape of the ranges."""
    array = content[name]
    if array.dtype.kind not in kinds or array.shape != shape:
        raise ValueError(f"{name} has shape {array.shape} and type {array.dtype}; it must have shape {shape}")
    return array
