"""How weak a return a lidar detects, as data sheets state it: ranges at which a target is detected so often."""

from pydantic import Field, model_validator

from sensorium.core.spec import Spec

RATIO = 5.0
"""Threshold over noise where nothing tells it. Ouster and Livox state one false alarm in 10,000 shots; 200 m hold about
270 pulses of 5 ns, and noise exceeds 4.95 standard deviations in one of 2.7 million."""


class StatedRange(Spec):
    """A diffuse target straight on, and how often it is detected at some range."""

    reflectance: float = Field(gt=0.0, le=1.0)
    """Diffuse reflectance of the target [1]."""
    range_m: float = Field(gt=0.0)
    """Where it stands [m]."""
    probability: float = Field(default=0.9, gt=0.0, lt=1.0)
    """That a ray to it returns [1]."""


class DetectionLimit(Spec):
    """A return of intensity I is detected with the probability Phi(I / sigma - k).

    The receiver compares signal plus normal noise sigma with a threshold of k sigma. What a maker states fixes sigma:
    the intensity of the stated target, as the lidar's own beam gives it in air that takes nothing, is detected as often
    as stated. A second range at another reflectance tells how much of the noise is sunlight on the target,
    sigma^2 = s_0^2 + s_1^2 reflectance; one at another probability tells k.

    The default is that of a typical automotive lidar: a target of 10 % at 100 m, detected by 90 % of the rays.

    >>> dark = sn.DetectionLimit(reflectance=0.1, range_m=90.0, second=sn.StatedRange(reflectance=0.8, range_m=170.0))
    >>> pattern = sn.patterns.Spinning(elevation_deg=(0,), columns=90, rate_hz=10)
    >>> sn.Lidar(pattern=pattern, mode="relative", detection=dark).detection.probability
    0.9
    """

    reflectance: float = Field(default=0.1, gt=0.0, le=1.0)
    """Diffuse reflectance of the target [1]."""
    range_m: float = Field(default=100.0, gt=0.0)
    """Where it stands [m]."""
    probability: float = Field(default=0.9, gt=0.0, lt=1.0)
    """That a ray to it returns [1]."""
    second: StatedRange | None = None
    """Another statement: of another reflectance, or of the same with another probability."""
    ratio: float | None = Field(default=None, ge=1.0)
    """Threshold over noise, k [1]; None is 5 (one false alarm in 10,000 shots), or what a second probability tells."""

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
        """Whether the second statement is about the same target."""
        return self.second is not None and self.second.reflectance == self.reflectance
