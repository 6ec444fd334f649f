"""Errors of a lidar along its rays: everything that is not light, in every mode."""

from pydantic import Field

from sensorium.core.spec import Spec


class RangeNoise(Spec):
    """Range x becomes x + bias + N(0, sigma^2), sigma = base + slope x + square x^2, along the ray.

    A range that these errors move outside the limits, or to 0 or below, is no return.

    >>> noise = sn.RangeNoise(base_m=0.01, slope=0.001)  # 1 cm, and a millimeter more for each meter
    >>> sn.Lidar(pattern=sn.patterns.Spinning(elevation_deg=(0,), columns=90, rate_hz=10), noise=noise).noise.slope
    0.001
    """

    base_m: float = Field(default=0.0, ge=0.0)
    """Standard deviation at range 0 [m]."""
    slope: float = Field(default=0.0, ge=0.0)
    """Per meter of range [1]."""
    square_per_m: float = Field(default=0.0, ge=0.0)
    """Per square meter of range [1/m]."""
    bias_m: float = 0.0
    """Added to every range [m]."""
    angle_std_rad: float = Field(default=0.0, ge=0.0, lt=0.1)
    """The beam goes this far astray about each of two axes, unknown to the sensor: points stay on the nominal ray."""
    dropout: float = Field(default=0.0, ge=0.0, le=1.0)
    """Probability that a ray has no return."""
