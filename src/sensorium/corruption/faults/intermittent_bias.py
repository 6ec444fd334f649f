"""Intermittent bias: an offset that comes and goes, as of a loose contact."""

import math
from typing import Literal

import numpy as np
from pydantic import Field

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_words, happens
from sensorium.corruption.engine.op import Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel
from sensorium.corruption.faults.onset import age_ns
from sensorium.runtime import jit

INTERMITTENT = 22

_PERIODIC, _RANDOM = range(2)
_SWITCHINGS = {"periodic": _PERIODIC, "random": _RANDOM}


class IntermittentBias(Corruption):
    """x' = x + b g(t), with g either 1 or 0: on for a share `duty` of the time, in cycles of `period_s`.

    Periodic: g = 1 while frac(a / T) < duty, a = t - t0 the time since the onset of the fault that switches it, or
    since the first sample. Random: times on and off are exponential with the means duty T and (1 - duty) T, a random
    telegraph signal. It is on with probability duty at the onset, and from sample to sample, however long that is,

        P(on) = duty + (g - duty) exp(-dt / tau),    tau = duty (1 - duty) T,

    g its state at the sample before (S. O. Rice, "Mathematical analysis of random noise", Bell System Technical Journal
    23, 1944, sec. 2.7). So its autocovariance is b^2 duty (1 - duty) exp(-lag / tau).
    """

    kind: Literal["intermittent_bias"] = "intermittent_bias"
    value: PerChannel
    """b [unit]."""
    duty: float = Field(default=0.5, gt=0.0, lt=1.0)
    """Share of the time for which it is on [1]."""
    period_s: float = Field(ge=1e-9)
    """Time T from onset to onset, or its mean [s]."""
    switching: Literal["periodic", "random"] = "random"
    """Timing of the switching."""
    together: bool = True
    """Whether all channels are switched together, as by a plug, or each by itself; periodic switching is the same."""

    def operations(self, layout: Layout) -> list[Op]:
        """Whether it is on, and the age at the sample before, are state."""
        numbers = np.concatenate([self.each("value", layout.width), [self.duty, self.period_s]])
        options = (_SWITCHINGS[self.switching], int(self.together))
        return [Op(INTERMITTENT, numbers, options=options, slots=2, forgets=True, since_onset=True)]


@operation(INTERMITTENT)
@jit.function
def intermittent_bias(
    ops: Int,
    o: int,
    par: Float,
    x: Float,
    state: Float,
    ids: Int,
    clock: Int,
    t: int,
    onsets: Int,
    first: int,
    last: int,
) -> None:
    """X += b where it is on; state is that, and in the next slot's first channel the age [ns]."""
    column, width, p, s = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS], ops[o, op.STATE]
    switching, together = ops[o, op.OPTION], ops[o, op.OPTION + 1]
    duty, period_s = par[p + width], par[p + width + 1]
    period_ns = np.rint(period_s * NS_PER_S)
    stay = math.exp(-clock[t, op.ELAPSED_NS] / NS_PER_S / (duty * (1.0 - duty) * period_s))
    decisions = 1 if together or switching == _PERIODIC else width
    words = np.empty((4, last - first), np.uint32)
    for begin in range(0, decisions, 4):
        if switching == _RANDOM:
            fill_words(ops, o, clock, t, ids, first, last, begin // 4, 0, words)
        for row in range(first, last):
            before_ns = state[row, s + width]
            now_ns = age_ns(ops, o, clock, t, onsets, row, before_ns)
            fresh = math.isnan(before_ns) or now_ns < clock[t, op.ELAPSED_NS]
            for k in range(min(4, decisions - begin)):
                i = begin + k
                if switching == _PERIODIC:
                    on = now_ns - period_ns * math.floor(now_ns / period_ns) < duty * period_ns
                else:
                    chance = duty if fresh else duty + (state[row, s + i] - duty) * stay
                    on = happens(chance, words[k, row - first], ops, o, clock, t, ids, row, i, 0)
                state[row, s + i] = 1.0 if on else 0.0
                if on:
                    for channel in range(i, width if decisions == 1 else i + 1):
                        x[row, column + channel] += par[p + channel]
    for row in range(first, last):
        state[row, s + width] = age_ns(ops, o, clock, t, onsets, row, state[row, s + width])
