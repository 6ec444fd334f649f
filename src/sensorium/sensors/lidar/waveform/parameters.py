"""A waveform lidar by the twelve parameters of the VANE paper."""

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field, model_validator

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.files.plain_files import read_toml
from sensorium.physics.optics.spectra import PositiveOverWavelength, constant_or_at
from sensorium.sensors.lidar.waveform.pulses import GaussianPulse
from sensorium.sensors.lidar.waveform.spec import check_bins

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar


class Parameters(Spec):
    """A waveform lidar by twelve numbers (one of them may be a curve).

    The paper lists eleven; the twelfth can only be the divergence (E-41). The paper has neither noise nor a receiver's
    field of view; `lidar` has none either unless they are given.
    """

    peak_power_W: float = Field(gt=0.0)
    """Of the laser [W]."""
    aperture_radius_m: float = Field(ge=0.0)
    """Of the beam at its exit [m]."""
    wavelength_m: float = Field(gt=1e-7, lt=1e-4)
    """Of the laser [m]."""
    pulse_duration_s: float = Field(gt=0.0)
    """Full width at half maximum [s]."""
    divergence_rad: float = Field(gt=0.0, lt=1.0)
    """Full angle [rad]."""
    receiver_length_m: float = Field(gt=0.0)
    """Of its aperture [m]."""
    receiver_width_m: float = Field(gt=0.0)
    """Of its aperture [m]."""
    spectral_response: PositiveOverWavelength = 1.0
    """Of the receiver, a number or pairs (wavelength_m, response)."""
    start_s: float = Field(default=0.0, ge=0.0)
    """When the electronics begin, after the pulse has left [s]."""
    stop_s: float = Field(gt=0.0)
    """When they end [s]."""
    time_resolution_s: float = Field(default=0.5e-9, gt=0.0)
    """Length of a bin [s]."""
    gain: float = Field(default=1.0, gt=0.0)
    """Of the amplifier [1]."""

    @model_validator(mode="after")
    def _window(self) -> "Parameters":
        if self.stop_s - self.start_s < self.pulse_duration_s:
            raise ValueError(
                f"stop_s is {self.stop_s} and start_s {self.start_s}; "
                f"the window must be no shorter than the pulse, {self.pulse_duration_s} s"
            )
        check_bins("time_resolution_s", self.time_resolution_s, self.stop_s - self.start_s)
        constant_or_at(self.spectral_response, self.wavelength_m, "spectral_response")
        return self

    @classmethod
    def load(cls, path: str | PathLike[str]) -> "Parameters":
        """Read the parameters from a TOML file: one `name = value` per line."""
        data = read_toml(path)
        try:
            return cls.model_validate(data)
        except SpecError as error:
            raise SpecError(f"{path}: {error}") from None

    def lidar(self, **fields: Any) -> "Lidar":
        """A lidar with these parameters, without noise, whose receiver sees the whole beam.

        Args:
            fields: Of `Lidar`, such as `pattern`, which is required; a dictionary for `beam`, `receiver` or `waveform`
                changes only the fields it names.
        """
        from sensorium.sensors.lidar.lidar import Lidar

        whole = {
            "mode": "waveform",
            "max_range_m": 0.5 * SPEED_OF_LIGHT_M_S * self.stop_s,
            "beam": {
                "wavelength_m": self.wavelength_m,
                "half_divergence_rad": self.divergence_rad / 2.0,
                "exit_radius_m": self.aperture_radius_m,
                "pulse_s": self.pulse_duration_s,
            },
            "receiver": {
                "peak_power_W": self.peak_power_W,
                "efficiency": 1.0,
                "length_m": self.receiver_length_m,
                "width_m": self.receiver_width_m,
                "spectral_response": self.spectral_response,
                "half_field_rad": self.divergence_rad,
                "noise_electrons": 0.0,
            },
            "waveform": {
                "start_s": self.start_s,
                "stop_s": self.stop_s,
                "resolution_s": self.time_resolution_s,
                "gain": self.gain,
                "shot_noise": False,
            },
        }
        for name, value in fields.items():
            part = whole.get(name)
            whole[name] = {**part, **value} if isinstance(part, dict) and isinstance(value, dict) else value
        return Lidar.model_validate(whole)

    def waveform(self, distance_m: ArrayLike, *, return_per_sr: ArrayLike) -> NDArray[np.float64]:
        """The waveform of one pulse from a square array of distances, as in the paper.

        Args:
            distance_m: Distance along each ray of a square grid over the beam [m], shape (n, n), infinite for none.
            return_per_sr: f cos(theta) of the surface on each ray [1/sr], a number or shape (n, n).

        Returns:
            Power times response and gain in each bin [W], shape (bins,).
        """
        from sensorium.physics.optics.detection.waveform import waveform_of_distances

        return waveform_of_distances(
            distance_m,
            power_W=self.peak_power_W,
            return_per_sr=return_per_sr,
            receiver_area_m2=self.receiver_length_m * self.receiver_width_m,
            divergence_rad=self.divergence_rad,
            pulse=GaussianPulse().table(self.pulse_duration_s),
            start_s=self.start_s,
            stop_s=self.stop_s,
            resolution_s=self.time_resolution_s,
            response=constant_or_at(self.spectral_response, self.wavelength_m, "spectral_response"),
            gain=self.gain,
        )
