"""Detection limit of a lidar, from the ranges and detection probabilities that data sheets state."""

from pydantic import Field, model_validator

from sensorium.core.spec import Spec

RATIO = 5.0
"""Default threshold over noise. Ouster and Livox state one false alarm in 10,000 shots; 200 m hold about 270 pulses of
5 ns, and noise exceeds 4.95 standard deviations in one of 2.7 million."""


class StatedRange(Spec):
    """A diffuse target at normal incidence, and its probability of detection at a range."""

    reflectance: float = Field(gt=0.0, le=1.0)
    """Diffuse reflectance of the target [1]."""
    range_m: float = Field(gt=0.0)
    """Range of the target [m]."""
    probability: float = Field(default=0.9, gt=0.0, lt=1.0)
    """Probability that a ray to it returns [1]."""


class DetectionLimit(Spec):
    """A return of intensity I is detected with the probability Phi(I / sigma - k).

    The receiver compares signal plus normal noise sigma with a threshold of k sigma. The stated range fixes sigma: the
    intensity of the stated target, for the lidar's own beam in air without losses, is detected with the stated
    probability. A second range at another reflectance gives the share of sunlight on the target in the noise, sigma^2 =
    s_0^2 + s_1^2 reflectance; a second range at another probability gives k.

    The default describes a typical automotive lidar: a target of 10 % at 100 m, detected by 90 % of the rays.

    >>> dark = sn.DetectionLimit(reflectance=0.1, range_m=90.0, second=sn.StatedRange(reflectance=0.8, range_m=170.0))
    >>> pattern = sn.patterns.Spinning(elevation_deg=(0,), columns=90, rate_hz=10)
    >>> sn.Lidar(pattern=pattern, mode="relative", detection=dark).detection.probability
    0.9
    """

    reflectance: float = Field(default=0.1, gt=0.0, le=1.0)
    """Diffuse reflectance of the target [1]."""
    range_m: float = Field(default=100.0, gt=0.0)
    """Range of the target [m]."""
    probability: float = Field(default=0.9, gt=0.0, lt=1.0)
    """Probability that a ray to it returns [1]."""
    second: StatedRange | None = None
    """A second stated range: at another reflectance, or at the same reflectance with another probability."""
    ratio: float | None = Field(default=None, ge=1.0)
    """Threshold over noise, k [1]; None is 5 (one false alarm in 10,000 shots), or the k of a second probability."""

    @model_validator(mode="after")
    def _second_tells_something(self) -> "DetectionLimit":
        if self.tells_ratio and self.second is not None:
            if self.ratio is not None:
                raise ValueError(
                    f"ratio is {self.ratio} with a second range of the same reflectance, {self.reflectance}, which "
                    "tells it; give one of them"
                )
            if (self.second.range_m - self.range_m) * (self.second.probability - self.probability) >= 0.0:
                raise ValueError(
                    f"second.range_m is {self.second.range_m} with probability {self.second.probability}, beside "
                    f"{self.range_m} with {self.probability}; the farther target must be detected less often"
                )
        return self

    @property
    def tells_ratio(self) -> bool:
        """Whether the second stated range has the same reflectance."""
        return self.second is not None and self.second.reflectance == self.reflectance
