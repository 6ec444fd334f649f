"""Filter curves of a color camera, and the signal of each band in sunlight."""

import sensorium as sn
from sensorium.physics.fields import Sun
from sensorium.view import camera_plots, save_figure

camera = sn.Camera.from_device("pointgrey-bumblebee2")
sun = Sun(elevation_deg=45.0)
for band in camera.bands:
    power = sn.imaging.band_value(sun.spectral_irradiance, band)
    wavelength_m = sn.imaging.effective_wavelength(sun.spectral_irradiance, band)
    print(f"{band.name}: {power:.1f} W/m² of sunlight count, at {wavelength_m * 1e9:.0f} nm in the mean")

figure = camera_plots.filter_curves(camera.bands, title="Bumblebee2, Sony ICX204: filter times quantum efficiency")
save_figure("camera_filters.png", figure)
