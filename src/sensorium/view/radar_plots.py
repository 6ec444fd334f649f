"""Building blocks for plots of radar: detections over time and from above, range-speed maps."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from sensorium.core.errors import SpecError
from sensorium.physics.radio.power import of_decibels, received_power
from sensorium.sensors.radar.cells import Cells
from sensorium.sensors.radar.reading import EchoCause, RadarReading
from sensorium.sensors.radar.spec import LABELS, Radar
from sensorium.view.lidar_plots import COLORS, canvas, color_scale, frame, key

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CAUSE_COLORS = {
    EchoCause.OBJECT: "#4aa8ff",
    EchoCause.MULTIPATH: "#ff5ca8",
    EchoCause.CLUTTER: "#d9b382",
    EchoCause.FALSE_ALARM: "#b48cff",
    EchoCause.INTERFERENCE: "#ff8a3d",
}
"""Color of each cause of a detection."""

_LEAST_W = 1e-30


def range_doppler(figure: "Figure", axes: "Axes", reading: RadarReading, *, title: str) -> None:
    """The range-speed map of one sensor [dBm], with its detections as rings in the color of their cause."""
    if reading.map_W is None or reading.map_range_m is None or reading.map_range_rate_m_s is None:
        raise SpecError(
            "the reading has no range-speed map; the radar must have range_doppler=True, and flat() drops it"
        )
    level = 10.0 * np.log10(np.maximum(reading.map_W.astype(np.float64), _LEAST_W) / 1e-3)
    ranges, speeds = reading.map_range_m, reading.map_range_rate_m_s
    half_m, half_m_s = 0.5 * (ranges[1] - ranges[0]), 0.5 * float(speeds[-1] - speeds[0]) / max(len(speeds) - 1, 1)
    extent = (ranges[0] - half_m, ranges[-1] + half_m, speeds[0] - half_m_s, speeds[-1] + half_m_s)
    low = float(np.percentile(level, 20.0))
    shown = axes.imshow(
        level, origin="lower", extent=extent, aspect="auto", cmap="magma", vmin=low, interpolation="none"
    )
    frame(axes, title, "range [m]", "range rate [m/s], receding up")
    axes.grid(visible=False)
    color_scale(figure, axes, shown, "power of the strongest beam [dBm]")
    found = reading.flat()
    rings(axes, found.range_m, found.range_rate_m_s, found.cause)


def rings(axes: "Axes", x: ArrayLike, y: ArrayLike, cause: ArrayLike, *, size: float = 70.0) -> None:
    """Detections as rings in the color of their cause, with an entry for `key`."""
    across, up, why = np.asarray(x), np.asarray(y), np.asarray(cause)
    for kind, color in CAUSE_COLORS.items():
        of_it = why == kind
        if of_it.any():
            name = kind.name.lower().replace("_", " ")
            axes.scatter(
                across[of_it], up[of_it], size, facecolors="none", edgecolors=color, linewidths=1.4, label=name
            )


def over_time(
    figure: "Figure", axes: "Axes", time_s: ArrayLike, range_m: ArrayLike, rate_m_s: ArrayLike, **options: Any
) -> None:
    """Ranges of detections over time, colored by range rate: blue for approaching, red for receding."""
    rate = np.asarray(rate_m_s, np.float64)
    most = max(1.0, float(np.percentile(np.abs(rate), 98.0)) if rate.size else 1.0)
    shown: dict[str, Any] = {"s": 7.0, "cmap": "coolwarm", "vmin": -most, "vmax": most, "linewidths": 0.0} | options
    points = axes.scatter(np.asarray(time_s), np.asarray(range_m), c=rate, **shown)
    scale: Any = points
    color_scale(figure, axes, scale, "range rate [m/s]")


def coverage(spec: Radar, *, title: str) -> "Figure":
    """Probability of detection of objects straight ahead over range, by the radar equation and the law of its CFAR."""
    cells = Cells(spec)
    range_m = np.linspace(max(spec.min_range_m, 1.0), spec.farthest_m, 400)
    figure, (axes,) = canvas(9.0, 5.0)
    frame(axes, title, "range [m]", "share of frames")
    for (label, area), color in zip(LABELS.items(), COLORS, strict=False):
        power = received_power(
            area,
            range_m,
            power_W=spec.power_W,
            gain=of_decibels(spec.gain_dBi),
            wavelength_m=spec.chirp.wavelength_m,
            loss=of_decibels(spec.loss_dB),
        )
        axes.plot(
            range_m,
            cells.detection_probability(power / cells.noise_W),
            color=color,
            label=f"{label}, {area:g} m\u00b2",
        )
    axes.set_ylim(0.0, 1.03)
    key(axes, where="lower left")
    return figure
