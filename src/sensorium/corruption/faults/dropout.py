"""Dropout: lost samples, single or in bursts."""

import math
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_words, happens
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, STATE, WIDTH, Float, Int, Op, operation
from sensorium.runtime import jit

DROPOUT = 18

_HOLD, _ZERO, _NAN = range(3)
_FILLS = {"hold": _HOLD, "zero": _ZERO, "nan": _NAN}


class Dropout(Corruption):
    """Samples are lost with a long-term share p, in dropouts of L samples on average.

    A two-state chain: outside a dropout, one begins with probability s at each sample; an active one
    goes on with probability 1 - 1/L, and one that ends may be followed at once by another, with probability s. The
    share lost is p = s L / (s L + 1 - s), so s = p / (p + L (1 - p)). With L = 1 samples are lost independently. Runs
    of lost samples are geometric with mean L / (1 - s). The chain begins in its stationary law. Ref: E. N. Gilbert,
    "Capacity of a burst-noise channel", Bell System Technical Journal 39 (1960), the same chain with other parameters.

    What holds the sample before also does so in the first sample of a fault; before there is any, samples pass.
    """

    kind: Literal["dropout"] = "dropout"
    probability: float = Field(ge=0.0, le=1.0)
    """Share p of the samples that are lost [1]."""
    fill: Literal["hold", "zero", "nan"] = "hold"
    """Replacement: the last sample that was not lost, 0, or NaN."""
    mean_length_samples: float = Field(default=1.0, ge=1.0)
    """Mean length L of a dropout [samples]."""
    together: bool = True
    """Whether a dropout affects all channels, as a lost message does, or each by itself, as rays of a scan."""

    @model_validator(mode="after")
    def _rules(self) -> "Dropout":
        if self.probability == 1.0 and self.fill == "hold":
            raise ValueError("probability is 1 with fill 'hold'; something must arrive to be held")
        return self

    @property
    def onset_probability(self) -> float:
        """Probability s that a dropout begins at a sample."""
        return self.probability / (self.probability + self.mean_length_samples * (1.0 - self.probability))

    def operations(self, layout: Layout) -> list[Op]:
        """One decision per sample, or one per channel."""
        begins = self.onset_probability
        goes_on = 1.0 - (1.0 - begins) / self.mean_length_samples
        numbers = np.array([self.probability, begins, goes_on])
        options = (_FILLS[self.fill], int(self.together))
        return [Op(DROPOUT, numbers, options=options, slots=3, watches=True, holds=self.fill == "hold")]


@operation(DROPOUT)
@jit.function
def dropout(
    ops: Int, o: int, par: Float, x: Float, state: Float, ids: Int, clock: Int, t: int, first: int, last: int
) -> None:
    """X = its fill where it is lost.

    State is the last value that arrived, whether the sample was lost (NaN before the first), and whether the output is
    an older value (NaN before any arrived).
    """
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    fill, together = ops[o, OPTION], ops[o, OPTION + 1]
    decisions = 1 if together else width
    words = np.empty((4, last - first), np.uint32)
    for begin in range(0, decisions, 4):
        fill_words(ops, o, clock, t, ids, first, last, begin // 4, 0, words)
        for row in range(first, last):
            for k in range(min(4, decisions - begin)):
                i = begin + k
                chance = dropout_chance(par, p, state[row, s + width + i])
                lost = happens(chance, words[k, row - first], ops, o, clock, t, ids, row, i, 0)
                state[row, s + width + i] = 1.0 if lost else 0.0
                for channel in range(i, width if together else i + 1):
                    fill_lost(fill, x, state, row, column + channel, s + channel, s + 2 * width + channel, lost)


@jit.inlined
def dropout_chance(par: Float, p: int, before: float) -> float:
    """Probability that a sample is lost, given the state of the one before: 1 lost, 0 not, NaN unknown."""
    if math.isnan(before):
        return par[p]
    return par[p + 2] if before > 0.0 else par[p + 1]


@jit.inlined
def fill_lost(fill: int, x: Float, state: Float, row: int, column: int, slot: int, older: int, lost: np.bool_) -> None:
    """Keep a value that arrived, or fill in for a lost one."""
    if not lost or (fill == _HOLD and math.isnan(state[row, older])):
        state[row, slot] = x[row, column]
        state[row, older] = 0.0
    elif fill == _ZERO:
        x[row, column] = 0.0
    elif fill == _NAN:
        x[row, column] = np.nan
    else:
        x[row, column] = state[row, slot]
        state[row, older] = 1.0
