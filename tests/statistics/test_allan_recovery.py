"""Noise of the library's own making, analyzed by the library: coefficients set together come back from the fit.

That one density gives one Allan curve at 100 Hz and 1 kHz, and that a walk's variance does not know the step, is shown
in test_corruption.py; that the fit finds noise made by others, in test_allan.py.
"""

import math

import numpy as np
import pytest
from scipy import stats

import sensorium as sn
from sensorium.corruption import Noise

# Hours at 10 Hz: white noise meets the floor of bias instability at 30 s, the floor meets the walk at 300 s
RATE = 10.0
SAMPLES = 100_000
FLOOR = 0.664282
N = 0.01
B = N / math.sqrt(30.0) / FLOOR
K = FLOOR * B * math.sqrt(3.0 / 300.0)


def inside(fit, term, truth):
    low, high = fit.intervals[term]
    return (low <= truth) & (truth <= high)


@pytest.fixture(scope="module")
def fit():
    """256 recordings: 64 worlds of four channels, since four share the words of a draw."""
    noise = Noise(density=N, sided="two", instability=B, walk=K, instability_tau_max_s=1e5)
    state = noise.init((64, 4), seed=2, period_s=1.0 / RATE)
    times_ns = round(1e9 / RATE) * np.arange(SAMPLES)
    signals, _ = noise.series(np.zeros((SAMPLES, 64, 4)), times_ns=times_ns, state=state)
    return sn.analysis.fit_allan(sn.analysis.allan_deviation(signals, RATE))


@pytest.mark.slow
def test_coefficients_set_together_are_recovered_from_256_recordings(fit):
    assert np.mean(fit.N) == pytest.approx(N, rel=0.002)
    assert np.quantile(np.abs(fit.N / N - 1.0), 0.99) < 0.01
    assert np.mean(fit.B) == pytest.approx(B, rel=0.02)
    assert np.mean(fit.K) == pytest.approx(K, rel=0.06)
    # as often too high as too low
    for found, truth in ((fit.B, B), (fit.K, K)):
        low, high = stats.binom.interval(0.9999, 256, 0.5)
        assert low <= (found > truth).sum() <= high


@pytest.mark.slow
def test_intervals_of_95_per_cent_hold_the_truth_as_often(fit):
    for term, truth in (("N", N), ("B", B), ("K", K)):
        assert 0.90 <= inside(fit, term, truth).mean() <= 0.99, term


@pytest.mark.slow
def test_an_imu_is_known_by_its_recording():
    """Six axes with coefficients of their own, with bias, cross-axis coupling and limits, recorded in a world."""
    axes = np.array([1.0, 2.0, 0.5])
    imu = sn.Imu(timing=sn.Timing(rate_hz=RATE))
    units = np.array([[1.0], [0.01]])
    truth = {"N": units * axes * N, "B": units * axes[::-1] * B, "K": units * axes * K}
    for group, n, b, k in zip((imu.linear, imu.angular), *(truth[term].tolist() for term in "NBK"), strict=True):
        group.scale.cross_axis = 0.02
        group.saturation.min, group.saturation.max = -100.0, 100.0
        group.noise = Noise(bias_std=0.1, density=n, sided="two", instability=b, walk=k, instability_tau_max_s=1e5)
    env = sn.Environment(sn.Scene(), sn.worlds.Static({"rig": sn.Pose()}, step_s=1.0 / RATE), seed=3)
    sensor = env.attach(imu, body="rig")
    log = np.empty((SAMPLES, 6))
    for row in log:
        env.step()
        row[:] = sensor.read().values
    found = sn.analysis.fit_allan(sn.analysis.allan_deviation(log.reshape(SAMPLES, 2, 3), RATE))

    np.testing.assert_allclose(found.N, truth["N"], rtol=0.01)
    # of twelve intervals of 95 % three miss in one of fifty recordings
    assert sum(inside(found, term, truth[term]).sum() for term in "BK") >= 10
