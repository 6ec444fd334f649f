"""The laser beam of a lidar and its detector."""

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, field_validator, model_validator

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.spec import Spec


class Beam(Spec):
    """A Gaussian beam, w(z) = exit_radius + z tan(half_divergence), and a round detector.

    Data sheets mostly give full angles and diameters: halve them.
    """

    wavelength_m: float = Field(default=905e-9, gt=1e-7, lt=1e-3)
    """Of the light, in vacuum [m]."""
    half_divergence_rad: float | tuple[float, float] = 1.5e-3
    """1/e^2 half angle [rad]; two numbers for a beam wider along one axis than the other."""
    exit_radius_m: float = Field(default=0.01, ge=0.0)
    """1/e^2 radius where it leaves [m]."""
    detector_radius_m: float = Field(default=0.01, gt=0.0)
    """Of the round detector [m]."""
    detector_offset_m: float = Field(default=0.0, ge=0.0)
    """Of the detector's center from the beam's axis [m]."""
    pulse_s: float = Field(default=5e-9, gt=0.0)
    """Duration of the pulse [s]; the echo of fog is proportional to it."""
    rays: int = Field(default=1, ge=1, le=1024)
    """Rays per beam in mode="relative" and mode="radiometric": 1, or 3 and more for mixed pixels; all rays carry equal
    power and cover the whole profile. Waveform mode uses `waveform.rays` instead."""
    separation_m: float | None = Field(default=None, gt=0.0)
    """Least separation in range of two returns of one beam with several rays [m]; returns that are nearer to each other
    merge. None is c pulse_s / 2."""

    @field_validator("half_divergence_rad")
    @classmethod
    def _narrow(cls, value: float | tuple[float, float]) -> float | tuple[float, float]:
        for angle in value if isinstance(value, tuple) else (value,):
            if not 0.0 < angle < 0.5:
                raise ValueError(f"half_divergence_rad is {angle}; it must be above 0 and below 0.5")
        return value

    @model_validator(mode="after")
    def _of_several_rays(self) -> "Beam":
        if self.rays == 2:
            raise ValueError("rays is 2; a beam must have 1 ray, or 3 and more to span its cross-section")
        if self.separation_m is not None and self.rays == 1:
            raise ValueError(f"separation_m is {self.separation_m} with rays 1; it is between returns of several rays")
        return self

    @property
    def least_separation_m(self) -> float:
        """Least separation of two returns in range [m]: as given, or c pulse_s / 2 of the pulse."""
        return SPEED_OF_LIGHT_M_S * self.pulse_s / 2.0 if self.separation_m is None else self.separation_m

    @property
    def widest_rad(self) -> float:
        """The larger half angle [rad]."""
        angle = self.half_divergence_rad
        return max(angle) if isinstance(angle, tuple) else angle

    def captured(
        self, distance_m: ArrayLike, *, model: Literal["exact", "agx"] = "exact"
    ) -> float | NDArray[np.float64]:
        """Share of the beam's power that the detector catches from a distance [1], for `mode="relative"`.

        Args:
            distance_m: Reduced path, sum of d / n [m]; for model "agx" the optical path, sum of n d.
            model: The exact integral, or eq. 21 of the AGX Sensor paper.
        """
        # Imported here: compiled functions take a second to load, and a specification does not need them
        from sensorium.physics.optics import captured_fraction

        angles = self.half_divergence_rad
        along, across = angles if isinstance(angles, tuple) else (angles, angles)
        return captured_fraction(
            distance_m,
            detector_radius_m=self.detector_radius_m,
            detector_offset_m=self.detector_offset_m,
            exit_radius_m=self.exit_radius_m,
            half_divergence_rad=along,
            half_divergence_y_rad=across,
            model=model,
        )
