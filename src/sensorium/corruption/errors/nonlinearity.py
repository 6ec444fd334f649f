"""Nonlinearity: a scale factor that depends on the signal."""

from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import COLUMN, PARAMETERS, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, positive
from sensorium.runtime import jit

NONLINEARITY = 13


class Nonlinearity(Corruption):
    """x' = x + k2 x |x| / F + k3 x^3 / F^2, F full scale (physics.md 13).

    Both terms are odd, so that a symmetric sensor stays symmetric; at full scale they are the shares k2 and k3 of it.
    """

    kind: Literal["nonlinearity"] = "nonlinearity"
    full_scale: PerChannel
    """F [unit]."""
    second: PerChannel = 0.0
    """k2 [1]; 0.001 is 0.1 % of full scale there."""
    third: PerChannel = 0.0
    """k3 [1]."""

    @model_validator(mode="after")
    def _rules(self) -> "Nonlinearity":
        positive("full_scale", self.full_scale)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One polynomial a channel."""
        full = self.each("full_scale", layout.width)
        second = self.each("second", layout.width)
        third = self.each("third", layout.width)
        return [Op(NONLINEARITY, np.stack([second / full, third / full**2]))]


@operation(NONLINEARITY)
@jit.function
def nonlinearity(ops: Int, o: int, par: Float, x: Float, first: int, last: int) -> None:
    """X += a x |x| + b x^3."""
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    for row in range(first, last):
        for i in range(width):
            value = x[row, column + i]
            x[row, column + i] = value + value * (par[p + i] * abs(value) + par[p + width + i] * value * value)
