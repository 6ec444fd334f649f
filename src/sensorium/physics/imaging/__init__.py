"""From the ideal image to pixels: lens and sensor stages, one a file, each a function of arrays.

    band values -> ideal image -> spots on a virtual grid -> pixels -> electrons -> noise -> codes -> mosaic

Sources: Goodin et al., "Sensor modeling for the Virtual Autonomous Navigation Environment", 2009 (the VANE paper), with
the corrections E-33 to E-37; EMVA 1288 for pixels.
"""

from sensorium.physics.imaging import depth_errors, filters
from sensorium.physics.imaging.auto_exposure import AutoExposure, metered_level, next_exposure, region_of
from sensorium.physics.imaging.bands import MAX_BANDS, Band, band_value, effective_wavelength, thermal_radiance
from sensorium.physics.imaging.digitize import digitized, share_of_full_scale
from sensorium.physics.imaging.exposure import electrons_per_radiance, relative_illumination
from sensorium.physics.imaging.mosaic import LAYOUTS, demosaiced, mosaic
from sensorium.physics.imaging.pixel_noise import FixedPattern, PixelNoise, fixed_pattern, noisy_electrons
from sensorium.physics.imaging.spot_gather import pixel_means
from sensorium.physics.imaging.spots import SpotTable, pupil_points, spot_table
from sensorium.physics.imaging.white_balance import (
    BalanceGains,
    ColorTemperature,
    GrayWorld,
    next_balance,
    temperature_gains,
)

__all__ = [
    "LAYOUTS",
    "MAX_BANDS",
    "AutoExposure",
    "BalanceGains",
    "Band",
    "ColorTemperature",
    "FixedPattern",
    "GrayWorld",
    "PixelNoise",
    "SpotTable",
    "band_value",
    "demosaiced",
    "depth_errors",
    "digitized",
    "effective_wavelength",
    "electrons_per_radiance",
    "filters",
    "fixed_pattern",
    "metered_level",
    "mosaic",
    "next_balance",
    "next_exposure",
    "noisy_electrons",
    "pixel_means",
    "pupil_points",
    "region_of",
    "relative_illumination",
    "share_of_full_scale",
    "spot_table",
    "temperature_gains",
    "thermal_radiance",
]
