"""Drift: an error that begins at the onset of a fault and grows from zero."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_normals
from sensorium.corruption.engine.op import COLUMN, ELAPSED_NS, PARAMETERS, STATE, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative, positive
from sensorium.corruption.faults.onset import age_ns
from sensorium.runtime import jit

DRIFT = 21


class Drift(Corruption):
    """x' = x + r a + A (1 - exp(-a / tau)) + K W(a), a = t - t0: a ramp, an exponential approach, a random walk.

    Each part is there if it is given, and one at least must be. t0 is the onset of the fault that switches it, to the
    nanosecond and also between two samples; without a fault it is the first sample. W is a Wiener process from
    W(0) = 0, so that the walk has the variance K^2 a whatever the step. After the end of the fault nothing is left of
    it; the next onset begins again at zero. `RandomWalk` in a fault goes on where the last one ended instead.

    >>> drift = sn.corruption.Drift(rate=0.5)
    >>> state = drift.init((1,), seed=0)
    >>> drift.series([[1.0], [1.0], [1.0]], times_ns=[0, 1_000_000_000, 3_000_000_000], state=state)[0].ravel().tolist()
    [1.0, 1.5, 2.5]
    """

    kind: Literal["drift"] = "drift"
    rate: PerChannel | None = None
    """Ramp: r [unit/s]."""
    final: PerChannel | None = None
    """Exponential approach: A, where it ends [unit]."""
    tau_s: PerChannel | None = None
    """Exponential approach: time constant tau [s]; 63 % of A is reached after it."""
    density: PerChannel | None = None
    """Random walk: K [unit/sqrt(s)]."""

    @model_validator(mode="after")
    def _rules(self) -> "Drift":
        if self.rate is None and self.final is None and self.density is None:
            raise ValueError("none of rate, final and density is given; one at least must be")
        if (self.final is None) != (self.tau_s is None):
            raise ValueError(f"final is {self.final} and tau_s is {self.tau_s}; give both, or neither")
        if self.tau_s is not None:
            positive("tau_s", self.tau_s)
        if self.density is not None:
            not_negative("density", self.density)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """The walk, and the age at the sample before, are state."""
        absent = {"rate": 0.0, "final": 0.0, "tau_s": 1.0, "density": 0.0}
        numbers = [
            np.full(layout.width, none) if getattr(self, name) is None else self.each(name, layout.width)
            for name, none in absent.items()
        ]
        return [Op(DRIFT, np.stack(numbers), slots=2, forgets=True, since_onset=True)]


@operation(DRIFT)
@jit.function
def drift(
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
    """X += r a + A (1 - exp(-a / tau)) + w; state is the walk w, and in the next slot's first channel the age [ns]."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    n = np.empty((4, last - first), np.float32)
    for begin in range(0, width, 4):
        fill_normals(ops, o, clock, t, ids, first, last, begin // 4, 0, n)
        for row in range(first, last):
            before_ns = state[row, s + width]
            now_ns = age_ns(ops, o, clock, t, onsets, row, before_ns)

            # It set in since the sample before, the first time or again
            fresh = math.isnan(before_ns) or now_ns < clock[t, ELAPSED_NS]
            age_s = now_ns / NS_PER_S
            root = math.sqrt((now_ns if fresh else float(clock[t, ELAPSED_NS])) / NS_PER_S)
            for k in range(min(4, width - begin)):
                i = begin + k
                w = 0.0 if fresh else state[row, s + i]
                w += par[p + 3 * width + i] * root * n[k, row - first]
                state[row, s + i] = w
                rise = -math.expm1(-age_s / par[p + 2 * width + i])
                x[row, column + i] += par[p + i] * age_s + par[p + width + i] * rise + w
    for row in range(first, last):
        state[row, s + width] = age_ns(ops, o, clock, t, onsets, row, state[row, s + width])
