"""Saturation: values are clipped to limits."""

from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Grid, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, STATE, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, ordered
from sensorium.runtime import jit

SATURATE = 7


class Saturate(Corruption):
    """x' = min(max(x, lo), hi), per channel.

    It acts at its place in its chain. Next to a quantizer, with nothing but quantizers and saturations between, lo
    and hi are moved inward onto codes, so that the two may stand in either order and the output is always a code.

    With `check="average"` a channel is also held at a limit while the mean of this sample and the one before lies
    beyond it, as Basilisk's memo asks (R19). Equal limits are a sensor stuck at that value (R18).
    """

    kind: Literal["saturate"] = "saturate"
    min: PerChannel | None = None
    """Lower limit [unit]; None is none."""
    max: PerChannel | None = None
    """Upper limit [unit]; None is none."""
    check: Literal["instant", "average"] = "instant"
    """Whether a sample, or its mean with the last one, is compared with the limits."""

    @model_validator(mode="after")
    def _rules(self) -> "Saturate":
        if self.min is not None and self.max is not None:
            ordered("min", self.min, "max", self.max)
        return self

    @classmethod
    def stuck_at(cls, value: PerChannel) -> "Saturate":
        """Limits that leave only one value: a stuck sensor, the memo's way."""
        return cls(min=value, max=value)

    def limits(self, width: int) -> tuple[Float, Float] | None:
        """The limits as given, each (width,), infinite where there is none; None without any."""
        if self.min is None and self.max is None:
            return None
        endless = np.full(width, np.inf)
        lo = -endless if self.min is None else self.each("min", width)
        return lo, endless if self.max is None else self.each("max", width)

    def has_limits_off(self) -> bool:
        """Whether there is a limit, and it is off."""
        return not self.on and (self.min is not None or self.max is not None)

    def codes_behind(self, layout: Layout) -> Grid | None:
        """Codes of the incoming signal, since limits are on them."""
        return layout.codes_before

    def codes_ahead(self, layout: Layout) -> Grid | None:
        """Those that come after it."""
        return layout.codes_after

    def operations(self, layout: Layout) -> list[Op]:
        """A clip; on codes, if a quantizer is next to it."""
        limits = self.limits(layout.width)
        if limits is None:
            if self.check != "instant":
                raise SpecError(f"Saturate.check is {self.check!r} without min or max; give one of them")
            return []
        lo, hi = limits
        codes = layout.codes_after or layout.codes_before
        if codes is not None:
            lo, hi = inward(lo, hi, codes)
        average = self.check == "average"
        return [Op(SATURATE, np.stack([lo, hi]), options=(int(average),), slots=int(average), forgets=average)]


def inward(lo: Float, hi: Float, grid: Grid) -> tuple[Float, Float]:
    """Limits on the codes next to them, inside."""
    # A limit that is a code up to rounding stays that code
    low = grid.value(np.ceil((lo - grid.origin) / grid.lsb - 1e-9))
    high = grid.value(np.floor((hi - grid.origin) / grid.lsb + 1e-9))
    if (low > high).any():
        at = int(np.argmax(low > high))
        rule = f"there must be a code between them, in steps of {grid.lsb[at]:g}"
        raise SpecError(f"min is {lo[at]:g} and max is {hi[at]:g}; {rule}")
    return low, high


@operation(SATURATE)
@jit.function
def saturate(ops: Int, o: int, par: Float, x: Float, state: Float, first: int, last: int) -> None:
    """Clip x, optionally also where the mean of this and the last sample is beyond a limit."""
    column, width, p, s, average = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE], ops[o, OPTION]
    for i in range(width):
        lo, hi = par[p + i], par[p + width + i]
        for row in range(first, last):
            value = x[row, column + i]
            out = min(max(value, lo), hi)
            if average:
                mean = 0.5 * (value + state[row, s + i])
                if mean > hi:
                    out = hi
                elif mean < lo:
                    out = lo
                state[row, s + i] = value
            x[row, column + i] = out
