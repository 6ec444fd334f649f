"""When messages of a step leave."""

from math import inf

from sensorium.core.clock import ns_to_seconds


class Departures:
    """A reading that arrives at the simulated time t leaves one step after t, at the run's pace.

    So readings within a step are as far apart as they were measured. A step that ends late by less than its own length
    changes nothing; after a later one, such as after a pause, times count from there. Without a pace readings leave at
    once.
    """

    def __init__(self) -> None:
        """Nothing has left yet."""
        self._speed: float | None = None
        self._zero_s = inf  # real time of the simulated time zero [s]
        self._step_s, self._now_s = 0.0, 0.0

    def begin_step(self, now_s: float, from_ns: int, to_ns: int, speed: float | None) -> None:
        """A step is sent.

        Args:
            now_s: Real time now, by the monotonic clock [s].
            from_ns: Simulated time at which the step began [ns].
            to_ns: Simulated time at which it ended [ns].
            speed: Simulated over real time; None for as fast as possible.
        """
        self._now_s = now_s
        if speed is not None:
            zero_s = now_s - ns_to_seconds(to_ns) / speed
            self._step_s = ns_to_seconds(to_ns - from_ns) / speed
            is_rebased = speed != self._speed or zero_s > self._zero_s + self._step_s
            self._zero_s = zero_s if is_rebased else min(self._zero_s, zero_s)
        self._speed = speed

    def due_s(self, arrival_ns: int) -> float:
        """When a reading of the step leaves, by the monotonic clock [s].

        Args:
            arrival_ns: Simulated time of its arrival [ns].
        """
        if self._speed is None:
            return self._now_s
        return self._zero_s + ns_to_seconds(arrival_ns) / self._speed + self._step_s
