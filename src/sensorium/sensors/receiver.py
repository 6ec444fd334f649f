"""The receiver of a lidar that counts photons."""

from pydantic import Field

from sensorium.spec import Spec


class Receiver(Spec):
    """What turns light into detections, for mode="radiometric".

    The defaults are round numbers of the size found in automotive lidars, not those of any device.
    """

    peak_power_W: float = Field(default=75.0, gt=0.0)
    """Of the pulse as it leaves [W]."""
    efficiency: float = Field(default=0.7, gt=0.0, le=1.0)
    """Of the optics, out and back together."""
    quantum_efficiency: float = Field(default=0.6, gt=0.0, le=1.0)
    """Electrons a photon."""
    filter_width_m: float = Field(default=10e-9, gt=0.0)
    """Width of the wavelengths let through [m]; sunlight outside does not count."""
    half_field_rad: float = Field(default=1.5e-3, gt=0.0, lt=0.5)
    """Half angle the detector sees [rad]; sunlight outside does not count."""
    rise_time_s: float = Field(default=1e-9, gt=0.0)
    """Of the pulse as received [s]; range noise is in proportion."""
    noise_electrons: float = Field(default=30.0, ge=0.0)
    """Of the electronics, root mean square within one pulse's duration."""
    false_alarm_probability: float = Field(default=1e-3, gt=0.0, lt=0.5)
    """That noise alone is taken for a return, a shot in darkness; the detection threshold follows from it."""
