"""Allan deviations: of noise of known coefficients, and the fit that finds them again."""

import numpy as np

import sensorium as sn
from sensorium.analysis.gauss_markov import gauss_markov_deviation
from sensorium.qa.validation.check import Axis, Comparison, Family
from sensorium.qa.validation.laws.noise import series

ALLAN = Family("Allan deviation")

_TAU, _DEVIATION = Axis("averaging time [s]", log=True), Axis("Allan deviation", log=True)


@ALLAN.check(
    "allan-definition",
    "The overlapping deviation of a short recording is its definition, term by term.",
    reference="physics.md 12; IEEE 952; NIST SP 1065, eq. 11",
    relative=1e-9,
)
def _definition(quick: bool) -> Comparison:
    x = np.random.default_rng(3).normal(size=500).cumsum() + 100.0
    allan = sn.analysis.allan_deviation(x, 10.0)
    theta = np.concatenate([[0.0], np.cumsum(x - x.mean())]) / 10.0
    expected = []
    for tau in allan.tau_s:
        m = round(tau * 10.0)
        second = theta[2 * m :] - 2 * theta[m:-m] + theta[: -2 * m]
        expected.append(np.sqrt((second**2).mean() / (2 * tau**2)))
    return Comparison(allan.deviation, expected, at=allan.tau_s, x=_TAU, y=_DEVIATION)


@ALLAN.check(
    "allan-white-and-walk",
    "White noise falls as N / sqrt(tau), a random walk rises as K sqrt(tau / 3).",
    reference="physics.md 12: IEEE 952. Tolerance: four standard errors at the longest time",
    relative=0.08,
)
def _white_and_walk(quick: bool) -> Comparison:
    tau = np.array([0.1, 0.3, 1.0, 3.0])
    found = []
    for model in (sn.corruption.White(density=0.01, sided="two"), sn.corruption.RandomWalk(density=0.003)):
        x = series(model, 10_000, worlds=8)
        variance = np.square(sn.analysis.allan_deviation(x, 100.0, taus_s=tau).deviation)
        found.append(np.sqrt(variance.mean(axis=(1, 2))))
    m = tau * 100
    expected = [0.01 / np.sqrt(tau), 0.003 * np.sqrt(tau / 3 * (1 + 0.5 / m**2))]
    return Comparison(found, expected, at=np.tile(tau, (2, 1)), x=_TAU, y=_DEVIATION)


@ALLAN.check(
    "allan-gauss-markov",
    "A Gauss-Markov process has its closed form, with the maximum 0.6174 sigma at 1.892 correlation times.",
    reference="physics.md 12",
    relative=0.08,
)
def _gauss_markov(quick: bool) -> Comparison:
    tau = np.array([0.2, 0.5, 1.89, 5.0])
    x = series(sn.corruption.GaussMarkov(std=0.5, tau_s=1.0), 12_000, worlds=32, rate_hz=20.0)
    found = np.sqrt(np.square(sn.analysis.allan_deviation(x, 20.0, taus_s=tau).deviation).mean(axis=(1, 2)))
    found = np.append(found, gauss_markov_deviation(1.892, std=0.5, correlation_time_s=1.0))
    q_T = np.sqrt(2.0) * 0.5
    closed = np.sqrt(q_T**2 / tau * (1 - 0.5 / tau * (3 - 4 * np.exp(-tau) + np.exp(-2 * tau))))
    at = np.append(tau, 1.892)
    return Comparison(found, np.append(closed, 0.6174 * 0.5), at=at, x=_TAU, y=_DEVIATION)


@ALLAN.check(
    "allan-floor",
    "Bias instability B is level at 0.664282 B over its decades, in the sum of the closed forms of its processes.",
    reference="physics.md 12: sqrt(2 ln 2 / pi)",
    relative=0.021,
)
def _floor(quick: bool) -> Comparison:
    tau_s, std = sn.corruption.BiasInstability(instability=1.0, tau_min_s=1.0, tau_max_s=1000.0).processes()
    at = np.geomspace(1.0, 1000.0, 40)
    each = gauss_markov_deviation(at[:, None], std=std, correlation_time_s=tau_s)
    return Comparison(np.sqrt(np.square(each).sum(axis=1)), 0.664282, at=at, x=_TAU, y=Axis("deviation / B"))


@ALLAN.check(
    "allan-fit",
    "Coefficients set together are found again by the fit, in the mean over recordings: N, B and K.",
    reference="IEEE 952; made with NumPy's generator, not with ours",
    relative=0.12,
)
def _fit(quick: bool) -> Comparison:
    rng, rate, samples, worlds = np.random.default_rng(11), 10.0, 40_000, 6 if quick else 24
    white, instability, walk = 1e-3, 1e-3 / 0.664282 / np.sqrt(3.0), 1e-4
    x = white * np.sqrt(rate) * rng.normal(size=(worlds, samples))
    x += walk / np.sqrt(rate) * rng.normal(size=(worlds, samples)).cumsum(axis=1)

    # Flicker by its spectrum: B^2 / (2 pi f) on both sides, down to a fourth of a period in the recording
    whole = 4 * samples
    bins = np.arange(1, whole // 2 + 1)
    for row in x:
        spectrum = np.zeros(whole // 2 + 1, complex)
        size = np.sqrt(whole * whole / (2 * np.pi * bins))
        spectrum[1:] = size * (rng.normal(size=bins.size) + 1j * rng.normal(size=bins.size)) / np.sqrt(2)
        row += instability * np.fft.irfft(spectrum, whole)[:samples]
    fit = sn.analysis.fit_allan(sn.analysis.allan_deviation(x.T, rate))
    found = [fit.N.mean() / white, fit.B.mean() / instability, fit.K.mean() / walk]
    return Comparison(found, 1.0, x=Axis("N, B, K"), y=Axis("found / set"))
