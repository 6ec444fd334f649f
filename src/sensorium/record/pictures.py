"""Images as PNG and TIFF files."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.files.atomic import checked_path, replacing


def save_png(path: str | PathLike[str], pixels: NDArray[Any]) -> None:
    """Write a picture without loss; the same pixels give the same bytes.

    Args:
        path: File to write; one that exists is replaced.
        pixels: uint8 or uint16 of shape (height, width), or uint8 of shape (height, width, 3), red green blue.
    """
    path = checked_path(path, before="pixels")
    # Here, not above: it is slow to load
    from PIL import Image

    array = np.asarray(pixels)
    is_gray = array.ndim == 2 and array.dtype in (np.uint8, np.uint16)
    is_color = array.ndim == 3 and array.shape[2:] == (3,) and array.dtype == np.uint8
    if not (is_gray or is_color) or 0 in array.shape:
        rule = "PNG must have (height, width) of uint8 or uint16, or (height, width, 3) of uint8"
        raise SpecError(f"pixels have shape {array.shape} and type {array.dtype}; {rule}")
    with replacing(path) as file:
        Image.fromarray(np.ascontiguousarray(array)).save(file, format="PNG")


_TYPES = (np.uint8, np.uint16, np.float32)


def save_tiff(path: str | PathLike[str], pixels: NDArray[Any]) -> None:
    """Write a picture without loss or compression; the same pixels give the same bytes. NaN stays NaN.

    Args:
        path: File to write; one that exists is replaced.
        pixels: uint8, uint16 or float32 of shape (height, width), or uint8 of shape (height, width, 3), red green
            blue.
    """
    path = checked_path(path, before="pixels")
    # Here, not above: it is slow to load
    from PIL import Image

    array = np.asarray(pixels)
    is_gray = array.ndim == 2 and array.dtype in _TYPES
    is_color = array.ndim == 3 and array.shape[2:] == (3,) and array.dtype == np.uint8
    if not (is_gray or is_color) or 0 in array.shape:
        rule = "TIFF must have (height, width) of uint8, uint16 or float32, or (height, width, 3) of uint8"
        raise SpecError(f"pixels have shape {array.shape} and type {array.dtype}; {rule}")
    with replacing(path) as file:
        Image.fromarray(np.ascontiguousarray(array)).save(file, format="TIFF")
