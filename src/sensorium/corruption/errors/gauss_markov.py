"""First-order Gauss-Markov process: a random error with exponential correlation."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_normals
from sensorium.corruption.engine.op import Float, Int, Op, Start, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative, positive
from sensorium.runtime import jit

GAUSS_MARKOV = 5


class GaussMarkov(Corruption):
    """b_k = phi b_(k-1) + sigma sqrt(1 - phi^2) w with phi = exp(-dt / tau); x' = x + b.

    The variance is sigma^2 from the first sample on, the covariance over m steps sigma^2 phi^m. As a differential
    equation b' = -b / tau + q w with q^2 = 2 sigma^2 / tau. `std` is the standard deviation: Basilisk's factor 1.5 is
    an artifact of its test (physics.md E-29).
    """

    kind: Literal["gauss_markov"] = "gauss_markov"
    std: PerChannel
    """Standard deviation sigma [unit]."""
    tau_s: PerChannel
    """Correlation time tau [s]."""

    @model_validator(mode="after")
    def _rules(self) -> "GaussMarkov":
        not_negative("std", self.std)
        positive("tau_s", self.tau_s)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One step of the process a sample; it begins in its stationary law."""
        std = self.each("std", layout.width)
        tau_s = self.each("tau_s", layout.width)

        def start(begin: Start) -> Float:
            return (std * begin.normal(1))[:, None, :]

        return [Op(GAUSS_MARKOV, np.stack([std, tau_s]), slots=1, start=start)]


@operation(GAUSS_MARKOV)
@jit.function
def gauss_markov(
    ops: Int, o: int, par: Float, x: Float, state: Float, ids: Int, clock: Int, t: int, first: int, last: int
) -> None:
    """B = phi b + sigma sqrt(1 - phi^2) w; x += b."""
    column, width, p, s = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS], ops[o, op.STATE]
    dt_s = clock[t, op.ELAPSED_NS] / NS_PER_S
    w = np.empty((4, last - first), np.float32)
    for begin in range(0, width, 4):
        fill_normals(ops, o, clock, t, ids, first, last, begin // 4, 0, w)
        for k in range(min(4, width - begin)):
            i = begin + k
            steps = dt_s / par[p + width + i]
            phi, kick = math.exp(-steps), par[p + i] * math.sqrt(-math.expm1(-2.0 * steps))
            for row in range(first, last):
                state[row, s + i] = phi * state[row, s + i] + kick * w[k, row - first]
                x[row, column + i] += state[row, s + i]
