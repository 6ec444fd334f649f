"""Quantisation: values become codes of a converter."""

import math
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium import jit
from sensorium.corruption.base import Corruption, Grid, Layout
from sensorium.corruption.op import COLUMN, OPTION, PARAMETERS, QUANTIZE, STATE, WIDTH, Op
from sensorium.corruption.parameters import PerChannel, per_channel, positive
from sensorium.errors import SpecError

_FLOOR, _CEIL, _ROUND, _TO_ZERO, _FROM_ZERO = range(5)
_ROUNDINGS = {"floor": _FLOOR, "ceil": _CEIL, "round": _ROUND, "to_zero": _TO_ZERO, "from_zero": _FROM_ZERO}


class Quantize(Corruption):
    """x' = origin + lsb k with whole k: floor, ceil, round (halves away from zero), to zero, or away from zero.

    The step is given as `lsb` (codes are its multiples), or follows from `bits` N and limits: `full_span` has
    lsb = (hi - lo) / (2^N - 1), both limits are codes and one bit gives {lo, hi} (two levels are one bit, E-28);
    `twos_complement` has lsb = (hi - lo) / 2^N and the codes lo to hi - lsb. Codes then begin at lo. Limits are the
    chain's saturation, or `min` and `max` here. Rounding errs uniformly, variance lsb^2 / 12; floor also by -lsb / 2.
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
    """Which code a value between two becomes."""
    carry_error: bool = False
    """Add what was rounded off to the next sample, so that the mean over time is exact."""

    @model_validator(mode="after")
    def _rules(self) -> "Quantize":
        if (self.lsb is None) == (self.bits is None):
            raise ValueError(f"lsb is {self.lsb} and bits is {self.bits}; exactly one of them must be given")
        if self.lsb is not None:
            positive("lsb", self.lsb)
        if (self.min is None) != (self.max is None):
            raise ValueError(f"min is {self.min} and max is {self.max}; both must be given, or neither")
        if self.min is not None and self.bits is None:
            raise ValueError("min and max are given without bits; they say what bits divide")
        return self

    def grid(self, layout: Layout) -> Grid | None:
        """Step and origin of the codes, each (width,)."""
        if self.lsb is not None:
            return Grid(per_channel("lsb", self.lsb, layout.width), np.zeros(layout.width))
        lo, hi = self._limits(layout)
        assert self.bits is not None
        steps = 2.0**self.bits - (1.0 if self.code == "full_span" else 0.0)
        return Grid((hi - lo) / steps, lo)

    def operations(self, layout: Layout) -> list[Op]:
        """A rounding; codes of bits also end at the limits."""
        grid = self.grid(layout)
        assert grid is not None
        lo, hi = np.full(layout.width, -np.inf), np.full(layout.width, np.inf)
        if self.bits is not None:
            lo, hi = self._limits(layout)
            hi = hi - (grid.lsb if self.code == "twos_complement" else 0.0)
        parameters = np.stack([grid.lsb, grid.origin, lo, hi])
        options = (_ROUNDINGS[self.rounding], int(self.carry_error))
        return [Op(QUANTIZE, parameters, options=options, slots=int(self.carry_error))]

    def _limits(self, layout: Layout) -> tuple[np.ndarray, np.ndarray]:
        """What bits divide."""
        if self.min is not None and self.max is not None:
            limits = per_channel("min", self.min, layout.width), per_channel("max", self.max, layout.width)
        elif layout.limits is not None:
            limits = layout.limits
        else:
            raise SpecError(f"bits is {self.bits} without limits; give min and max, or a saturation in the same chain")
        if not (limits[0] < limits[1]).all():
            raise SpecError(f"bits divide {limits[0]} to {limits[1]}; the lower limit must be below the upper")
        return limits


@jit.function
def quantize(ops, o, par, x, state, first, last):
    """X = origin + lsb k, k by the rounding asked for, within the codes there are."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    mode, carry = ops[o, OPTION], ops[o, OPTION + 1]
    for i in range(width):
        lsb, origin, lo, hi = par[p + i], par[p + width + i], par[p + 2 * width + i], par[p + 3 * width + i]
        for row in range(first, last):
            value = x[row, column + i]
            if carry:
                value += state[row, s + i]

            # Away from and toward zero are up or down by the sign; halves go away from zero
            y = (value - origin) / lsb
            if mode == _FLOOR or (mode == _TO_ZERO and value >= 0.0) or (mode == _FROM_ZERO and value < 0.0):
                k = math.floor(y)
            elif mode == _ROUND:
                k = math.floor(y + 0.5) if value >= 0.0 else math.ceil(y - 0.5)
            else:
                k = math.ceil(y)
            out = min(max(origin + lsb * k, lo), hi)
            if carry:
                state[row, s + i] = value - out
            x[row, column + i] = out
