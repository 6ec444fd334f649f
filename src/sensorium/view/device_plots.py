"""Plots of devices: the directions of a lidar over one sweep, and the Allan curve that a data sheet predicts."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.corruption import BiasInstability, Noise
from sensorium.corruption.engine.parameters import per_channel
from sensorium.corruption.errors.flicker import allan_variance
from sensorium.patterns import AbstractPattern, Rosette
from sensorium.sensors.inertial.imu import Imu
from sensorium.sensors.inertial.triads import Magnetometer
from sensorium.view.lidar_plots import COLORS
from sensorium.view.plots import FAINT, INK, heading, new_figure, style

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

_GRID = "#21262d"

# Azimuths that the closer look at a spinning head shows, away from where its sweep begins [deg]
_CLOSE_DEG = (87.0, 93.0)

# Sweeps after which a rosette has filled much of its field
_FILLED = 10

# Points of a sweep: smaller where there are more; elevations around a single channel [deg]
_POINTS, _SMALLEST, _LARGEST = 6e3, 0.4, 12.0
_FLAT_DEG = 5.0

_UNITS = {"accelerometer": "m/s²", "gyroscope": "rad/s", "magnetometer": "T"}
_LINES = ("-", (0, (1, 1.5)), (0, (4, 2)))


def scan_plot(patterns: Mapping[str, AbstractPattern], *, title: str = "Where the rays of one sweep go") -> "Figure":
    """Azimuth and elevation of every ray of a sweep, colored by its firing time; one row for each pattern.

    Beside it, a closer look at a spinning head, or how far a rosette has come after more sweeps.

    Args:
        patterns: By name, which becomes the heading.
        title: Of the picture.
    """
    if not patterns:
        raise SpecError("no pattern is given; there must be one at least")
    round_fields = all(isinstance(pattern, Rosette) for pattern in patterns.values())
    wider = 1.0 if round_fields else 1.6
    figure = new_figure(9.5 if round_fields else 13.0, 3.9 * len(patterns) + 0.7)
    rows = figure.subplots(len(patterns), 2, squeeze=False, width_ratios=[wider, 1.0])
    points = None
    for (name, pattern), (whole, closer) in zip(patterns.items(), rows, strict=True):
        points = _draw_sweep(whole, pattern, range(1))
        count = pattern.rays().offset_ns.size
        heading(whole, f"{name}: {count:,} rays in {1e-6 * pattern.rays().duration_ns:.3g} ms")
        if isinstance(pattern, Rosette):
            _draw_sweep(closer, pattern, range(_FILLED))
            heading(closer, f"after {_FILLED} sweeps")
        else:
            _draw_sweep(closer, pattern, range(1), within_deg=_CLOSE_DEG)
            heading(closer, "a closer look")
    assert points is not None
    scale = figure.colorbar(points, ax=list(rows.flat), pad=0.01, aspect=12 * len(patterns))
    scale.set_label("firing time, share of the sweep", color=INK)
    scale.ax.tick_params(colors=FAINT, labelcolor=INK, labelsize=9)
    figure.suptitle(title, color=INK, fontsize=13, x=0.01, ha="left")
    return figure


def predicted_allan_plot(sensor: Imu | Magnetometer, *, title: str = "Predicted Allan deviation") -> "Figure":
    """The Allan deviation that a sensor's noise will show, with its parts; one panel for each group of axes.

    Args:
        sensor: Its specification.
        title: Of the picture.
    """
    if isinstance(sensor, Imu):
        groups = {"accelerometer": sensor.linear, "gyroscope": sensor.angular, "magnetometer": sensor.magnetic}
        noises = {name: group.noise for name, group in groups.items() if group is not None}
    else:
        noises = {"magnetometer": sensor.noise}
    rate_hz = sensor.timing.rate_hz
    assert rate_hz is not None
    figure = new_figure(max(6.0, 4.6 * len(noises)), 4.6)
    panels = figure.subplots(1, len(noises), squeeze=False)[0]
    for axes, (name, noise) in zip(panels, noises.items(), strict=True):
        _draw_prediction(axes, name, noise, rate_hz)
    figure.suptitle(title, color=INK, fontsize=13, x=0.01, ha="left")
    return figure


def predicted_parts(noise: Noise, tau_s: Array, rate_hz: float) -> dict[str, Array]:
    """Allan deviation of each part of a noise, shape (taus, 3): white noise and bias instability.

    Args:
        noise: As in a group of an IMU.
        tau_s: Averaging times [s], shape (taus,).
        rate_hz: Samples a second, for white noise given by its deviation.
    """
    parts = {}
    if noise.density is not None:
        N = per_channel("density", noise.density, 3)
        N = N / np.sqrt(2.0) if noise.sided == "one" else N
        parts["white noise"] = N / np.sqrt(tau_s)[:, None]
    elif noise.std is not None:
        parts["white noise"] = per_channel("std", noise.std, 3) / np.sqrt(tau_s * rate_hz)[:, None]
    if noise.instability is not None:
        times_s, stds = BiasInstability(
            instability=1.0, tau_min_s=noise.instability_tau_min_s, tau_max_s=noise.instability_tau_max_s
        ).processes()
        shape = np.sqrt(allan_variance(tau_s[:, None], stds, times_s).sum(axis=1))
        parts["bias instability"] = shape[:, None] * per_channel("instability", noise.instability, 3)
    return parts


def _draw_sweep(
    axes: "Axes", pattern: AbstractPattern, sweeps: range, within_deg: tuple[float, float] | None = None
) -> "PathCollection":
    """Rays as points; `within_deg` shows only some azimuths."""
    from matplotlib import colormaps
    from matplotlib.colors import ListedColormap

    tables = [pattern.rays(sweep) for sweep in sweeps]
    direction = np.concatenate([table.direction_S.reshape(-1, 3) for table in tables]).astype(np.float64)
    share = np.concatenate([table.offset_ns.reshape(-1) / table.duration_ns for table in tables])
    azimuth = np.degrees(np.arctan2(direction[:, 1], direction[:, 0]))
    elevation = np.degrees(np.arcsin(direction[:, 2]))
    if within_deg is not None:
        near = (azimuth >= within_deg[0]) & (azimuth <= within_deg[1])
        azimuth, elevation, share = azimuth[near], elevation[near], share[near]

    # The dark end of the colors would vanish on dark paper
    bright = ListedColormap(colormaps["viridis"](np.linspace(0.3, 1.0, 256)))
    size = float(np.clip(_POINTS / max(len(azimuth), 1), _SMALLEST, _LARGEST))
    points = axes.scatter(azimuth, elevation, c=share, s=size, cmap=bright, linewidths=0.0, vmin=0.0, vmax=1.0)
    if isinstance(pattern, Rosette):
        axes.set_aspect("equal")
    if pattern.rays().shape[0] == 1 and not isinstance(pattern, Rosette):
        axes.set_ylim(-_FLAT_DEG, _FLAT_DEG)
    axes.invert_xaxis()
    style(axes, "azimuth [°], positive to the left", "elevation [°]")
    return points


def _draw_prediction(axes: "Axes", name: str, noise: Noise, rate_hz: float) -> None:
    """One group: its parts dashed, their sum in full."""
    tau_s = np.geomspace(1.0 / rate_hz, 1e4, 300)
    parts = predicted_parts(noise, tau_s, rate_hz)
    axes.set_xscale("log")
    axes.set_yscale("log")
    style(axes, "averaging time τ [s]", f"Allan deviation [{_UNITS[name]}]")
    axes.tick_params(which="minor", colors=_GRID)
    axes.grid(color=_GRID, linewidth=0.8)
    heading(axes, name)
    if not parts:
        axes.text(0.5, 0.5, "the sheet tells no noise", transform=axes.transAxes, ha="center", color=FAINT)
        return
    whole = np.sqrt(sum(part**2 for part in parts.values()))
    for line, alike in zip(_LINES, _alike(whole), strict=False):
        k = alike[0]
        for color, (part, values) in zip(COLORS[1:], parts.items() if len(parts) > 1 else (), strict=False):
            label = part if k == 0 else None
            axes.plot(tau_s, values[:, k], color=color, linewidth=1.2, linestyle=(0, (5, 2.5)), label=label)
        name = "sum" if len(parts) > 1 else next(iter(parts))
        label = name if len(alike) == 3 else f"{name}, {' '.join('xyz'[axis] for axis in alike)}"
        axes.plot(tau_s, whole[:, k], color=COLORS[0], linewidth=1.8, linestyle=line, label=label)
    axes.legend(frameon=False, labelcolor=INK, fontsize=9, loc="upper right")


def _alike(curves: Array) -> list[list[int]]:
    """Axes whose curves are the same, curves of shape (taus, 3)."""
    groups: dict[bytes, list[int]] = {}
    for axis in range(3):
        groups.setdefault(curves[:, axis].tobytes(), []).append(axis)
    return list(groups.values())
