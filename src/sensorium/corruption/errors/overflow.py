"""Overflow: a value beyond the range of a converter wraps around to its other end."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, ordered
from sensorium.corruption.errors.quantize import ROUNDINGS, code_of
from sensorium.corruption.errors.saturate import inward
from sensorium.runtime import jit

OVERFLOW = 23


class Overflow(Corruption):
    """k' = k_lo + (k - k_lo) mod n, the two's complement wrap of a code k that n codes from k_lo on cannot hold.

    A value within the range stays. Right before a quantizer (nothing but quantizers and saturations between) k is the
    code that the value becomes by its rounding, and the range its codes: 2^N of them with `bits`, else those within the
    limits. Elsewhere the range is continuous, x' = lo + (x - lo) mod (hi - lo). Limits are `min` and `max` here, or the
    chain's saturation, or the ends of the codes. A value that is not finite passes.

    >>> chain = sn.corruption.Chain([sn.corruption.Overflow(), sn.corruption.Quantize(
    ...     bits=8, code="twos_complement", min=-128.0, max=128.0)])
    >>> chain.apply([126.6, 127.6, -130.0], time_ns=0, state=chain.init((3,), seed=0))[0].tolist()
    [127.0, -128.0, 126.0]
    """

    kind: Literal["overflow"] = "overflow"
    min: PerChannel | None = None
    """Lower limit [unit]; None takes the chain's saturation, or the first code."""
    max: PerChannel | None = None
    """Upper limit [unit]; None takes the chain's saturation, or the last code."""

    @model_validator(mode="after")
    def _rules(self) -> "Overflow":
        if (self.min is None) != (self.max is None):
            raise ValueError(f"min is {self.min} and max is {self.max}; both must be given, or neither")
        if self.min is not None and self.max is not None:
            ordered("min", self.min, "max", self.max, strictly=True)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """A wrap over codes, or over a continuous range."""
        codes = layout.codes_after
        lo, hi = self._limits(layout)
        if codes is None:
            if not (lo < hi).all():
                raise SpecError(f"Overflow wraps from {lo} to {hi}; the lower limit must be below the upper")
            return [Op(OVERFLOW, np.stack([lo, hi]), options=(0,))]
        lo, hi = inward(lo, hi, codes)
        first, last = np.rint((lo - codes.origin) / codes.lsb), np.rint((hi - codes.origin) / codes.lsb)
        numbers = np.stack([first, last, codes.origin, codes.lsb])
        return [Op(OVERFLOW, numbers, options=(1, ROUNDINGS[codes.rounding]))]

    def _limits(self, layout: Layout) -> tuple[Float, Float]:
        """Ends of the range, each (width,)."""
        if self.min is not None:
            return self.each("min", layout.width), self.each("max", layout.width)
        codes = layout.codes_after
        if layout.limits is None and codes is not None and np.isfinite([codes.first, codes.last]).all():
            return codes.first, codes.last
        what, give = "Overflow is given", "min and max"
        return layout.limit("min", what, give), layout.limit("max", what, give)


@operation(OVERFLOW)
@jit.function
def overflow(ops: Int, o: int, par: Float, x: Float, first: int, last: int) -> None:
    """X = remainder of x modulo the range."""
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    coded, mode = ops[o, OPTION], ops[o, OPTION + 1]
    for i in range(width):
        lo, hi = par[p + i], par[p + width + i]
        for row in range(first, last):
            value = x[row, column + i]
            if not math.isfinite(value):
                continue
            if coded:
                origin, lsb = par[p + 2 * width + i], par[p + 3 * width + i]
                k, count = code_of(mode, value, origin, lsb), hi - lo + 1.0
                if k < lo or k > hi:
                    x[row, column + i] = origin + lsb * (k - count * math.floor((k - lo) / count))
            elif value < lo or value >= hi:
                out = value - (hi - lo) * math.floor((value - lo) / (hi - lo))
                x[row, column + i] = out if lo <= out < hi else lo  # rounding may take it to the upper end
