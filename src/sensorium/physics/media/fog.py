"""Fog: droplets that hide distant objects and backscatter from near."""

from typing import Literal

from sensorium.physics.media.base import AbstractScatterer, MediumParameters, Positive
from sensorium.physics.media.visibility import visibility_extinction


class Fog(AbstractScatterer):
    """Fog of a given visibility: alpha = 2.9957 / V (lambda / 550 nm)^-q, q after Kim, backscatter alpha / 20.

    Fog tables that give backscatter as 0.046 / V (Rasshofer et al. 2011) mean a lidar ratio of 65.1 sr.

    >>> fog = sn.media.fog(visibility_m=50.0)
    >>> beam = np.exp(-50.0 * fog.at(905e-9).extinction_per_m)
    >>> beam.round(3).item()  # visibility is where 5 % are left
    0.05
    """

    kind: Literal["fog"] = "fog"
    visibility_m: Positive
    """Meteorological optical range V (5 % contrast) [m]."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        return self._parameters(visibility_extinction(self.visibility_m, wavelength_m))
