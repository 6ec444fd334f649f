"""Spikes: rare samples with a large error."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_words, happens
from sensorium.corruption.engine.op import Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative, share
from sensorium.random import draw_words, normal_pair_f32, uniform_f32
from sensorium.runtime import jit

SPIKES = 17

_FIXED, _UNIFORM, _NORMAL = range(3)
_LAWS = {"fixed": _FIXED, "uniform": _UNIFORM, "normal": _NORMAL}
_SIGNS = {"random": 0, "plus": 1, "minus": -1}


class Spikes(Corruption):
    """x' = x + s A m with probability p, else x; drawn for each sample and channel by itself.

    p is `probability`, or 1 - exp(-rate dt) with dt the time since the sample before, so that the number of spikes a
    second does not depend on the sample rate while they are rare. m is 1, uniform in (0, 1) or |n| with n normal; the
    sign s is drawn, or always the same.
    """

    kind: Literal["spikes"] = "spikes"
    probability: PerChannel | None = None
    """Probability of a spike in one sample [1]."""
    rate_hz: PerChannel | None = None
    """Spikes per second [Hz], instead; the very first sample has none."""
    amplitude: PerChannel
    """A [unit]."""
    law: Literal["fixed", "uniform", "normal"] = "fixed"
    """Distribution of the height."""
    sign: Literal["random", "plus", "minus"] = "random"
    """Sign of the spikes."""

    @model_validator(mode="after")
    def _rules(self) -> "Spikes":
        if (self.probability is None) == (self.rate_hz is None):
            raise ValueError(
                f"probability is {self.probability} and rate_hz is {self.rate_hz}; exactly one of them must be given"
            )
        if self.probability is not None:
            share("probability", self.probability)
        if self.rate_hz is not None:
            not_negative("rate_hz", self.rate_hz)
        not_negative("amplitude", self.amplitude)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """A decision for each channel, and a height for those that are hit."""
        name = "rate_hz" if self.probability is None else "probability"
        numbers = np.stack([self.each(name, layout.width), self.each("amplitude", layout.width)])
        return [Op(SPIKES, numbers, options=(_LAWS[self.law], _SIGNS[self.sign], int(name == "rate_hz")))]


@operation(SPIKES)
@jit.function
def spikes(ops: Int, o: int, par: Float, x: Float, ids: Int, clock: Int, t: int, first: int, last: int) -> None:
    """X += s A m where a spike is drawn."""
    column, width, p = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS]
    law, sign, timed = ops[o, op.OPTION], ops[o, op.OPTION + 1], ops[o, op.OPTION + 2]
    dt_s = clock[t, op.ELAPSED_NS] / NS_PER_S
    words = np.empty((4, last - first), np.uint32)
    for begin in range(0, width, 4):
        fill_words(ops, o, clock, t, ids, first, last, begin // 4, 0, words)
        for k in range(min(4, width - begin)):
            i = begin + k
            chance = -math.expm1(-par[p + i] * dt_s) if timed else par[p + i]
            for row in range(first, last):
                if happens(chance, words[k, row - first], ops, o, clock, t, ids, row, i, 0):
                    x[row, column + i] += par[p + width + i] * unit_spike(law, sign, ops, o, clock, t, ids, row, i)


@jit.function
def unit_spike(law: int, sign: int, ops: Int, o: int, clock: Int, t: int, ids: Int, row: int, channel: int) -> float:
    """A spike of amplitude 1, from a draw of its own; the first two draws decided whether there is one."""
    k0, k1, stage, tick = clock[t, op.KEY_0], clock[t, op.KEY_1], ops[o, op.STAGE], clock[t, op.TICK]
    w0, w1, w2, _ = draw_words(k0, k1, ids[1, row] + channel // 4, stage, 2 + channel % 4, tick, ids[0, row])
    height = 1.0
    if law == _UNIFORM:
        height = np.float64(uniform_f32(w0))
    elif law == _NORMAL:
        height = np.float64(abs(normal_pair_f32(w0, w1)[0]))
    down = sign < 0 or (sign == 0 and np.int64(w2) >= 1 << 31)
    return -height if down else height
