"""Noise of a lidar's ranges: by range, by signal and by reflectance, with its tails, and a bias for each channel."""

import itertools
import math

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, PositiveFloat, model_validator

from sensorium.core.spec import Spec

# Reflectance of a target that is darker than any [1]; bounds the part of the noise by signal
_DARKEST = 0.01


class SignalNoise(Spec):
    """Range noise of a receiver that counts photons: it falls with the root of the signal.

    It adds std_m^2 I_0 / I to the variance of the range of a return of intensity I, where I_0 is the intensity of the
    stated target: diffuse, at normal incidence, in clear air.

    >>> sn.RangeNoise(base_m=0.003, by_signal=sn.SignalNoise(std_m=0.01, reflectance=0.1, range_m=20.0)).base_m
    0.003
    """

    std_m: float = Field(gt=0.0)
    """Standard deviation that it adds on the stated target [m]."""
    reflectance: float = Field(default=0.1, gt=0.0, le=1.0)
    """Diffuse reflectance of the target [1]."""
    range_m: float = Field(default=10.0, gt=0.0)
    """Range of the target [m]."""


class RangeNoise(Spec):
    """Range x becomes x + bias + sigma n along the ray, with n of zero mean and unit variance.

    sigma^2 = (f(rho) g(x) (base + slope x + square x^2))^2 + the part by signal; n is normal, or of Johnson's S_U law
    where `excess_kurtosis` is given. A range that these errors move outside the limits, or to 0 or below, is no return.

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
    by_range: tuple[tuple[float, PositiveFloat], ...] = ()
    """Pairs of range [m] and the factor g of the part by range [1], in rising order: straight lines between them,
    constant beyond. For noise that no polynomial describes."""
    by_signal: SignalNoise | None = None
    """Part that falls with the root of the signal; for mode="relative", None for none."""
    by_reflectance: tuple[tuple[PositiveFloat, PositiveFloat], ...] = ()
    """Pairs of reflectance and the factor f of the part by range [1], for mode="relative": in rising order, straight
    lines over the logarithm of the reflectance between them, constant beyond. The reflectance is that which the return
    shows: its intensity over that of a white diffuse target at the same range."""
    excess_kurtosis: float = Field(default=0.0, ge=0.0, le=100.0)
    """Kurtosis of the noise less that of a normal law [1]; the standard deviation stays."""
    bias_m: float = 0.0
    """Added to every range [m]."""
    channel_bias_m: tuple[float, ...] = ()
    """Added to the ranges of each channel, a row of the pattern [m]; empty for none."""
    channel_bias_std_m: float = Field(default=0.0, ge=0.0)
    """Standard deviation of a further bias of each channel [m], drawn once from the seed for each sensor of each world;
    it does not change at resets."""
    angle_std_rad: float = Field(default=0.0, ge=0.0, lt=0.1)
    """The beam goes this far astray about each of two axes, unknown to the sensor: points stay on the nominal ray."""
    dropout: float = Field(default=0.0, ge=0.0, le=1.0)
    """Probability that a ray has no return."""

    @model_validator(mode="after")
    def _rising(self) -> "RangeNoise":
        for name, pairs in (("by_range", self.by_range), ("by_reflectance", self.by_reflectance)):
            places = [place for place, _ in pairs]
            if any(after <= before for before, after in itertools.pairwise(places)):
                raise ValueError(f"{name} is for {places}; they must rise")
        return self

    @property
    def moves_ranges(self) -> bool:
        """Whether the kernel reports other ranges than the true ones; biases of channels come after it."""
        return any((self.base_m, self.slope, self.square_per_m, self.bias_m, self.by_signal is not None))

    @property
    def biases_channels(self) -> bool:
        """Whether channels have biases of their own."""
        return any(self.channel_bias_m) or self.channel_bias_std_m > 0.0

    def greatest_sigma_m(self, range_m: float) -> float:
        """Standard deviation at a range, without its bias, on the target that has most [m]."""
        x = max(range_m, 0.0)
        tables = self.by_range, self.by_reflectance
        factor = math.prod(max((factor for _, factor in pairs), default=1.0) for pairs in tables)
        sigma_m = factor * (self.base_m + x * (self.slope + x * self.square_per_m))
        if self.by_signal is None:
            return sigma_m
        far = self.by_signal.std_m * math.sqrt(self.by_signal.reflectance / _DARKEST) * x / self.by_signal.range_m
        return math.hypot(sigma_m, far)

    def range_table(self) -> NDArray[np.float32]:
        """Ranges [m] and factors as kernels read them, shape (2, points)."""
        return np.array(self.by_range, np.float32).reshape(-1, 2).T.copy()

    def reflectance_table(self) -> NDArray[np.float32]:
        """Logarithms of the reflectances and factors as the kernel reads them, shape (2, points)."""
        pairs = np.array(self.by_reflectance, np.float64).reshape(-1, 2)
        return np.stack([np.log(pairs[:, 0]), pairs[:, 1]]).astype(np.float32)
