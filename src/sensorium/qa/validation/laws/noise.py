"""Errors of signals: their laws, spectra and bounds."""

from typing import Any

import numpy as np

import sensorium as sn
from sensorium.qa.validation.check import Array, Axis, Comparison, Family

NOISE = Family("Errors of signals")


def series(
    model: Any, samples: int, *, worlds: int = 1, width: int = 4, rate_hz: float = 100.0, seed: int = 1
) -> Array:
    """Errors of a signal of zeros, shape (samples, worlds, width)."""
    times_ns = np.round(np.arange(samples) * (1e9 / rate_hz)).astype(np.int64)
    state = model.init((worlds, width), seed=seed, name="signal", period_s=1.0 / rate_hz)
    return model.series(np.zeros((samples, worlds, width)), times_ns=times_ns, state=state)[0]


@NOISE.check(
    "white-law",
    "White noise has the law it was asked for: normal, uniform and Laplace (Kolmogorov-Smirnov).",
    reference="SciPy's distributions. p below 1e-4 would mean another law",
    side="at least",
)
def _white(quick: bool) -> Comparison:
    from scipy import stats

    root = np.sqrt(12.0)
    laws: dict[Any, Any] = {
        "normal": stats.norm(),
        "uniform": stats.uniform(-root / 2, root),
        "laplace": stats.laplace(scale=np.sqrt(0.5)),
    }
    found = []
    for name, law in laws.items():
        x = series(sn.corruption.White(std=2.0, law=name), 200 if quick else 2000, worlds=100).ravel() / 2.0
        found.append(float(stats.kstest(x, law.cdf).pvalue))
    return Comparison(found, 1e-4, x=Axis("law"), y=Axis("p-value", log=True))


@NOISE.check(
    "density",
    "The spectrum of noise given by a data sheet's density is that density; IEEE 952's is sqrt(2) of it.",
    reference="physics.md 6, E-19: Welch gives 1.000 N, and 1.414 N two-sided (scipy.signal.welch)",
    absolute=0.012,
)
def _density(quick: bool) -> Comparison:
    from scipy import signal

    found = []
    for sided in ("one", "two"):
        for rate_hz in (100.0, 1000.0):
            model = sn.corruption.White(density=0.02, sided=sided)
            x = series(model, 16_384, width=4, rate_hz=rate_hz)[:, 0]
            _, power = signal.welch(x, fs=rate_hz, nperseg=512, axis=0)
            found.append(np.sqrt(power[2:-2].mean()) / 0.02)
    expected = [1.0, 1.0, np.sqrt(2.0), np.sqrt(2.0)]
    return Comparison(found, expected, x=Axis("one-sided, two-sided; 100 Hz, 1 kHz"), y=Axis("density / asked for"))


@NOISE.check(
    "gauss-markov",
    "A Gauss-Markov process is stationary from its first sample, with covariance sigma^2 exp(-m dt / tau).",
    reference="physics.md 9. Tolerance: five standard errors of this many worlds",
    absolute=0.05,
)
def _gauss_markov(quick: bool) -> Comparison:
    x = series(sn.corruption.GaussMarkov(std=2.0, tau_s=0.2), 80, worlds=5000) / 2.0
    lags = np.array([0, 1, 2, 5, 10, 20, 40, 70])
    found = [(x[0] * x[m]).mean() for m in lags]
    expected = np.exp(-0.01 * lags / 0.2)
    return Comparison(found, expected, at=lags * 0.01, x=Axis("lag [s]"), y=Axis("covariance / sigma^2"))


@NOISE.check(
    "walk-and-step",
    "The variance of a random walk after a second is K^2, whatever the sample rate.",
    reference="physics.md 11, E-45: Var b(T) = K^2 T; divided by sqrt(dt) it would diverge",
    relative=0.06,
)
def _walk(quick: bool) -> Comparison:
    rates = np.array([10.0, 100.0, 1000.0])
    found = [
        series(sn.corruption.RandomWalk(density=0.3), round(rate) + 1, worlds=4000, rate_hz=rate)[-1].var()
        for rate in rates
    ]
    x = Axis("sample rate [Hz]", log=True)
    return Comparison(found, 0.09, at=rates, x=x, y=Axis("variance after 1 s"))


@NOISE.check(
    "bounded-walks",
    "Bounded walks settle at the spreads of their laws: normal, uniform, truncated, clamped, pulled.",
    reference="physics.md 9: std / bound 1/3, 0.57735, 0.5309, 0.787, and 0.556 for Basilisk's old rule (E-29)",
    absolute=0.012,
)
def _bounded(quick: bool) -> Comparison:
    cases: tuple[tuple[Any, float, float, int], ...] = (
        ("ou", 0.5, 1 / 3, 300),
        ("reflect", 0.5, 0.57735, 300),
        ("truncate", 0.5, 0.5309, 300),
        ("clamp", 1.0, 0.787, 300),
        ("exp_pull", 1 / 30, 0.556, 3000),
    )
    found = []
    for method, step, _, samples in cases:
        name = "soft_bound" if method in ("ou", "exp_pull") else "bound"
        model = sn.corruption.BoundedWalk(**{name: 2.0}, step_std=2.0 * step, method=method)
        found.append(series(model, samples, worlds=150, rate_hz=1.0)[samples // 3 :].std() / 2.0)
    return Comparison(found, [case[2] for case in cases], x=Axis("method"), y=Axis("std / bound"))


@NOISE.check(
    "codes",
    "Discretization and saturation give the codes of N bits: steps 0.133333 and 0.125 of +-1 in 4 bits, 1 bit {-1, 1}.",
    reference="physics.md 9, E-28: full_span and twos_complement; to zero 1.234 is 1.2",
    absolute=1e-9,
)
def _codes(quick: bool) -> Comparison:
    ramp = np.linspace(-1.2, 1.2, 2001)[:, None]

    def steps(**fields: Any) -> list[float]:
        chain = sn.corruption.Chain([sn.corruption.Quantize(**fields), sn.corruption.Saturate(min=-1.0, max=1.0)])
        state = chain.init((1,), seed=0)
        out = np.unique(chain.series(ramp, times_ns=np.arange(len(ramp)) * 10**6, state=state)[0])
        return [float(np.diff(out).mean()), float(out[0]), float(out[-1]), float(out.size)]

    found = steps(bits=4) + steps(bits=4, code="twos_complement") + steps(bits=1)
    expected = [2 / 15, -1.0, 1.0, 16.0, 0.125, -1.0, 0.875, 16.0, 2.0, -1.0, 1.0, 2.0]
    return Comparison(found, expected, x=Axis("step, lowest, highest, count"), y=Axis("value"))


@NOISE.check(
    "independence",
    "Signals of two names, channels, worlds and samples are uncorrelated.",
    reference="physics.md 9, E-32. Tolerance: five standard errors of this many samples",
    absolute=0.025,
)
def _independence(quick: bool) -> Comparison:
    white = sn.corruption.White(std=1.0)
    times_ns = np.arange(200) * 10**7
    one, other = (
        white.series(
            np.zeros((200, 50, 4)),
            times_ns=times_ns,
            state=white.init((50, 4), seed=1, name=name, period_s=0.01),
        )[0]
        for name in ("accelerometer", "gyroscope")
    )
    found = [
        (one * other).mean(),
        (one[1:] * one[:-1]).mean(),
        (one[:, 1:] * one[:, :-1]).mean(),
        (one[..., 1:] * one[..., :-1]).mean(),
    ]
    return Comparison(found, 0.0, x=Axis("names, samples, worlds, channels"), y=Axis("correlation"))
