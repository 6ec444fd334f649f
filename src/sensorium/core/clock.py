"""Time in integer nanoseconds, and rates whose ticks never drift."""

import math
from dataclasses import dataclass, field
from fractions import Fraction

from sensorium.core.errors import SpecError

__all__ = ["MAX_NS", "NS_PER_S", "Rate", "ns_to_seconds", "seconds_to_ns"]

NS_PER_S = 1_000_000_000

MAX_NS = 2**63 - 1
"""The largest time that fits the int64 of recordings [ns], about 292 years."""


def seconds_to_ns(seconds: float) -> int:
    """The nearest whole nanosecond to a time or duration [s]."""
    if not math.isfinite(seconds):
        raise SpecError(f"a time is {seconds} s; it must be finite")
    time_ns = round(Fraction(seconds) * NS_PER_S)
    if abs(time_ns) > MAX_NS:
        raise SpecError(f"a time is {seconds} s; it must be within 2^63 nanoseconds, about 292 years")
    return time_ns


def ns_to_seconds(time_ns: int) -> float:
    """A time or duration [s] from nanoseconds, correctly rounded."""
    return int(time_ns) / NS_PER_S


@dataclass(frozen=True)
class Rate:
    """Ticks k = 0, 1, 2, ... at phase_ns + k / rate_hz, each rounded to the nearest nanosecond on its own.

    The arithmetic is rational, so rounding never adds up: tick 3 n of 3 Hz is at n seconds for every n. A
    float rate means the decimal number it prints as (29.97 is 2997/100).

    Attributes:
        rate_hz: Ticks per second [Hz], above 0 and at most 1e9; a `Fraction` such as 30000/1001 stays exact.
        phase_ns: Time of tick 0 [ns].
    """

    rate_hz: float | Fraction
    phase_ns: int = 0
    _numerator: int = field(init=False, repr=False, compare=False)
    _denominator: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.rate_hz) and 0 < self.rate_hz <= NS_PER_S):
            raise SpecError(f"rate_hz is {self.rate_hz}; it must be finite, above 0 and at most 1e9")
        if self.phase_ns != int(self.phase_ns):
            raise SpecError(f"phase_ns is {self.phase_ns}; it must be a whole number of nanoseconds")
        exact = self.rate_hz if isinstance(self.rate_hz, Fraction) else Fraction(repr(float(self.rate_hz)))
        period = NS_PER_S / exact  # [ns]
        if period > MAX_NS:
            raise SpecError(f"rate_hz is {self.rate_hz}; a tick must come within 2^63 nanoseconds, about 292 years")
        object.__setattr__(self, "phase_ns", int(self.phase_ns))
        object.__setattr__(self, "_numerator", period.numerator)
        object.__setattr__(self, "_denominator", period.denominator)

    @property
    def period_ns(self) -> float:
        """Time between ticks [ns], not rounded to whole nanoseconds."""
        return self._numerator / self._denominator

    def time_ns(self, tick: int) -> int:
        """Time of a tick [ns]; halves round up.

        Args:
            tick: Index k >= 0.
        """
        if tick < 0:
            raise SpecError(f"tick is {tick}; it must not be negative")
        denominator = self._denominator
        return self.phase_ns + (2 * int(tick) * self._numerator + denominator) // (2 * denominator)

    def ticks_between(self, after_ns: int, upto_ns: int) -> range:
        """Indices of the ticks with after_ns < time <= upto_ns; adjacent intervals share none, miss none."""
        return range(self.first_after(after_ns), self.first_after(upto_ns))

    def next_end_ns(self, now_ns: int, duration_ns: int) -> int:
        """When the first stretch of time ends after now [ns], if one of this length starts at each tick."""
        return self.time_ns(self.first_after(now_ns - duration_ns)) + duration_ns

    def first_after(self, time_ns: int) -> int:
        """The first tick k >= 0 after a time [ns]: floor(k period + 1/2) >= time - phase + 1, solved for k."""
        doubled = self._denominator * (2 * (int(time_ns) - self.phase_ns) + 1)
        tick = -(-doubled // (2 * self._numerator))
        return tick if tick > 0 else 0
