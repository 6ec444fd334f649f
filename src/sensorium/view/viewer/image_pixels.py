"""Pixels of sensor_msgs/Image, as a viewer can show them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

# Encoding -> type of a number, how many a pixel has, and in which order they are red, green, blue (and opacity)
_GRAY, _RGB, _BGR, _RGBA, _BGRA = (0,), (0, 1, 2), (2, 1, 0), (0, 1, 2, 3), (2, 1, 0, 3)
_ENCODINGS: dict[str, tuple[str, int, tuple[int, ...]]] = {
    **dict.fromkeys(("mono8", "8UC1"), ("u1", 1, _GRAY)),
    **dict.fromkeys(("mono16", "16UC1"), ("u2", 1, _GRAY)),
    "8SC1": ("i1", 1, _GRAY),
    "16SC1": ("i2", 1, _GRAY),
    "32SC1": ("i4", 1, _GRAY),
    "32FC1": ("f4", 1, _GRAY),
    "64FC1": ("f8", 1, _GRAY),
    "rgb8": ("u1", 3, _RGB),
    **dict.fromkeys(("bgr8", "8UC3"), ("u1", 3, _BGR)),
    "rgb16": ("u2", 3, _RGB),
    **dict.fromkeys(("bgr16", "16UC3"), ("u2", 3, _BGR)),
    "rgba8": ("u1", 4, _RGBA),
    **dict.fromkeys(("bgra8", "8UC4"), ("u1", 4, _BGRA)),
    **{f"bayer_{order}8": ("u1", 1, _GRAY) for order in ("rggb", "bggr", "grbg", "gbrg")},
    **{f"bayer_{order}16": ("u2", 1, _GRAY) for order in ("rggb", "bggr", "grbg", "gbrg")},
    "32FC2": ("f4", 2, (0, 1)),
    "32FC3": ("f4", 3, _RGB),
}


def can_be_shown(encoding: str) -> bool:
    """Whether `pixels_of` supports an encoding."""
    return encoding in _ENCODINGS


def pixels_of(message: Any) -> NDArray[Any]:
    """An image's pixels, shape (height, width) or (height, width, 3 or 4); rows may be padded.

    Vectors (32FC2 such as optical flow, 32FC3 such as normals) become colors: 0.5 + 0.5 v / |v|max for x, y and z,
    gray where a vector has no z, black where it is not finite.
    """
    kind, channels, order = _ENCODINGS[message.encoding]
    dtype = np.dtype(kind).newbyteorder(">" if message.is_bigendian else "<")
    rows = np.frombuffer(bytes(message.data), np.uint8).reshape(message.height, message.step)
    wide = np.ascontiguousarray(rows[:, : message.width * channels * dtype.itemsize]).view(dtype)
    pixels = wide.astype(dtype.newbyteorder("="), copy=False)
    if channels == 1:
        return pixels
    pixels = pixels.reshape(message.height, message.width, channels)[..., list(order)]
    return _colors(pixels) if message.encoding.startswith("32FC") else pixels


def _colors(vectors: NDArray[Any]) -> NDArray[np.uint8]:
    """Vectors (height, width, 2 or 3) as colors."""
    is_finite = np.isfinite(vectors).all(axis=-1)
    v = np.where(is_finite[..., None], vectors, 0.0).astype(np.float64)
    largest = np.sqrt((v * v).sum(axis=-1).max(initial=0.0)) or 1.0
    colors = np.full((*v.shape[:2], 3), 0.5)
    colors[..., : v.shape[-1]] += 0.5 * v / largest
    return np.where(is_finite[..., None], np.rint(255.0 * colors), 0.0).astype(np.uint8)
