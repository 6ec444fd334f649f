"""White noise: independent from sample to sample, or filtered."""

import math
from typing import Literal

import numpy as np
from pydantic import Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.corruption.engine.base import Corruption, Layout
from sensorium.corruption.engine.draws import LAPLACE, NORMAL, UNIFORM, fill_of_law
from sensorium.corruption.engine.op import COLUMN, OPTION, PARAMETERS, WIDTH, Float, Int, Op, operation
from sensorium.corruption.engine.parameters import Matrix, PerChannel, not_negative, square_root
from sensorium.corruption.errors.gauss_markov import GaussMarkov
from sensorium.runtime import jit

WHITE = 3

_LAWS = {"normal": NORMAL, "uniform": UNIFORM, "laplace": LAPLACE}


class White(Corruption):
    """x' = x + sigma w, w of mean 0 and variance 1, drawn for each sample and channel.

    sigma is `std`, or follows from a spectral density N as N sqrt(nu): a one-sided density (data sheets) with an ideal
    filter before the sampler has nu = f_s / 2; a two-sided one (IEEE 952, the Allan coefficient) has nu = f_s. The AGX
    paper takes f_s for both, sqrt(2) too much for a data sheet (physics.md E-19).

    With `bandwidth_hz` the noise has passed a filter of one pole whose equivalent noise bandwidth is nu: its density is
    N below the corner, 2 nu / pi where nu is far below f_s, and its variance N^2 nu. Samples depend on each other then:
    y_k = phi y_(k-1) + (1 - phi) x_k with phi = (1 - r) / (1 + r), r = 2 nu / f_s, lets white samples x of density N
    pass with a gain of 1 at frequency 0 and the noise bandwidth (f_s / 2) (1 - phi) / (1 + phi) = nu, exactly and at
    any rate f_s of 2 nu or more.
    """

    kind: Literal["white"] = "white"
    std: PerChannel | None = None
    """Standard deviation of a sample [unit]."""
    density: PerChannel | None = None
    """Amplitude spectral density N [unit/sqrt(Hz)], instead."""
    sided: Literal["one", "two"] = "one"
    """Convention of the density."""
    bandwidth_hz: float | None = Field(default=None, gt=0.0)
    """Equivalent noise bandwidth of the sensor's filter of one pole [Hz], for a one-sided density: pi / 2 times its
    corner. None is half the sample rate, without correlation."""
    covariance: Matrix | None = None
    """Of one sample [unit^2], instead: noise whose channels depend on each other; normal only."""
    law: Literal["normal", "uniform", "laplace"] = "normal"
    """Distribution."""

    @model_validator(mode="after")
    def _rules(self) -> "White":
        given = [name for name in ("std", "density", "covariance") if getattr(self, name) is not None]
        if len(given) != 1:
            raise ValueError(
                f"{' and '.join(given) or 'nothing'} is given; exactly one of std, density and covariance must be"
            )
        if self.density is None and (self.bandwidth_hz is not None or self.sided == "two"):
            raise ValueError("sided or bandwidth_hz is given without a density; they say what a density means")
        if self.sided == "two" and self.bandwidth_hz is not None:
            raise ValueError("bandwidth_hz is given with sided='two'; it belongs to a one-sided density")
        for name in ("covariance", "bandwidth_hz"):
            if getattr(self, name) is not None and self.law != "normal":
                raise ValueError(f"law is {self.law!r} with {name}; that must be 'normal'")
        for name in ("std", "density"):
            if getattr(self, name) is not None:
                not_negative(name, getattr(self, name))
        return self

    def sigma(self, layout: Layout) -> Float:
        """Standard deviation of a sample [unit], shape (width,)."""
        if self.std is not None:
            return self.each("std", layout.width)
        assert self.density is not None
        rate_hz = 1.0 / layout.needed_period_s("a spectral density")
        nu_hz = rate_hz if self.sided == "two" else 0.5 * rate_hz
        if self.bandwidth_hz is not None:
            if self.bandwidth_hz > 0.5 * rate_hz:
                rule = f"it must not exceed half the rate of {rate_hz:g} Hz"
                raise SpecError(f"bandwidth_hz is {self.bandwidth_hz:g}; {rule}")
            nu_hz = self.bandwidth_hz
        return self.each("density", layout.width) * math.sqrt(nu_hz)

    def operations(self, layout: Layout) -> list[Op]:
        """A draw for each channel; of dependent ones, a matrix of it; through a filter, a Gauss-Markov process."""
        if self.covariance is not None:
            return [Op(WHITE, square_root("covariance", self.covariance, layout.width), options=(NORMAL, 1))]
        sigma = self.sigma(layout)
        if self.bandwidth_hz is not None:
            tau_s = correlation_time_s(self.bandwidth_hz, layout.needed_period_s("a spectral density"))
            if tau_s > 0.0:
                return GaussMarkov(std=tuple(sigma.tolist()), tau_s=tau_s).operations(layout)
        return [Op(WHITE, sigma, options=(_LAWS[self.law], 0))]


def correlation_time_s(bandwidth_hz: float, period_s: float) -> float:
    """Correlation time of white noise that passed one pole, as samples have it [s].

    tau = T / ln((1 + r) / (1 - r)) with r = 2 nu T, so that phi = exp(-T / tau) = (1 - r) / (1 + r); 1 / (4 nu) where
    the filter is far slower than the samples, 0 where it lets all of them pass.

    Args:
        bandwidth_hz: Equivalent noise bandwidth nu of the filter [Hz], at most half the rate.
        period_s: Time T between samples [s].
    """
    share = 2.0 * bandwidth_hz * period_s
    return 0.5 * period_s / math.atanh(share) if share < 1.0 - 1e-12 else 0.0


@operation(WHITE)
@jit.function
def white(ops: Int, o: int, par: Float, x: Float, ids: Int, clock: Int, t: int, first: int, last: int) -> None:
    """X += sigma w, or L w."""
    column, width, p = ops[o, COLUMN], ops[o, WIDTH], ops[o, PARAMETERS]
    law, dependent = ops[o, OPTION], ops[o, OPTION + 1]
    w = np.empty((4, last - first), np.float32)
    for begin in range(0, width, 4):
        fill_of_law(law, ops, o, clock, t, ids, first, last, begin // 4, 0, w)
        for k in range(min(4, width - begin)):
            if dependent:
                for row in range(first, last):
                    for i in range(width):
                        x[row, column + i] += par[p + i * width + begin + k] * w[k, row - first]
            else:
                sigma = par[p + begin + k]
                for row in range(first, last):
                    x[row, column + begin + k] += sigma * w[k, row - first]
