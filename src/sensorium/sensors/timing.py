"""When a sensor measures and when its readings arrive, apart from what it measures."""

from pydantic import Field

from sensorium.spec import Spec


class Timing(Spec):
    """Clock of one sensor.

    A reading is captured at tick k, at phase + k / rate, and arrives `latency_s` later; `read()` gives what arrived.
    """

    rate_hz: float | None = Field(default=None, gt=0.0)
    """Readings per second [Hz]; None takes the sensor's own rate (a lidar turns as its pattern says)."""
    phase_s: float = Field(default=0.0, ge=0.0)
    """Time of the first tick [s]."""
    latency_s: float = Field(default=0.0, ge=0.0)
    """From the end of the capture to the reading's arrival [s]."""
