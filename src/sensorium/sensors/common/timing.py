"""Sampling times of a sensor and arrival times of its readings."""

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import Field

from sensorium.core.spec import Spec
from sensorium.corruption import TimingErrors

# Jitter moves a sample by less than this share of the period, so that samples keep their order
_MOST_JITTER = 0.45


class Timing(Spec):
    """Clock of one sensor, with its errors.

    A reading is captured at tick k, at phase + k / rate (moved by `jitter_s`), stamped by the sensor's own clock (wrong
    by `clock_offset_s` and `skew_ppm`), and arrives `latency_s` later (give or take `latency_jitter_s`), or, with
    probability `loss`, never. `read()` gives what arrived. The errors are drawn once a tick for all worlds, which share
    one clock.

    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    >>> late = sn.Timing(rate_hz=100.0, latency_s=0.025)
    >>> gyroscope = env.attach(sn.Gyroscope(timing=late))
    >>> for _ in env.run(duration_s=0.1):
    ...     pass
    >>> env.time_ns - gyroscope.read().time_ns  # the newest that has arrived
    30000000
    """

    rate_hz: float | None = Field(default=None, gt=0.0)
    """Readings per second [Hz]; None takes the sensor's own rate (a lidar turns as its pattern says)."""
    phase_s: float = Field(default=0.0, ge=0.0)
    """Time of the first tick [s]."""
    latency_s: float = Field(default=0.0, ge=0.0)
    """From the end of the capture to the reading's arrival [s]."""
    latency_jitter_s: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the latency [s]; nothing arrives before it was captured."""
    jitter_s: float = Field(default=0.0, ge=0.0)
    """Standard deviation of the instant of sampling [s], cut at 0.45 periods; of a lidar, of the firing of each
    column. For sensors that sample at instants, and for lidars."""
    clock_offset_s: float = 0.0
    """Offset of the sensor's clock at time 0 [s], positive if it is ahead."""
    skew_ppm: float = Field(default=0.0, gt=-1e6, lt=1e6)
    """Rate error of the sensor's clock, positive if fast [1e-6]."""
    loss: float = Field(default=0.0, ge=0.0, le=1.0)
    """Probability that a reading never arrives [1]."""

    def errors(self) -> TimingErrors:
        """Its errors except the sampling jitter; errors of faults are added to these."""
        return TimingErrors(
            delay_s=self.latency_s,
            jitter_s=self.latency_jitter_s,
            loss=self.loss,
            clock_offset_s=self.clock_offset_s,
            skew_ppm=self.skew_ppm,
        )

    def shifts_ns(self, normal: ArrayLike, period_ns: float) -> NDArray[np.int64]:
        """Displacements of samples [ns], from standard normal numbers of any shape."""
        most_ns = _MOST_JITTER * period_ns
        return np.rint(np.clip(np.asarray(normal) * self.jitter_s * 1e9, -most_ns, most_ns)).astype(np.int64)
