"""Pictures of cameras: filter curves, and an image after each stage."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.physics.imaging import Band
from sensorium.view.plots import INK, heading, new_figure, picture_grid, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_COLORS = {"red": "#ff6b6b", "green": "#51cf66", "blue": "#4dabf7", "gray": INK, "thermal": "#ffa94d"}
_SPARE = ("#b48cff", "#3ad6c5", "#f0c05a", "#e3a6f0", "#7f9cf5", "#d08770")
_NM = 1e9


def filter_curves(bands: Sequence[Band], *, title: str) -> "Figure":
    """Filter times response of each band over wavelength."""
    figure = new_figure(9.0, 4.2)
    axes = figure.subplots()
    for number, band in enumerate(bands):
        wavelength_m = band.wavelengths_m()
        color = _COLORS.get(band.name, _SPARE[number % len(_SPARE)])
        value = band.sensitivity(wavelength_m)
        axes.plot(wavelength_m * _NM, value, color=color, lw=2.0, label=band.name)
        axes.fill_between(wavelength_m * _NM, value, color=color, alpha=0.12, lw=0)
    axes.set_ylim(bottom=0.0)
    axes.margins(x=0.0)
    style(axes, "wavelength [nm]", "electrons a photon")
    heading(axes, title)
    legend = axes.legend(frameon=False, loc="upper right")
    for text in legend.get_texts():
        text.set_color(INK)
    return figure


def stage_pictures(
    stages: Sequence[tuple[str, ArrayLike]],
    *,
    gamma: float = 0.5,
    columns: int = 3,
    closer: tuple[float, float, float, float] | None = None,
) -> "Figure":
    """An image after each stage, side by side.

    Args:
        stages: Names and images, as `Pipeline.stages` gives them: shares of full scale in floats, shown with gamma, or
            codes, shown as they are.
        gamma: For the shares.
        columns: Pictures in a row.
        closer: Left, right, top and bottom of a part to show larger in the corner, as shares of the image.
    """
    figure, places = picture_grid(len(stages), columns, 4.6, 3.75)
    for place, (name, image) in zip(places, stages, strict=True):
        place.imshow(_shown(np.asarray(image), gamma), interpolation="nearest", cmap="gray", vmin=0.0, vmax=1.0)
        place.set_title(name, color=INK, fontsize=11, loc="left")
        if closer is not None:
            _draw_closer(place, _shown(np.asarray(image), gamma), closer)
    return figure


def _draw_closer(axes: "Axes", shown: NDArray[np.float64], part: tuple[float, float, float, float]) -> None:
    """A part of the image, larger, in the lower right corner."""
    height, width = shown.shape[:2]
    left, right, top, bottom = part
    cut = shown[int(top * height) : int(bottom * height), int(left * width) : int(right * width)]
    inset = axes.inset_axes((0.6, 0.01, 0.39, 0.39))
    inset.imshow(cut, interpolation="nearest", cmap="gray", vmin=0.0, vmax=1.0)
    inset.set_xticks([])
    inset.set_yticks([])
    for spine in inset.spines.values():
        spine.set_color(INK)
        spine.set_linewidth(0.8)


def _shown(image: NDArray[Any], gamma: float) -> NDArray[np.float64]:
    """An image in 0..1, with one or three colors."""
    if image.dtype.kind == "f":
        shares = np.clip(image.astype(np.float64), 0.0, 1.0) ** gamma
    else:
        shares = image.astype(np.float64) / float(2 ** int(np.ceil(np.log2(max(int(image.max()), 1) + 1))) - 1)
    return shares[..., 0] if shares.ndim == 3 and shares.shape[2] == 1 else shares
