"""Freeze: the sensor repeats one sample for a while."""

import math
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import Float, Int, Op, operation
from sensorium.random import draw_words, exponential_f64, uniform_f64
from sensorium.runtime import jit

FREEZE = 19


class Freeze(Corruption):
    """x'(t) = x(t0) for t0 <= t < t0 + T: all channels hold the sample at which it froze.

    Without a rate it freezes at once, and stays so until a fault switches it off. With a rate it freezes by itself:
    while it is free, with probability 1 - exp(-rate dt) at a sample, dt the time since the one before; T is exponential
    or always the same. The share of time frozen is rate T / (1 + rate T) where T is long against dt. Groups of a sensor
    (`linear` and `angular`) freeze at their own random times; a fault with random times freezes them together.
    """

    kind: Literal["freeze"] = "freeze"
    rate_hz: float | None = Field(default=None, gt=0.0)
    """Rate at which a free sensor freezes [1/s]; None is at once, and permanently."""
    duration_s: float | None = Field(default=None, gt=0.0)
    """Mean of T [s], given together with a rate."""
    fixed_duration: bool = False
    """Whether T is always its mean."""

    @model_validator(mode="after")
    def _rules(self) -> "Freeze":
        if (self.rate_hz is None) != (self.duration_s is None):
            raise ValueError(f"rate_hz is {self.rate_hz} and duration_s is {self.duration_s}; give both, or neither")
        if self.fixed_duration and self.duration_s is None:
            raise ValueError("fixed_duration is given without duration_s; it says what that means")
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """The held sample and its remaining time are state."""
        numbers = np.array([self.rate_hz or 0.0, self.duration_s or 0.0])
        options = (int(self.rate_hz is not None), int(self.fixed_duration))
        return [Op(FREEZE, numbers, options=options, slots=3, forgets=True, holds=True)]


@operation(FREEZE)
@jit.function
def freeze(
    ops: Int, o: int, par: Float, x: Float, state: Float, ids: Int, clock: Int, t: int, first: int, last: int
) -> None:
    """X = held sample; state is that sample, its remaining time (first channel), and whether it is older."""
    column, width, p, s = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS], ops[o, op.STATE]
    random, fixed = ops[o, op.OPTION], ops[o, op.OPTION + 1]
    dt_s = clock[t, op.ELAPSED_NS] / NS_PER_S
    for row in range(first, last):
        left_s = state[row, s + width] - dt_s
        if left_s > 0.0:
            for i in range(width):
                x[row, column + i] = state[row, s + i]
                state[row, s + 2 * width + i] = 1.0
        else:
            left_s = freeze_time(random, fixed, par, p, dt_s, ops, o, clock, t, ids, row)
            for i in range(width):
                state[row, s + i] = x[row, column + i]
                state[row, s + 2 * width + i] = 0.0
        state[row, s + width] = left_s


@jit.function
def freeze_time(
    random: int, fixed: int, par: Float, p: int, dt_s: float, ops: Int, o: int, clock: Int, t: int, ids: Int, row: int
) -> float:
    """Duration of a freeze from this sample on [s]; 0 for none."""
    if not random:
        return math.inf
    k0, k1, stage, tick = clock[t, op.KEY_0], clock[t, op.KEY_1], ops[o, op.STAGE], clock[t, op.TICK]
    w0, w1, w2, w3 = draw_words(k0, k1, ids[1, row], stage, 0, tick, ids[0, row])
    if uniform_f64(w0, w1) >= -math.expm1(-par[p] * dt_s):
        return 0.0
    return par[p + 1] if fixed else par[p + 1] * exponential_f64(w2, w3)
