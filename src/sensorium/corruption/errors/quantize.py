"""Quantization: values rounded to the codes of a converter."""

from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Grid, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, STATE, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, ordered, positive
from sensorium.runtime import jit

QUANTIZE = 6

_FLOOR, _CEIL, _ROUND, _TO_ZERO, _FROM_ZERO = range(5)
ROUNDINGS = {"floor": _FLOOR, "ceil": _CEIL, "round": _ROUND, "to_zero": _TO_ZERO, "from_zero": _FROM_ZERO}

# Part of a step within which a value counts as a code
_SLACK = 1e-9


class Quantize(Corruption):
    """x' = origin + lsb k with whole k: floor, ceil, round (halves away from zero), to zero, or away from zero.

    The step is given as `lsb` (codes are its multiples), or follows from `bits` N and limits: `full_span` has
    lsb = (hi - lo) / (2^N - 1), both limits are codes and one bit gives {lo, hi} (two levels are one bit, E-28);
    `twos_complement` has lsb = (hi - lo) / 2^N and the codes lo to hi - lsb. Codes then begin at lo. Limits are the
    chain's saturation, or `min` and `max` here. Rounding errs uniformly, variance lsb^2 / 12; floor also by -lsb / 2.
    With neither step nor bits every value passes.
    """

    kind: Literal["quantize"] = "quantize"
    lsb: PerChannel | None = None
    """Step [unit]."""
    bits: int | None = Field(default=None, ge=1, le=52)
    """Number of bits, instead."""
    code: Literal["full_span", "twos_complement"] = "full_span"
    """How bits divide the limits."""
    min: PerChannel | None = None
    """Lower limit for `bits` [unit]; None takes the chain's saturation."""
    max: PerChannel | None = None
    """Upper limit for `bits` [unit]."""
    rounding: Literal["floor", "ceil", "round", "to_zero", "from_zero"] = "round"
    """Code of a value between two codes."""
    carry_error: bool = False
    """Add the rounding error to the next sample, so that the mean over time is exact."""

    @model_validator(mode="after")
    def _rules(self) -> "Quantize":
        if self.lsb is not None and self.bits is not None:
            raise ValueError(f"lsb is {self.lsb} and bits is {self.bits}; only one of them can be given")
        if self.lsb is not None:
            positive("lsb", self.lsb)
        if (self.min is None) != (self.max is None):
            raise ValueError(f"min is {self.min} and max is {self.max}; both must be given, or neither")
        if self.min is not None and self.bits is None:
            raise ValueError("min and max are given without bits; they say what bits divide")
        if self.min is not None and self.max is not None:
            ordered("min", self.min, "max", self.max, strictly=True)
        return self

    def grid(self, layout: Layout) -> Grid | None:
        """Its codes; None if nothing is rounded."""
        if not self.on or (self.lsb is None and self.bits is None):
            return None
        if self.lsb is not None:
            endless = np.full(layout.width, np.inf)
            return Grid(self.each("lsb", layout.width), np.zeros(layout.width), -endless, endless, self.rounding)
        lo, hi = self._limits(layout)
        assert self.bits is not None
        if self.code == "full_span":
            return Grid((hi - lo) / (2.0**self.bits - 1.0), lo, lo, hi, self.rounding)
        lsb = (hi - lo) / 2.0**self.bits
        return Grid(lsb, lo, lo, hi - lsb, self.rounding)

    def codes_behind(self, layout: Layout) -> Grid | None:
        """Its own."""
        return self.grid(layout) or layout.codes_before

    def codes_ahead(self, layout: Layout) -> Grid | None:
        """Those of the last quantizer after it, or its own."""
        return layout.codes_after or self.grid(layout)

    def operations(self, layout: Layout) -> list[Op]:
        """A rounding; codes of bits also end at the limits."""
        grid = self.grid(layout)
        self._check_meanings()
        if grid is None:
            return []
        top = np.rint((grid.last - grid.origin) / grid.lsb)
        parameters = np.stack([grid.lsb, grid.origin, grid.first, grid.last, top])
        options = (ROUNDINGS[self.rounding], int(self.carry_error))
        return [Op(QUANTIZE, parameters, options=options, slots=int(self.carry_error))]

    def _check_meanings(self) -> None:
        """Raise if a rounding option is given and nothing is rounded."""
        if self.bits is None and self.code != "full_span":
            raise SpecError(f"Quantize.code is {self.code!r} without bits; they must be given too")
        for name, usual in (("rounding", "round"), ("carry_error", False)):
            if getattr(self, name) != usual and self.bits is None and self.lsb is None:
                raise SpecError(f"Quantize.{name} is {getattr(self, name)!r} without lsb or bits; give one of them")

    def _limits(self, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
        """Limits that bits divide."""
        if self.min is not None and self.max is not None:
            limits = self.each("min", layout.width), self.each("max", layout.width)
        else:
            what, give = f"bits is {self.bits}", "min and max"
            limits = layout.limit("min", what, give), layout.limit("max", what, give)
        if not (limits[0] < limits[1]).all():
            raise SpecError(f"bits divide {limits[0]} to {limits[1]}; the lower limit must be below the upper")
        return limits


@operation(QUANTIZE)
@jit.function
def quantize(ops: Int, o: int, par: Float, x: Float, state: Float, first: int, last: int) -> None:
    """X = origin + lsb k, k by the given rounding, within the codes."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    mode, carry = ops[o, OPTION], ops[o, OPTION + 1]
    for i in range(width):
        lsb, origin = par[p + i], par[p + width + i]
        lowest, highest, top = par[p + 2 * width + i], par[p + 3 * width + i], par[p + 4 * width + i]
        if mode == _ROUND and not carry:
            for row in range(first, last):
                value = x[row, column + i]
                k = nearest(value, (value - origin) / lsb)
                x[row, column + i] = highest if k >= top else max(origin + lsb * k, lowest)
            continue
        for row in range(first, last):
            value = x[row, column + i]
            if carry:
                value += state[row, s + i]
            k = code_of(mode, value, origin, lsb)

            # What is carried is what was rounded off, never what the last code cuts off
            if carry and not np.isnan(value):
                state[row, s + i] = value - (origin + lsb * k)
            x[row, column + i] = highest if k >= top else max(origin + lsb * k, lowest)


@jit.inlined
def code_of(mode: int, value: float, origin: float, lsb: float) -> float:
    """Number k of the code of a value."""
    y = (value - origin) / lsb
    k = nearest(value, y) if mode == _ROUND else directed(mode, value, y)

    # Where zero is no code, the nearest to it on the value's own side is as far as "to zero" goes
    if mode == _TO_ZERO and value * (origin + lsb * k) < 0.0:
        k += 1.0 if value > 0.0 else -1.0
    return k


@jit.inlined
def nearest(value: float, y: float) -> float:
    """The whole number next to y; halves go away from zero, that of the value."""
    up, down = np.floor(y + 0.5), np.ceil(y - 0.5)
    return up if value >= 0.0 else down


@jit.inlined
def directed(mode: int, value: float, y: float) -> float:
    """The whole number above or below y; toward and away from zero are one or the other by the value's sign."""
    # What is a code up to rounding of the division stays that code, so that codes are fixed points
    up, down = np.ceil(y - _SLACK), np.floor(y + _SLACK)
    if mode == _TO_ZERO:
        return up if value < 0.0 else down
    if mode == _FROM_ZERO:
        return down if value < 0.0 else up
    return up if mode == _CEIL else down
