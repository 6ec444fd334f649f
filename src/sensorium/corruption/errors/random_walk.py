"""Random walk: an error whose variance grows with time."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_normals
from sensorium.corruption.engine.op import COLUMN, ELAPSED_NS, PARAMETERS, STATE, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative
from sensorium.runtime import jit

RANDOM_WALK = 4


class RandomWalk(Corruption):
    """b_k = b_(k-1) + K sqrt(dt) w, x' = x + b: Var b(t) = K^2 t, whatever the step.

    K is the Allan deviation's rate random walk. The Aerial Gym page divides the accelerometer's step by sqrt(dt), so
    that the walk diverges as the step shrinks (physics.md E-45); here it is multiplied, for every sensor. dt is the
    time since the sample before, also if samples were skipped.
    """

    kind: Literal["random_walk"] = "random_walk"
    density: PerChannel
    """K [unit/sqrt(s)]."""

    @model_validator(mode="after")
    def _rules(self) -> "RandomWalk":
        not_negative("density", self.density)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One step of the walk a sample."""
        return [Op(RANDOM_WALK, self.each("density", layout.width), slots=1)]


@operation(RANDOM_WALK)
@jit.function
def random_walk(
    ops: Int, o: int, par: Float, x: Float, state: Float, ids: Int, clock: Int, t: int, first: int, last: int
) -> None:
    """B += K sqrt(dt) w; x += b."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    root = math.sqrt(clock[t, ELAPSED_NS] / NS_PER_S)
    w = np.empty((4, last - first), np.float32)
    for begin in range(0, width, 4):
        fill_normals(ops, o, clock, t, ids, first, last, begin // 4, 0, w)
        for k in range(min(4, width - begin)):
            i = begin + k
            kick = par[p + i] * root
            for row in range(first, last):
                state[row, s + i] += kick * w[k, row - first]
                x[row, column + i] += state[row, s + i]
