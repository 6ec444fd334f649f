"""Square, triangle and ramp waves, in place of a signal or on top of it."""

import math
from fractions import Fraction
from typing import ClassVar, Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, TIME_NS, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative, positive
from sensorium.runtime import jit

WAVE = 16

_SQUARE, _TRIANGLE, _RAMP = range(3)

# Parameters of a channel: amplitude, then limbs of 32 bits, the highest first: four of a frequency and two of a phase
_LIMBS, _NUMBERS = 6, 7


class Wave(Corruption):
    """A wave A w(u) of the phase u = frac(f t + phi / 2 pi), with t the time of the clock.

    It replaces the signal, or adds to it. A frequency means the decimal number it prints as, and the phase is worked
    out in whole numbers: after years it is as accurate as in the first second. A shape is not a bit depth (physics.md
    E-28): waves are generators of their own, and coarse codes are `Quantize`.
    """

    amplitude: PerChannel
    """A [unit]."""
    frequency_hz: PerChannel
    """f [Hz]."""
    phase_rad: PerChannel = 0.0
    """phi [rad]."""
    mode: Literal["replace", "add"] = "replace"
    """Whether the wave replaces the signal or adds to it."""

    shape: ClassVar[int]

    @model_validator(mode="after")
    def _rules(self) -> "Wave":
        not_negative("amplitude", self.amplitude)
        positive("frequency_hz", self.frequency_hz)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One value a channel, the same in every row."""
        numbers = np.zeros((layout.width, _NUMBERS))
        numbers[:, 0] = self.each("amplitude", layout.width)
        frequency_hz = self.each("frequency_hz", layout.width)
        phase_rad = self.each("phase_rad", layout.width)
        for i in range(layout.width):
            # Turns a nanosecond in units of 2^-128, and the first phase in units of 2^-64
            turns = round(Fraction(repr(float(frequency_hz[i]))) / NS_PER_S * 2**128) % 2**128
            phase = round(Fraction(float(phase_rad[i]) / (2.0 * math.pi)) * 2**64) % 2**64
            limbs = turns << 64 | phase
            numbers[i, 1:] = [float(limbs >> 32 * k & 0xFFFFFFFF) for k in reversed(range(_LIMBS))]
        return [Op(WAVE, numbers, options=(self.shape, int(self.mode == "add")))]


class SquareWave(Wave):
    """A sgn(sin 2 pi u), with sgn(0) = +1: mean 0 and rms A."""

    kind: Literal["square_wave"] = "square_wave"
    shape: ClassVar[int] = _SQUARE


class TriangleWave(Wave):
    """(2 A / pi) arcsin(sin 2 pi u): from 0 up to A at u = 1/4, mean 0 and rms A / sqrt(3)."""

    kind: Literal["triangle_wave"] = "triangle_wave"
    shape: ClassVar[int] = _TRIANGLE


class Ramp(Wave):
    """2 A (u - 1/2): from -A up to A, and down at once; mean 0 and rms A / sqrt(3)."""

    kind: Literal["ramp"] = "ramp"
    shape: ClassVar[int] = _RAMP


_u64 = np.uint64
_32, _31, _11 = np.uint64(32), np.uint64(31), np.uint64(11)
_LOW, _ONE, _HALF_TURN = np.uint64(0xFFFFFFFF), np.uint64(1), np.uint64(1 << 63)


@jit.function
def phase(par: Float, p: int, time_ns: int) -> np.uint64:
    """Frac(f t + phase) in units of 2^-64, from the six limbs at p; right to half a unit for every int64 time."""
    high = (_u64(par[p]) << _32) | _u64(par[p + 1])
    middle, low = _u64(par[p + 2]), _u64(par[p + 3])
    first = (_u64(par[p + 4]) << _32) | _u64(par[p + 5])

    # Time times the lower half, divided by 2^64 and rounded
    time = _u64(time_ns)
    upper, lower = time >> _32, time & _LOW
    crossed, crossed_too = upper * low, lower * middle
    carry = ((lower * low) >> _32) + (crossed & _LOW) + (crossed_too & _LOW)
    part = upper * middle + (crossed >> _32) + (crossed_too >> _32) + (carry >> _32) + ((carry >> _31) & _ONE)
    if time_ns < 0:
        part -= (middle << _32) | low

    # Whole turns fall out of the upper half
    return time * high + part + first


@jit.function
def wave_value(shape: int, u64: np.uint64) -> float:
    """The wave of amplitude 1 at a phase in units of 2^-64."""
    if shape == _SQUARE:
        return 1.0 if u64 <= _HALF_TURN else -1.0
    u = np.float64(u64 >> _11) * 2.0**-53
    if shape == _RAMP:
        return 2.0 * (u - 0.5)
    if u < 0.25:
        return 4.0 * u
    return 2.0 - 4.0 * u if u < 0.75 else 4.0 * u - 4.0


@operation(WAVE)
@jit.function
def wave(ops: Int, o: int, par: Float, x: Float, clock: Int, t: int, first: int, last: int) -> None:
    """X = A w(u), or X += A w(u)."""
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    shape, adds = ops[o, OPTION], ops[o, OPTION + 1]
    for i in range(width):
        at = p + i * _NUMBERS
        value = par[at] * wave_value(shape, phase(par, at + 1, clock[t, TIME_NS]))
        for row in range(first, last):
            x[row, column + i] = x[row, column + i] + value if adds else value
