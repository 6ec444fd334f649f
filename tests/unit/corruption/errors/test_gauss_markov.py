import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import GaussMarkov

WORLDS = 40_000


def _processes(times_ns, **fields):
    model = GaussMarkov(**fields)
    signals = np.zeros((len(times_ns), WORLDS, 3))
    return model.series(signals, times_ns=times_ns, state=model.init((WORLDS, 3), seed=1))[0]


def test_it_has_its_variance_from_the_first_sample_on():
    out = _processes(10**8 * np.arange(30), std=(0.5, 1.0, 2.0), tau_s=0.7)
    np.testing.assert_allclose(out.std(axis=1), np.tile([0.5, 1, 2], (30, 1)), rtol=5 / np.sqrt(2 * WORLDS))


def test_its_covariance_falls_with_the_time_between_samples_however_they_follow():
    # Cov(m) = sigma^2 phi^m with phi = exp(-dt / tau); irregular samples have the time between them
    times_s, tau_s = np.array([0.0, 0.1, 0.15, 0.9, 3.0]), np.array([0.3, 1.0, 4.0])
    out = _processes(np.round(1e9 * times_s).astype(int), std=2.0, tau_s=tau_s)
    for later in range(5):
        for earlier in range(later):
            expected = 4 * np.exp(-(times_s[later] - times_s[earlier]) / tau_s)
            measured = (out[later] * out[earlier]).mean(axis=0)
            np.testing.assert_allclose(measured, expected, atol=5 * 4 * np.sqrt(2 / WORLDS))


def test_a_gap_far_longer_than_the_correlation_forgets_all_and_an_instant_nothing():
    out = _processes(np.array([0, 1, 10**15]), std=1.0, tau_s=1.0)
    assert np.abs(out[1] - out[0]).max() < 1e-3
    assert abs(np.corrcoef(out[1, :, 0], out[2, :, 0])[0, 1]) < 5 / np.sqrt(WORLDS)
    assert out[2].std() == pytest.approx(1.0, rel=0.01)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"std": -1.0, "tau_s": 1.0}, "std is -1"),
        ({"std": 1.0, "tau_s": 0.0}, "tau_s is 0; it must be positive"),
        ({"std": 1.0, "tau_s": -3.0}, "tau_s is -3; it must be positive"),
        ({"std": 1.0}, "tau_s is missing"),
    ],
)
def test_what_is_no_process_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        GaussMarkov(**fields)
