"""Bias instability: flicker noise, the flat floor of an Allan plot."""

import math
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.core.units import FLOOR
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import fill_normals
from sensorium.corruption.engine.op import Float, Int, Op, Start, operation
from sensorium.corruption.engine.parameters import PerChannel, not_negative
from sensorium.runtime import jit

FLICKER = 9

# Averaging time over correlation time at which a Gauss-Markov process has its largest Allan deviation
_PEAK = 1.8926178033422194


class BiasInstability(Corruption):
    """x' = x + b_1 + ... + b_n: Gauss-Markov processes, one per decade, whose total Allan deviation is flat.

    `instability` is the coefficient B of IEEE 952: the level is sqrt(2 ln 2 / pi) B = 0.664282 B, within 2 % (1.5 % for
    whole decades), for averaging times from `tau_min_s` to `tau_max_s`. A data sheet that gives the lowest point of its
    Allan plot gives that level, so B is it over 0.664. Below the range the deviation falls as sqrt(tau), above as
    1 / sqrt(tau).

    Correlation times lie where a process counts most, at averaging times spread evenly over the range and divided by
    1.893; variances solve least squares for a level Allan variance, by the closed form of `allan_variance`. Each
    process has its stationary law from the first sample on; the sum of four decades has a standard deviation of 2 B.
    """

    kind: Literal["bias_instability"] = "bias_instability"
    instability: PerChannel
    """Coefficient B [unit]."""
    tau_min_s: float = 1.0
    """Shortest averaging time of the flat part [s]; several sample periods."""
    tau_max_s: float = 1e4
    """Longest averaging time of the flat part [s]."""

    @model_validator(mode="after")
    def _rules(self) -> "BiasInstability":
        not_negative("instability", self.instability)
        if not self.tau_min_s > 0.0:
            raise ValueError(f"tau_min_s is {self.tau_min_s:g}; it must be positive")
        if not self.tau_max_s >= 10.0 * self.tau_min_s:
            at_least = f"it must be at least ten times tau_min_s, {10.0 * self.tau_min_s:g}"
            raise ValueError(f"tau_max_s is {self.tau_max_s:g}; {at_least}")
        return self

    def processes(self) -> tuple[Float, Float]:
        """Correlation times [s] and standard deviations for B = 1 [1] of the processes, each (n,)."""
        decades = math.log10(self.tau_max_s / self.tau_min_s)
        count = math.ceil(decades - 0.25) + 1
        tau_s = np.geomspace(self.tau_min_s, self.tau_max_s, count) / _PEAK

        # Variances that make the sum as level as can be, and then centered between its highest and lowest point
        averaging_s = np.geomspace(self.tau_min_s, self.tau_max_s, 40 * count)
        each = allan_variance(averaging_s[:, None], 1.0, tau_s)
        variance = np.linalg.lstsq(each, np.ones(len(each)), rcond=None)[0]
        level = np.sqrt(each @ variance)
        return tau_s, np.sqrt(variance) * FLOOR * 2.0 / (level.min() + level.max())

    def operations(self, layout: Layout) -> list[Op]:
        """One step of every process a sample."""
        b = self.each("instability", layout.width)
        tau_s, std = self.processes()

        def start(begin: Start) -> Float:
            drawn = [begin.normal(1 + j) for j in range(len(tau_s))]
            return std[:, None] * b * np.stack(drawn, axis=1)

        return [Op(FLICKER, np.concatenate([b, tau_s, std]), slots=len(tau_s), start=start)]


def allan_variance(averaging_s: ArrayLike, std: ArrayLike, tau_s: ArrayLike) -> Float:
    """Allan variance of a Gauss-Markov process [unit^2], at averaging times [s].

    With r = averaging_s / tau_s: (2 std^2 / r) (1 - (3 - 4 exp(-r) + exp(-2 r)) / (2 r)); largest, (0.6174 std)^2, at
    r = 1.893.
    """
    r = np.asarray(averaging_s, np.float64) / np.asarray(tau_s, np.float64)
    a = -np.expm1(-r)
    return np.asarray(2.0 * np.square(std) / r * (1.0 - a * (2.0 + a) / (2.0 * r)))


@operation(FLICKER)
@jit.function
def flicker(
    ops: Int, o: int, par: Float, x: Float, state: Float, ids: Int, clock: Int, t: int, first: int, last: int
) -> None:
    """B_j = phi_j b_j + sigma_j sqrt(1 - phi_j^2) w for every process j; x += sum."""
    column, width, p, s, count = (
        ops[o, op.COLUMN],
        ops[o, op.WIDTH],
        ops[o, op.PARAMETERS],
        ops[o, op.STATE],
        ops[o, op.SLOTS],
    )
    dt_s = clock[t, op.ELAPSED_NS] / NS_PER_S
    times, stds = par[p + width : p + width + count], par[p + width + count : p + width + 2 * count]

    # What is the same for every row, for process and channel in the order of the state
    size = count * width
    phi, kick = np.empty(size), np.empty(size)
    for j in range(count):
        steps = dt_s / times[j]
        decay, share = math.exp(-steps), stds[j] * math.sqrt(-math.expm1(-2.0 * steps))
        for i in range(width):
            phi[j * width + i], kick[j * width + i] = decay, par[p + i] * share

    # Four numbers of the state share the words of one draw
    w = np.empty((4, last - first), np.float32)
    for begin in range(0, size, 4):
        fill_normals(ops, o, clock, t, ids, first, last, begin // 4, 0, w)
        for k in range(min(4, size - begin)):
            n = begin + k
            channel = column + n % width
            for row in range(first, last):
                b = phi[n] * state[row, s + n] + kick[n] * w[k, row - first]
                state[row, s + n] = b
                x[row, channel] += b
