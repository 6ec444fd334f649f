"""Bias: an offset, constant or drawn once per episode."""

from typing import Any, Literal

from pydantic import model_validator

from sensorium.core.spec import Spec, positional_init
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, PARAMETERS, SLOTS, STATE, WIDTH, Float, Int, Op, Start, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative
from sensorium.runtime import jit

BIAS = 1


class Bias(Corruption):
    """x' = x + b, with b = value + std n, n normal and drawn once an episode (and world, and sensor).

    The turn-on bias of a data sheet is `std`; the known bias of one device is `value`.

    >>> bias = sn.corruption.Bias(0.1)
    >>> state = bias.init((2,), seed=0)
    >>> bias.apply([1.0, 2.0], time_ns=0, state=state)[0].tolist()
    [1.1, 2.1]
    """

    kind: Literal["bias"] = "bias"
    value: PerChannel = 0.0
    """Known part [unit of the signal]."""
    std: PerChannel = 0.0
    """Standard deviation of the part drawn at the start and at each reset [unit of the signal]."""

    @positional_init
    def __init__(self, value: Any = 0.0, **fields: Any) -> None:
        Spec.__init__(self, value=value, **fields)

    @model_validator(mode="after")
    def _rules(self) -> "Bias":
        not_negative("std", self.std)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One addition; the drawn part is state."""
        value = self.each("value", layout.width)
        std = self.each("std", layout.width)

        def start(begin: Start) -> Float:
            return (std * begin.normal(1))[:, None, :]

        return [Op(BIAS, value, slots=1, start=start) if std.any() else Op(BIAS, value, on=bool(value.any()))]


@operation(BIAS)
@jit.function
def bias(ops: Int, o: int, par: Float, x: Float, state: Float, first: int, last: int) -> None:
    """X += value + drawn part."""
    column, width, p, s, drawn = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE], ops[o, SLOTS]
    for i in range(width):
        value = par[p + i]
        for row in range(first, last):
            x[row, column + i] += value
            if drawn:
                x[row, column + i] += state[row, s + i]
