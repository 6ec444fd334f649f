"""From the radiance at a pixel to its electrons."""

import numpy as np
from numpy.typing import NDArray

from sensorium.physics.optics.detection.emva import photons
from sensorium.physics.optics.lenses.vignetting import vignetting


def electrons_per_radiance(
    *, pupil_radius_m: float, pupil_distance_m: float, area_m2: float, exposure_s: float, wavelength_m: float
) -> float:
    """Electrons that a pixel on the axis collects for each W/m^2/sr that counts in its band.

    The irradiance on the axis is E = L pi a^2 / d^2 for a pupil of radius a at the distance d; filter and response are
    in the radiance already (see `bands`).

    Args:
        pupil_radius_m: a [m].
        pupil_distance_m: d [m].
        area_m2: Of the pixel [m^2].
        exposure_s: Time that light is collected [s].
        wavelength_m: The band's effective wavelength [m].
    """
    irradiance = np.pi * (pupil_radius_m / pupil_distance_m) ** 2
    return float(photons(irradiance, area_m2=area_m2, exposure_s=exposure_s, wavelength_m=wavelength_m))


def relative_illumination(
    *,
    columns: int,
    rows: int,
    pitch_m: tuple[float, float],
    factor: int,
    focal_length_m: float,
    falloff_per_m: float,
    field_stop_m: float | None,
    cosine: bool = True,
) -> NDArray[np.float32]:
    """Light of each pixel relative to the axis [1], shape (rows, columns): vignetting and field stop.

    Args:
        columns, rows: Pixels.
        pitch_m: Width and height of a pixel [m].
        factor: Cells along a pixel; cells outside the stop are dropped one by one.
        focal_length_m, falloff_per_m: f [m] and alpha [1/m] of `optics.vignetting`.
        field_stop_m: Radius on the image plane beyond which no light comes [m]; None is no stop.
        cosine: Whether light falls off with the fourth power of the cosine, as behind a lens that keeps straight lines;
            a fisheye squeezes the edge, and only alpha is left.
    """

    def centers(count: int, pitch: float) -> NDArray[np.float64]:
        return np.asarray((np.arange(count) + 0.5 - 0.5 * count) * pitch, np.float64)

    x, y = centers(columns, pitch_m[0]), centers(rows, pitch_m[1])
    radius = np.hypot(x[None, :], y[:, None])
    map_ = vignetting(radius, focal_length_m=focal_length_m if cosine else 1e9, falloff_per_m=falloff_per_m)
    if field_stop_m is not None:
        fine_x = centers(columns * factor, pitch_m[0] / factor)
        fine_y = centers(rows * factor, pitch_m[1] / factor)
        inside = np.hypot(fine_x[None, :], fine_y[:, None]) <= field_stop_m
        map_ *= inside.reshape(rows, factor, columns, factor).mean(axis=(1, 3))
    return map_.astype(np.float32)
