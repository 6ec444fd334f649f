"""Clear air, a little hazy."""

from typing import Literal

from sensorium.physics.media.base import (
    AIR_INDEX,
    DROPLET_LIDAR_RATIO_SR,
    AbstractMedium,
    MediumParameters,
    Positive,
    RefractiveIndex,
)
from sensorium.physics.media.visibility import visibility_extinction


class Air(AbstractMedium):
    """Air one can see far in: extinction from visibility and wavelength, no returns from the air itself.

    (At 7.4 km visibility Algoryx' plugins let one ray in 60,000 return from the air; we let none.)
    """

    kind: Literal["air"] = "air"
    visibility_m: Positive = 23_000.0
    """Meteorological optical range (5 % contrast) [m]; 23 km is the standard clear day."""
    refractive_index: RefractiveIndex = AIR_INDEX
    """Real refractive index [1]."""
    lidar_ratio_sr: Positive = DROPLET_LIDAR_RATIO_SR
    """Extinction over backscatter [sr]; haze has 20 to 70."""

    def at(self, wavelength_m: float) -> MediumParameters:
        """The medium at a wavelength in vacuum [m]."""
        extinction_per_m = visibility_extinction(self.visibility_m, wavelength_m)
        return MediumParameters(
            refractive_index=self.refractive_index,
            extinction_per_m=extinction_per_m,
            backscatter_per_m_sr=extinction_per_m / self.lidar_ratio_sr,
        )
