"""A mosaic of color filters over the pixels (Bayer), and colors interpolated from it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

LAYOUTS = {"rggb": (0, 1, 1, 2), "bggr": (2, 1, 1, 0), "grbg": (1, 0, 2, 1), "gbrg": (1, 2, 0, 1)}
"""Bands of the four pixels at the top left: row by row."""


def mosaic(image: NDArray[Any], layout: str) -> NDArray[Any]:
    """Image of a sensor with a mosaic: one band a pixel, shape (*batch, rows, columns).

    Args:
        image: Red, green and blue at every pixel, shape (*batch, rows, columns, 3).
        layout: One of `LAYOUTS`.
    """
    if layout not in LAYOUTS or image.shape[-1] != 3:
        raise SpecError(
            f"layout is {layout!r} for {image.shape[-1]} bands; it must be one of {', '.join(LAYOUTS)}, for three"
        )
    out = np.empty(image.shape[:-1], image.dtype)
    for number, band in enumerate(LAYOUTS[layout]):
        i, j = divmod(number, 2)
        out[..., i::2, j::2] = image[..., i::2, j::2, band]
    return out


def demosaiced(raw: NDArray[Any], layout: str) -> NDArray[Any]:
    """Red, green and blue at every pixel by bilinear interpolation, shape (*batch, rows, columns, 3), in the raw type.

    A color that a pixel does not see is the mean of those neighbors, of eight, that do.

    Args:
        raw: One band a pixel, shape (*batch, rows, columns), at least 2 x 2.
        layout: One of `LAYOUTS`.
    """
    if layout not in LAYOUTS or min(raw.shape[-2:]) < 2:
        raise SpecError(f"layout is {layout!r} and raw has shape {raw.shape}; it needs a known layout and 2 x 2 pixels")
    rows, columns = raw.shape[-2:]
    out = np.zeros((*raw.shape, 3), np.float32)
    for band in range(3):
        seen = np.zeros((rows, columns), np.float32)
        for number, own in enumerate(LAYOUTS[layout]):
            i, j = divmod(number, 2)
            seen[i::2, j::2] = float(own == band)
        total, weight = _smoothed(raw * seen), _smoothed(seen)
        out[..., band] = np.where(seen > 0.0, raw, total / np.maximum(weight, 1e-9))
    return np.rint(out).astype(raw.dtype) if raw.dtype.kind in "iu" else out.astype(raw.dtype)


def _smoothed(image: NDArray[Any]) -> NDArray[Any]:
    """Sum over a pixel and its neighbors with weights 1, 1/2, 1/4; zero beyond the edge."""
    padded = np.pad(image.astype(np.float32), [(0, 0)] * (image.ndim - 2) + [(1, 1), (1, 1)])
    wide: NDArray[Any] = padded[..., 1:-1] + 0.5 * (padded[..., :-2] + padded[..., 2:])
    tall: NDArray[Any] = wide[..., 1:-1, :] + 0.5 * (wide[..., :-2, :] + wide[..., 2:, :])
    return tall
