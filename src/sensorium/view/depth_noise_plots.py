"""Plots of depth cameras' noise: its standard deviation over distance, by the laws of their errors."""

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.physics.imaging.depth_errors import (
    QuadraticError,
    StereoError,
    TimeOfFlightError,
    phase_std,
    quadratic_std,
    signal_electrons,
    stereo_std,
)
from sensorium.physics.imaging.depth_quantization import DepthQuantization
from sensorium.sensors.depth_camera.depth_camera import DepthCamera
from sensorium.view.lidar_plots import COLORS, canvas, frame, key

if TYPE_CHECKING:
    from matplotlib.figure import Figure

Array = NDArray[np.float64]

# Surfaces that timed light is drawn for
_REFLECTANCES = (0.8, 0.2)

_POINTS = 200


def noise_of(camera: DepthCamera, depth_m: Array, reflectance: float = 0.5) -> Array:
    """Standard deviation [m] of the depth of a surface straight ahead: that of all errors together.

    Args:
        camera: Its errors.
        depth_m: Distances [m].
        reflectance: Of the surface.
    """
    variance = np.zeros_like(depth_m)
    for error in camera.errors:
        if isinstance(error, StereoError):
            # Steps of disparity spread evenly over one of them
            step_px = 0.0 if error.subpixel_bits is None else 2.0**-error.subpixel_bits
            std_px = float(np.hypot(error.disparity_std_px, step_px / np.sqrt(12.0)))
            focal_px = camera.pattern.focal_px[0]
            law = stereo_std(depth_m, focal_px=focal_px, baseline_m=error.baseline_m, disparity_std_px=std_px)
        elif isinstance(error, TimeOfFlightError):
            signal = signal_electrons(depth_m, signal_e=error.signal_e, reflectance=reflectance)
            law = phase_std(signal, ambient_e=error.ambient_e, modulation_hz=error.modulation_hz)
        elif isinstance(error, QuadraticError):
            law = quadratic_std(depth_m, error)
        elif isinstance(error, DepthQuantization):
            law = np.full_like(depth_m, error.step_m / np.sqrt(12.0))
        else:  # mixed pixels are at edges, not on a surface
            continue
        variance += law**2
    return np.sqrt(variance)


def depth_noise_plot(cameras: Mapping[str, DepthCamera], *, title: str, most_m: float = 10.0) -> "Figure":
    """Noise of depth over distance.

    Args:
        cameras: By name.
        title: Of the picture.
        most_m: Farthest distance drawn [m].
    """
    if not cameras:
        raise SpecError("no camera is given; there must be one at least")
    figure, (axes,) = canvas(9.5, 6.0)
    frame(axes, title, "depth [m]", "standard deviation [mm]", log="xy")
    for (name, camera), color in zip(cameras.items(), COLORS * len(cameras), strict=False):
        depth_m = np.geomspace(max(camera.min_range_m, 0.02), min(camera.max_range_m, most_m), _POINTS)
        timed = any(isinstance(error, TimeOfFlightError) for error in camera.errors)
        for reflectance, line in zip(_REFLECTANCES if timed else (0.5,), ("-", (0, (4, 2))), strict=False):
            label = f"{name}, surface of {reflectance:.0%}" if timed else name
            law_mm = 1e3 * noise_of(camera, depth_m, reflectance)
            axes.plot(depth_m, law_mm, color=color, linestyle=line, linewidth=2.0, label=label)
    key(axes, where="upper left")
    return figure
