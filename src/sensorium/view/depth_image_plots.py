"""Images of depth cameras as pictures: depth, labels, normals and flow as colors."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.view.lidar_plots import COLORS
from sensorium.view.plots import heading, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Picture = NDArray[np.float64]
"""Red, green and blue from 0 to 1, shape (rows, columns, 3)."""

_NOTHING = (0.05, 0.07, 0.09)


def depth_colors(depth_m: NDArray[Any], valid: NDArray[np.bool_], *, near_m: float, far_m: float) -> Picture:
    """Depths from near (bright) to far (dark), on a logarithmic scale; invalid pixels are black.

    Args:
        depth_m: Depths or ranges [m], shape (rows, columns).
        valid: Which of them are measured.
        near_m: Depth of the brightest color [m].
        far_m: Of the darkest.
    """
    from matplotlib import colormaps

    share = np.log(np.where(valid, depth_m, near_m) / near_m) / np.log(far_m / near_m)
    picture = np.asarray(colormaps["turbo_r"](np.clip(0.04 + 0.92 * share, 0.0, 1.0))[..., :3], np.float64)
    picture[~valid] = _NOTHING
    return picture


def error_colors(error_m: NDArray[Any], valid: NDArray[np.bool_], *, most_m: float) -> Picture:
    """Errors from -most (blue) to most (red); invalid pixels are black."""
    from matplotlib import colormaps

    share = np.clip(0.5 + 0.5 * np.where(valid, error_m, 0.0) / most_m, 0.0, 1.0)
    picture = np.asarray(colormaps["RdBu_r"](share)[..., :3], np.float64)
    picture[~valid] = _NOTHING
    return picture


def label_colors(label: NDArray[np.integer]) -> Picture:
    """A color for each label; pixels without a hit are black, unlabeled ones gray."""
    from matplotlib.colors import to_rgb

    table = np.array([_NOTHING, to_rgb("#6e7681"), *(to_rgb(color) for color in COLORS)])
    number = np.where(label <= 0, label + 1, 2 + (label - 1) % len(COLORS))
    return np.asarray(table[number], np.float64)


def normal_colors(normals: NDArray[Any]) -> Picture:
    """Components from -1 to 1 as red, green and blue; zeros are black."""
    picture = 0.5 + 0.5 * np.asarray(normals, np.float64)
    picture[~normals.any(axis=-1)] = _NOTHING
    return picture


def flow_colors(flow_px: NDArray[Any], *, most_px: float) -> Picture:
    """Direction of flow as hue and the root of its length, up to the most, as brightness.

    Args:
        flow_px: To the right and down [px], shape (rows, columns, 2).
        most_px: Length of the brightest color [px].
    """
    from matplotlib.colors import hsv_to_rgb

    hue = (np.arctan2(flow_px[..., 1], flow_px[..., 0]) / (2.0 * np.pi)) % 1.0
    strength = np.sqrt(np.clip(np.hypot(flow_px[..., 0], flow_px[..., 1]) / most_px, 0.0, 1.0))
    return np.asarray(hsv_to_rgb(np.stack([hue, np.full_like(hue, 0.85), strength], axis=-1)), np.float64)


def panels(pictures: Sequence[tuple[str, Picture]], *, columns: int = 3, width_in: float = 15.0) -> "Figure":
    """Pictures of one size beside each other, each with its title.

    Args:
        pictures: Title and picture.
        columns: How many in a row.
        width_in: Of the figure [in].
    """
    rows = -(-len(pictures) // columns)
    height, width = pictures[0][1].shape[:2]
    figure = new_figure(width_in, rows * (width_in / columns * height / width + 0.45))
    axes = figure.subplots(rows, columns, squeeze=False)
    for place in axes.flat:
        place.axis("off")
    for place, (title, picture) in zip(axes.flat, pictures, strict=False):
        heading(place, title)
        place.imshow(picture, interpolation="nearest")
    return figure
