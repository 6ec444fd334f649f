"""What a lens and an array of pixels make of an ideal image: one stage a file, each a function of arrays.

    band values -> ideal image -> spots on a virtual grid -> pixels -> electrons -> noise -> codes -> mosaic

Sources: Goodin et al., "Sensor modeling for the Virtual Autonomous Navigation Environment", 2009 (the VANE paper), with
the corrections E-33 to E-37; EMVA 1288 for pixels.
"""

from sensorium.imaging import depth_errors, filters
from sensorium.imaging.bands import MAX_BANDS, Band, band_value, effective_wavelength, thermal_radiance
from sensorium.imaging.digitise import digitised
from sensorium.imaging.exposure import electrons_per_radiance, relative_illumination
from sensorium.imaging.mosaic import LAYOUTS, demosaiced, mosaic
from sensorium.imaging.pixel_noise import FixedPattern, PixelNoise, fixed_pattern, noisy_electrons
from sensorium.imaging.pupil import pupil_points
from sensorium.imaging.spot_gather import pixel_means
from sensorium.imaging.spots import SpotTable, spot_table

__all__ = [
    "LAYOUTS",
    "MAX_BANDS",
    "Band",
    "FixedPattern",
    "PixelNoise",
    "SpotTable",
    "band_value",
    "demosaiced",
    "depth_errors",
    "digitised",
    "effective_wavelength",
    "electrons_per_radiance",
    "filters",
    "fixed_pattern",
    "mosaic",
    "noisy_electrons",
    "pixel_means",
    "pupil_points",
    "relative_illumination",
    "spot_table",
    "thermal_radiance",
]
