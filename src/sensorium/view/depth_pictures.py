"""Outputs of depth cameras as pictures: distances, labels, normals and flow in colors."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.sensors.depth_camera.image import DepthImage
from sensorium.view.plots import INK, label_colors, picture_grid

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Codes for no distance: too near, no hit, not measured
_NEAR, _FAR, _LOST = (90, 20, 20), (18, 20, 26), (255, 0, 200)


def depth_picture(
    image: DepthImage, name: str, pixels: NDArray[Any], labels: Mapping[str, int]
) -> NDArray[np.uint8] | None:
    """One output of one camera as red, green and blue, shape (rows, columns, 3); None if it is not an image.

    Distances are bright where near; flow has its direction as hue and its length as brightness.

    Args:
        image: The reading.
        name: Of the output.
        pixels: Its array, of one camera.
        labels: Number of each label name.
    """
    if name in ("depth", "range"):
        return _distances(image.in_meters(pixels))
    if name == "segmentation":
        colors = np.round(255.0 * label_colors(labels)).astype(np.uint8)
        return colors[np.where(pixels < 0, -1, np.minimum(pixels, len(colors) - 2))]
    if name == "normals":
        return np.rint(127.5 * (pixels + 1.0)).astype(np.uint8) * (pixels != 0.0).any(axis=-1, keepdims=True)
    if name == "flow":
        return _directions(pixels)
    if name == "scene_flow":
        most = max(float(np.abs(pixels).max()), 1e-9)
        return np.rint(127.5 * (pixels / most + 1.0)).astype(np.uint8)
    return pixels if name == "color" else None


def depth_pictures(image: DepthImage, labels: Mapping[str, int], names: Sequence[str], *, columns: int = 3) -> "Figure":
    """Outputs of a single camera side by side.

    Args:
        image: A reading of one camera in one world.
        labels: Number of each label name.
        names: Of the outputs, in order.
        columns: Pictures in a row.
    """
    height, width = image.images[names[0]].shape[:2]
    figure, places = picture_grid(len(names), columns, 4.6, 4.6 * height / width + 0.35)
    for place, name in zip(places, names, strict=True):
        picture = depth_picture(image, name, image.images[name], labels)
        if picture is None:
            raise SpecError(f"names has {name!r}, which is no picture")
        place.imshow(picture, interpolation="nearest")
        place.set_title(name.replace("_", " "), color=INK, fontsize=11, loc="left")
    return figure


def _distances(distance_m: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Inverse distances, scaled to their span."""
    from matplotlib import colormaps

    known = np.isfinite(distance_m) & (distance_m > 0.0)
    inverse = 1.0 / np.where(known, distance_m, 1.0)
    low, high = (inverse[known].min(), inverse[known].max()) if known.any() else (0.0, 1.0)
    share = (inverse - low) / max(high - low, 1e-9)
    picture = np.round(255.0 * colormaps["turbo"](0.06 + 0.9 * share)[..., :3]).astype(np.uint8)
    picture[distance_m == -np.inf], picture[distance_m == np.inf], picture[np.isnan(distance_m)] = _NEAR, _FAR, _LOST
    return picture


def _directions(flow: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Flow as hue and brightness."""
    from matplotlib.colors import hsv_to_rgb

    length = np.hypot(flow[..., 0], flow[..., 1])
    hue = (np.arctan2(flow[..., 1], flow[..., 0]) / (2.0 * np.pi)) % 1.0
    value = np.sqrt(length / max(float(np.percentile(length, 99.0)), 1e-9)).clip(0.0, 1.0)
    return np.round(255.0 * hsv_to_rgb(np.stack([hue, np.full_like(hue, 0.85), value], -1))).astype(np.uint8)
