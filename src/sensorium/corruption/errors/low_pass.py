"""Low-pass filter: the bandwidth of a sensor."""

import math
from typing import Literal

import numpy as np
from pydantic import model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel, positive
from sensorium.runtime import jit

LOW_PASS = 14

_SQRT_2 = math.sqrt(2.0)


class LowPass(Corruption):
    """One pole, y += (1 - exp(-2 pi f_c dt)) (x - y), or two: a Butterworth filter by the bilinear transform.

    One pole is exact for a signal that is level between samples, however they follow. Two poles are integrated by the
    trapezoidal rule, which is the bilinear transform; at the nominal rate prewarping puts f_c exactly at -3 dB, and a
    longer step stays stable. Either begins as if the signal had always been what it is at the first sample, or at the
    first sample of a fault, so that there is no transient. White noise that passes has the equivalent bandwidth
    pi / 2 f_c, or 1.111 f_c with two poles, while f_c is far below the rate.

    It acts on samples, so what a signal has above half the sample rate is folded down before it gets here; a sensor
    whose filter stands before its sampler needs a rate well above its bandwidth.
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
        cutoff_hz = self.each("cutoff_hz", layout.width)
        if self.poles == 1:
            return [Op(LOW_PASS, 2.0 * math.pi * cutoff_hz, options=(1,), slots=1, forgets=True)]

        period_s = layout.needed_period_s("a low-pass of two poles")
        for value_hz in cutoff_hz:
            if value_hz >= 0.5 / period_s:
                rule = f"it must be below half the rate of {1.0 / period_s:g} Hz"
                raise SpecError(f"cutoff_hz is {value_hz:g}; {rule}")

        # Prewarped, in radians a second: half a step of it is tan(pi f_c T)
        rate = 2.0 * np.tan(math.pi * cutoff_hz * period_s) / period_s
        return [Op(LOW_PASS, rate, options=(2,), slots=2, forgets=True)]


@operation(LOW_PASS)
@jit.function
def low_pass(ops: Int, o: int, par: Float, x: Float, state: Float, clock: Int, t: int, first: int, last: int) -> None:
    """X = filtered x."""
    column, width, p, s = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS], ops[o, op.STATE]
    dt_s = clock[t, op.ELAPSED_NS] / NS_PER_S
    for i in range(width):
        if ops[o, op.OPTION] == 1:
            share = -math.expm1(-par[p + i] * dt_s)
            for row in range(first, last):
                value, y = x[row, column + i], state[row, s + i]
                y = value if math.isnan(y) else y + share * (value - y)
                state[row, s + i] = y
                x[row, column + i] = y
            continue

        # y'' = rate^2 (x - y) - sqrt(2) rate y', with y' / rate and y as state after half a step more
        g = 0.5 * par[p + i] * dt_s
        scale = 1.0 / (1.0 + g * (g + _SQRT_2))
        for row in range(first, last):
            value, speed, y = x[row, column + i], state[row, s + i], state[row, s + width + i]
            if math.isnan(y):
                speed, y = 0.0, value
            v = scale * (speed + g * (value - y))
            out = y + g * v
            state[row, s + i] = 2.0 * v - speed
            state[row, s + width + i] = 2.0 * out - y
            x[row, column + i] = out
