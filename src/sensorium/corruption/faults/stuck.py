"""Stuck sensor: it gives the same value, whatever the input."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, STATE, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import Channels, PerChannel, Reading
from sensorium.runtime import jit

STUCK = 15


class Stuck(Corruption):
    """x' = v, the six modes of Basilisk's memo (physics.md 9).

    | mode | v |
    |---|---|
    | off | `off_value`, 0 or NaN |
    | on, max | upper limit, full scale |
    | min | lower limit |
    | value | `value` |
    | present | x at the onset: when a fault switches it on, or at the first sample; no value there is held too |

    Limits are those of the chain's saturation, or `min` and `max` here. The memo's other way, limits moved together, is
    `Saturate.stuck_at`.
    """

    kind: Literal["stuck"] = "stuck"
    mode: Literal["off", "on", "present", "value", "max", "min"]
    """Value at which it is stuck."""
    value: PerChannel | None = None
    """Set value, for mode "value" [unit]."""
    off_value: Reading = 0.0
    """Value when it is off [unit]; "nan" for no value."""
    min: PerChannel | None = None
    """Lower limit [unit]; None takes the chain's saturation."""
    max: PerChannel | None = None
    """Upper limit [unit]."""
    channels: Channels | None = None
    """Channels that are stuck; None for all."""

    @model_validator(mode="after")
    def _rules(self) -> "Stuck":
        if (self.value is not None) != (self.mode == "value"):
            rule = "a value must be given with mode 'value', and only then"
            raise ValueError(f"value is {self.value} and mode is {self.mode!r}; {rule}")
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One value in place of the signal; that of the onset is state."""
        if self.mode == "present":
            return [Op(STUCK, options=(1,), slots=2, forgets=True, holds=True, channels=self.channels)]
        return [Op(STUCK, self._value(layout), options=(0,), channels=self.channels)]

    def _value(self, layout: Layout) -> Float:
        """Value of each channel, shape (width,)."""
        if self.mode == "off":
            return np.full(layout.width, float(self.off_value))
        if self.mode == "value":
            return self.each("value", layout.width)
        side: Literal["min", "max"] = "min" if self.mode == "min" else "max"
        if getattr(self, side) is not None:
            return self.each(side, layout.width)
        return layout.limit(side, f"mode is {self.mode!r}", side)


@operation(STUCK)
@jit.function
def stuck(ops: Int, o: int, par: Float, x: Float, state: Float, first: int, last: int) -> None:
    """X = v; state is the present value, and whether it is an older one (NaN before the onset)."""
    column, width, p, s, latches = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE], ops[o, OPTION]
    for row in range(first, last):
        for i in range(width):
            if not latches:
                x[row, column + i] = par[p + i]
                continue
            if math.isnan(state[row, s + width + i]):
                state[row, s + i] = x[row, column + i]
                state[row, s + width + i] = 0.0
            else:
                x[row, column + i] = state[row, s + i]
                state[row, s + width + i] = 1.0
