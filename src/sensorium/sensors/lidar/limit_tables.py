"""Threshold and noise of a lidar's receiver from stated detection ranges, in the unit of its intensities."""

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from sensorium.core.errors import SpecError
from sensorium.physics.optics.detection.detection import noise_of_detection, ratio_of_detections, sunlit_noise
from sensorium.sensors.lidar.detection_limit import RATIO, DetectionLimit

if TYPE_CHECKING:
    from sensorium.sensors.lidar.lidar import Lidar

# A return this many standard deviations below the threshold is never detected, one as far above it always: 3 in 100,000
REACH = 4.0


class LimitNumbers(NamedTuple):
    """Noise sigma^2 = dark + sun x reflectance of the target, and the threshold over sigma."""

    ratio: float
    dark: float
    sun: float

    def noise(self, reflectance: float) -> float:
        """Noise on a target of a given diffuse reflectance, in the unit of intensities."""
        return math.sqrt(self.dark + self.sun * reflectance)

    @property
    def hopeless(self) -> float:
        """Intensity below which nothing is detected: far below the threshold, or weaker than the noise itself."""
        return max(self.ratio - REACH, 1.0) * math.sqrt(self.dark)


def limit_numbers(limit: DetectionLimit, captured: Callable[[float], float]) -> LimitNumbers:
    """Threshold and noise of a receiver with the stated detection probabilities.

    Args:
        limit: The stated ranges.
        captured: Share of the light that the receiver catches from a range [m], over that of a white target.
    """
    one, two = limit.reflectance / math.pi * captured(limit.range_m), limit.second
    ratio = RATIO if limit.ratio is None else limit.ratio
    if two is None:
        return LimitNumbers(ratio, float(noise_of_detection(one, probability=limit.probability, ratio=ratio)) ** 2, 0.0)
    other = two.reflectance / math.pi * captured(two.range_m)
    try:
        if limit.tells_ratio:
            ratio = ratio_of_detections((one, other), probability=(limit.probability, two.probability))
        noise = (
            float(noise_of_detection(one, probability=limit.probability, ratio=ratio)),
            float(noise_of_detection(other, probability=two.probability, ratio=ratio)),
        )
        if limit.tells_ratio:
            return LimitNumbers(ratio, noise[0] ** 2, 0.0)
        return LimitNumbers(ratio, *sunlit_noise(noise, reflectance=(limit.reflectance, two.reflectance)))
    except SpecError as error:
        raise SpecError(
            f"detection states {limit.range_m:g} m for {limit.reflectance:g} and second.range_m {two.range_m:g} m for "
            f"{two.reflectance:g}: {error}"
        ) from None


def relative_limit(spec: "Lidar") -> LimitNumbers | None:
    """Threshold and noise of a lidar in relative mode; None if it has no detection limit."""
    limit = DetectionLimit() if spec.detection == "typical" else spec.detection
    if limit is None or spec.mode != "relative":
        return None
    return limit_numbers(limit, lambda range_m: float(spec.beam.captured(range_m, model=spec.divergence)))
