"""Errors of the times at which a reading is taken and arrives, as data: sensors apply them."""

import math

from pydantic import Field

from sensorium.core.spec import Spec


class TimingErrors(Spec):
    """Errors of a sensor's timing.

    A message sent at t arrives at t + delay + jitter n (n normal, never before it was sent), or with probability `loss`
    not at all. A clock with these errors reads t + offset + 1e-6 skew t.
    """

    delay_s: float = Field(default=0.0, ge=0.0)
    """Additional latency of every message [s]."""
    jitter_s: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the arrival [s]."""
    loss: float = Field(default=0.0, ge=0.0, le=1.0)
    """Probability that a message never arrives [1]."""
    clock_offset_s: float = 0.0
    """Offset of the sensor's clock, positive if ahead [s]."""
    skew_ppm: float = Field(default=0.0, gt=-1e6)
    """Rate error of the sensor's clock, positive if fast [1e-6]: 50 is 180 ms in an hour."""

    def __add__(self, other: "TimingErrors") -> "TimingErrors":
        """Both at once, independent of each other: delays, offsets, skews and variances add.

        A message arrives if neither loses it: the loss is 1 - (1 - a)(1 - b).
        """
        return TimingErrors(
            delay_s=self.delay_s + other.delay_s,
            jitter_s=math.hypot(self.jitter_s, other.jitter_s),
            loss=min(self.loss + other.loss - self.loss * other.loss, 1.0),
            clock_offset_s=self.clock_offset_s + other.clock_offset_s,
            skew_ppm=self.skew_ppm + other.skew_ppm,
        )
