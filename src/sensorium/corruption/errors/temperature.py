"""Temperature drift: bias and scale factor that follow the sensor's temperature."""

import math
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.core.clock import NS_PER_S
from sensorium.corruption.engine import op
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.op import Float, Int, Op, operation
from sensorium.corruption.engine.parameters import PerChannel
from sensorium.runtime import jit

TEMPERATURE = 12


class TemperatureDrift(Corruption):
    """x' = (1 + s1 (T - T0)) x + b1 (T - T0) (physics.md 13); errors at T0 are a `Bias` and a `Scale`.

    The ambient temperature is one number, or a profile over time: straight lines between its points, level beyond. The
    sensor settles `self_heating_k` above it. With `tau_s` it gets there as a first-order lag, tau dT/dt = ambient +
    self-heating - T, from `start_c` at the first sample: the drift while a sensor warms up. Steps are exact for an
    ambient temperature that is straight between samples.
    """

    kind: Literal["temperature_drift"] = "temperature_drift"
    bias_per_k: PerChannel = 0.0
    """b1 [unit/K]."""
    scale_per_k: PerChannel = 0.0
    """s1 [1/K]."""
    reference_c: float = 25.0
    """T0, the calibration temperature [deg C]."""
    ambient_c: float | tuple[float, ...] = 25.0
    """Ambient temperature [deg C], one for each of `times_s` if those are given."""
    times_s: tuple[float, ...] = ()
    """Times of the ambient temperatures, increasing, on the clock of the samples [s]."""
    self_heating_k: float = 0.0
    """Self-heating of the sensor above its surroundings [K]."""
    tau_s: float | None = Field(default=None, gt=0.0)
    """Time constant of the sensor's temperature [s]; None is no lag."""
    start_c: float | None = None
    """Temperature at the first sample [deg C]; None is the ambient temperature then. Needs `tau_s`."""

    @model_validator(mode="after")
    def _rules(self) -> "TemperatureDrift":
        count = len(self.ambient_c) if isinstance(self.ambient_c, tuple) else 0
        if count != len(self.times_s) or (isinstance(self.ambient_c, tuple) and not count):
            given = f"ambient_c has {count or 'one'} and times_s {len(self.times_s)} values"
            raise ValueError(f"{given}; a profile must have as many times as temperatures, and one number no times")
        if any(b <= a for a, b in zip(self.times_s, self.times_s[1:], strict=False)):
            raise ValueError(f"times_s is {self.times_s}; it must increase")
        if self.start_c is not None and self.tau_s is None:
            raise ValueError(f"start_c is {self.start_c:g} without tau_s; without a lag there is no start")
        return self

    def operations(self, layout: Layout) -> list[Op]:
        """Temperature first, then bias and scale; the temperature is state if it lags."""
        parameters = np.concatenate(
            [
                self.each("bias_per_k", layout.width),
                self.each("scale_per_k", layout.width),
                [self.reference_c, self.self_heating_k, self.tau_s or 0.0],
                self.times_s or [0.0],
                np.atleast_1d(self.ambient_c),
            ]
        )
        points = max(len(self.times_s), 1)
        if self.tau_s is None:
            return [Op(TEMPERATURE, parameters, options=(points, 0))]
        first_c = math.nan if self.start_c is None else self.start_c

        def start(begin: op.Start) -> Float:
            return np.full((begin.worlds * begin.sensors, 1, begin.width), first_c)

        return [Op(TEMPERATURE, parameters, options=(points, 1), slots=1, start=start)]


@operation(TEMPERATURE)
@jit.function
def temperature(
    ops: Int, o: int, par: Float, x: Float, state: Float, clock: Int, t: int, first: int, last: int
) -> None:
    """X += (scale x + bias) (T - T0)."""
    column, width, p, s = ops[o, op.COLUMN], ops[o, op.WIDTH], ops[o, op.PARAMETERS], ops[o, op.STATE]
    points, lags = ops[o, op.OPTION], ops[o, op.OPTION + 1]
    q = p + 2 * width
    reference, heating, tau_s = par[q], par[q + 1], par[q + 2]
    times, values = par[q + 3 : q + 3 + points], par[q + 3 + points : q + 3 + 2 * points]

    # Where the temperature settles now, and at the sample before
    time_s, dt_s = clock[t, op.TIME_NS] / NS_PER_S, clock[t, op.ELAPSED_NS] / NS_PER_S
    ambient = at_time(time_s, times, values)
    warm, decay, behind = ambient + heating, 1.0, 0.0
    warm_before = warm
    if lags and dt_s > 0.0:
        warm_before = at_time(time_s - dt_s, times, values) + heating
        decay = math.exp(-dt_s / tau_s)
        behind = (warm - warm_before) * tau_s / dt_s * -math.expm1(-dt_s / tau_s)
    for row in range(first, last):
        inside = warm
        if lags:
            # A start without a temperature is one as cold as its surroundings
            inside = state[row, s]
            inside = ambient if math.isnan(inside) else warm - behind + (inside - warm_before) * decay
            state[row, s] = inside
        excess = inside - reference
        for i in range(width):
            x[row, column + i] += (par[p + width + i] * x[row, column + i] + par[p + i]) * excess


@jit.function
def at_time(time_s: float, times: Float, values: Float) -> float:
    """Linear between points, constant beyond them."""
    last = times.size - 1
    if time_s <= times[0]:
        return values[0]
    if time_s >= times[last]:
        return values[last]
    k = 1
    while times[k] < time_s:
        k += 1
    share = (time_s - times[k - 1]) / (times[k] - times[k - 1])
    return values[k - 1] + share * (values[k] - values[k - 1])
