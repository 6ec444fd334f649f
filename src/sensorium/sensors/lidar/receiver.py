"""The receiver of a lidar that counts photons."""

from pydantic import Field, model_validator

from sensorium.core.spec import Spec
from sensorium.physics.optics.spectra import PositiveOverWavelength


class Receiver(Spec):
    """Receiver constants, for mode="radiometric" and mode="waveform".

    The defaults are round numbers typical of automotive lidars, not those of any device.
    """

    peak_power_W: float = Field(default=75.0, gt=0.0)
    """Of the pulse as it leaves [W]."""
    efficiency: float = Field(default=0.7, gt=0.0, le=1.0)
    """Of the optics, out and back together."""
    quantum_efficiency: float = Field(default=0.6, gt=0.0, le=1.0)
    """Electrons per photon."""
    spectral_response: PositiveOverWavelength = 1.0
    """Of the detector at the laser's wavelength, a further factor of the power [1]: a number or a spectrum."""
    length_m: float | None = Field(default=None, gt=0.0)
    """Width of a rectangular receiver [m]; None is a round one of `beam.detector_radius_m`."""
    width_m: float | None = Field(default=None, gt=0.0)
    """Its other side [m]."""
    filter_width_m: float = Field(default=10e-9, gt=0.0)
    """Width of the passband [m]; sunlight outside does not count."""
    half_field_rad: float = Field(default=1.5e-3, gt=0.0, lt=0.5)
    """Half angle of the detector's field of view [rad]; sunlight outside does not count."""
    rise_time_s: float = Field(default=1e-9, gt=0.0)
    """Of the pulse as received [s]; range noise is in proportion."""
    noise_electrons: float = Field(default=30.0, ge=0.0)
    """Of the electronics, root mean square within one pulse's duration."""
    false_alarm_probability: float = Field(default=1e-3, gt=0.0, lt=0.5)
    """Probability of a false alarm per shot in darkness; the detection threshold follows from it."""

    @model_validator(mode="after")
    def _both_sides(self) -> "Receiver":
        if (self.length_m is None) != (self.width_m is None):
            raise ValueError(f"length_m is {self.length_m} and width_m {self.width_m}; give both or neither")
        return self
