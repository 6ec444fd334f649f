"""The sun and the sky it lights: its direction, and its irradiance at a wavelength."""

import math
from datetime import datetime
from typing import Annotated, Any, Literal, Self

import numpy as np
import numpy.typing as npt
from pydantic import ConfigDict, Field

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.physics.fields.blackbody import share_below, spectral_share
from sensorium.physics.fields.ephemeris import solar_position, sun_from_place
from sensorium.physics.optics.spectra import Spectrum, checked_wavelength

SOLAR_TEMPERATURE_K = 5772.0
SOLAR_CONSTANT_W_M2 = 1361.0


class Sun(Spec):
    """Sunlight on a clear day: a parallel beam, and a sky equally bright all over.

    The beam is a 5772 K black body of 1361 W/m^2 in all, times a clear-sky transmittance of 0.75 at every wavelength
    and height of the sun; a measured `spectrum` may replace it (the real one has gaps where water vapor absorbs, as at
    940 nm). The sky adds the share `diffuse_fraction` of the irradiance of a horizontal surface. Below the horizon
    there is no light.

    >>> sun = sn.fields.Sun(elevation_deg=30.0, azimuth_deg=0.0)
    >>> sun.direction_W.round(3).tolist()
    [0.866, 0.0, 0.5]
    """

    model_config = ConfigDict(frozen=True)

    kind: Literal["sun"] = "sun"
    elevation_deg: Annotated[float, Field(ge=-90.0, le=90.0)]
    """Height of the sun above the horizon [deg]."""
    azimuth_deg: Annotated[float, Field(ge=-360.0, le=360.0)] = 0.0
    """Its azimuth, right-handed about z from the world's x axis [deg]; with x east and y north, 90 is north."""
    irradiance_W_m2: Annotated[float, Field(ge=0.0)] = SOLAR_CONSTANT_W_M2
    """Total irradiance of the beam above the atmosphere, across the beam [W/m^2]."""
    transmittance: Annotated[float, Field(ge=0.0, le=1.0)] = 0.75
    """Share of the beam that reaches the ground [1]."""
    diffuse_fraction: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.15
    """Share of the light on a horizontal surface that comes from the sky [1]."""
    spectrum: Spectrum | None = None
    """Spectral irradiance of the beam at the ground, across the beam [W/m^2/m]; None is the black body above."""

    @classmethod
    def at(cls, time: datetime, *, latitude_deg: float, longitude_deg: float, **options: Any) -> Self:
        """The sun over a place, in a world whose x axis points east, y north and z up.

        Position by the low-accuracy theory of Meeus (0.01 degrees, without refraction); the irradiance above
        the atmosphere follows the Earth's distance, 1361 W/m^2 at one astronomical unit.

        Args:
            time: An instant with its time zone, 1900 to 2100.
            latitude_deg: Geographic latitude, positive north [deg].
            longitude_deg: Longitude, positive east [deg].
            options: Further fields of `Sun`.
        """
        for name, value, limit in (("latitude_deg", latitude_deg, 90.0), ("longitude_deg", longitude_deg, 360.0)):
            if not abs(value) <= limit:
                raise SpecError(f"{name} is {value}; it must be between {-limit} and {limit}")
        position = solar_position(time)
        east, north, up = sun_from_place(position, math.radians(latitude_deg), math.radians(longitude_deg))
        options.setdefault("irradiance_W_m2", SOLAR_CONSTANT_W_M2 / position.distance_au**2)
        return cls(
            elevation_deg=math.degrees(math.atan2(up, math.hypot(east, north))),
            azimuth_deg=math.degrees(math.atan2(north, east)),
            **options,
        )

    @property
    def direction_W(self) -> npt.NDArray[np.float64]:
        """Unit vector towards the sun in world axes [1], shape (3,)."""
        elevation, azimuth = math.radians(self.elevation_deg), math.radians(self.azimuth_deg)
        flat = math.cos(elevation)
        return np.array([flat * math.cos(azimuth), flat * math.sin(azimuth), math.sin(elevation)])

    def spectral_irradiance(self, wavelength_m: float) -> float:
        """Direct irradiance across the beam at the ground, per meter of wavelength [W/m^2/m]; 0 by night.

        Args:
            wavelength_m: Wavelength [m].
        """
        checked_wavelength(wavelength_m)
        if self.elevation_deg <= 0.0:
            return 0.0
        if self.spectrum is not None:
            return self.spectrum.at(wavelength_m, "the sun's spectrum")
        return self.irradiance_W_m2 * self.transmittance * spectral_share(wavelength_m, SOLAR_TEMPERATURE_K)

    def band_irradiance(self, low_m: float, high_m: float) -> float:
        """Direct irradiance across the beam at the ground between two wavelengths [W/m^2]; 0 by night.

        Args:
            low_m: Lower wavelength [m].
            high_m: Upper wavelength [m].
        """
        if not checked_wavelength(low_m) <= checked_wavelength(high_m):
            raise SpecError(f"low_m is {low_m} and high_m {high_m}; the lower wavelength comes first")
        if self.elevation_deg <= 0.0:
            return 0.0
        if self.spectrum is not None:
            return self.spectrum.integral(low_m, high_m)
        share = share_below(high_m, SOLAR_TEMPERATURE_K) - share_below(low_m, SOLAR_TEMPERATURE_K)
        return self.irradiance_W_m2 * self.transmittance * share

    def sky_radiance(self, wavelength_m: float) -> float:
        """Radiance of the sky, the same in all directions above the horizon [W/m^2/sr/m].

        A horizontal surface receives E sin(elevation) from the sun and pi L from the sky, of which the sky's share is
        `diffuse_fraction` d: pi L = d / (1 - d) E sin(elevation).

        Args:
            wavelength_m: Wavelength [m].
        """
        direct = self.spectral_irradiance(wavelength_m) * math.sin(math.radians(self.elevation_deg))
        return direct * self.diffuse_fraction / (1.0 - self.diffuse_fraction) / math.pi
