"""A slew limit with noise: a corruption with a kernel of its own."""

import math
from typing import Literal

import numpy as np

from sensorium.corruption import Corruption, Op, operation
from sensorium.corruption.engine.draws import fill_normals
from sensorium.corruption.engine.op import COLUMN, ELAPSED_NS, PARAMETERS, STATE, WIDTH
from sensorium.runtime import jit

SLEW_LIMIT = 40


class SlewLimit(Corruption):
    """y follows x by at most `rate` dt a sample, and x' = y + std n; the first sample passes."""

    kind: Literal["acme_slew_limit"] = "acme_slew_limit"
    rate: float
    std: float = 0.0

    def operations(self, layout):
        return [Op(SLEW_LIMIT, np.array([self.rate, self.std]), slots=1, forgets=True)]


@operation(SLEW_LIMIT)
@jit.function
def slew_limit(ops, o, par, x, state, ids, clock, t, first, last):
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    most = par[p] * clock[t, ELAPSED_NS] * 1e-9
    n = np.empty((4, last - first), np.float32)
    for begin in range(0, width, 4):
        fill_normals(ops, o, clock, t, ids, first, last, begin // 4, 0, n)
        for k in range(min(4, width - begin)):
            i = begin + k
            for row in range(first, last):
                y = state[row, s + i]
                move = x[row, column + i] - y
                y = x[row, column + i] if math.isnan(y) else y + min(max(move, -most), most)
                state[row, s + i] = y
                x[row, column + i] = y + par[p + 1] * n[k, row - first]
