"""Low-pass filter: the bandwidth of a sensor."""

import math
from functools import partial
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium import jit
from sensorium.clock import NS_PER_S
from sensorium.corruption.base import Corruption, Layout
from sensorium.corruption.op import COLUMN, ELAPSED_NS, LOW_PASS, OPTION, PARAMETERS, STATE, WIDTH, Float, Op, Start
from sensorium.corruption.parameters import PerChannel, per_channel, positive
from sensorium.errors import SpecError


class LowPass(Corruption):
    """One pole, y += (1 - exp(-2 pi f_c dt)) (x - y), or two: a Butterworth filter by the bilinear transform.

    One pole uses the time since the sample before and is right however samples follow. Two poles have f_c put exactly
    at -3 dB by prewarping, and coefficients of the nominal rate. Either begins as if the signal had always been what it
    is at the first sample, so that there is no transient. White noise of density N that passes has the equivalent
    bandwidth pi / 2 f_c and 1.111 f_c, while f_c is far below the rate.
    """

    kind: Literal["low_pass"] = "low_pass"
    cutoff_hz: PerChannel
    """Corner f_c, where half the power passes [Hz]."""
    poles: Literal[1, 2] = 1
    """Order of the filter."""

    @model_validator(mode="after")
    def _rules(self) -> "LowPass":
        positive("cutoff_hz", self.cutoff_hz)
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """One step of the filter a sample."""
        cutoff_hz = per_channel("cutoff_hz", self.cutoff_hz, layout.width)
        if self.poles == 1:
            return [Op(LOW_PASS, 2.0 * math.pi * cutoff_hz, options=(1,), slots=1, start=partial(_unset, slots=1))]

        # Two poles: the analogue prototype 1 / (1 + sqrt(2) s + s^2) with s = (1 - 1/z) / (1 + 1/z) / K
        period_s = layout.needed_period_s("a low-pass of two poles")
        for value_hz in cutoff_hz:
            if value_hz >= 0.5 / period_s:
                rule = f"it must be below half the rate of {1.0 / period_s:g} Hz"
                raise SpecError(f"cutoff_hz is {value_hz:g}; {rule}")
        k = np.tan(math.pi * cutoff_hz * period_s)
        scale = 1.0 + math.sqrt(2.0) * k + k**2
        b0, a1, a2 = k**2 / scale, 2.0 * (k**2 - 1.0) / scale, (1.0 - math.sqrt(2.0) * k + k**2) / scale
        return [Op(LOW_PASS, np.stack([b0, a1, a2]), options=(2,), slots=2, start=partial(_unset, slots=2))]


def _unset(begin: Start, slots: int) -> Float:
    """A state of NaN, which the kernel replaces at the first sample."""
    return np.full((begin.worlds * begin.sensors, slots, begin.width), np.nan)


@jit.function
def low_pass(ops, o, par, x, state, clock, t, first, last):
    """X = filtered x."""
    column, width, p, s = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS], ops[o, STATE]
    dt_s = clock[t, ELAPSED_NS] / NS_PER_S
    for i in range(width):
        if ops[o, OPTION] == 1:
            share = -math.expm1(-par[p + i] * dt_s)
            for row in range(first, last):
                value, y = x[row, column + i], state[row, s + i]
                y = value if math.isnan(y) else y + share * (value - y)
                state[row, s + i] = y
                x[row, column + i] = y
            continue

        # Transposed direct form: two sums wait for the next samples
        b0, a1, a2 = par[p + i], par[p + width + i], par[p + 2 * width + i]
        for row in range(first, last):
            value = x[row, column + i]
            if math.isnan(state[row, s + i]):
                state[row, s + i] = value * (1.0 - b0)
                state[row, s + width + i] = value * (b0 - a2)
            y = b0 * value + state[row, s + i]
            state[row, s + i] = 2.0 * b0 * value - a1 * y + state[row, s + width + i]
            state[row, s + width + i] = b0 * value - a2 * y
            x[row, column + i] = y
