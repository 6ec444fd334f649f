import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.corruption import BiasInstability
from sensorium.corruption.errors.flicker import FLOOR, allan_variance

RANGES = [(1.0, 10.0**decades) for decades in (1, 1.2, 1.25, 1.5, 2, 2.25, 2.5, 3, 3.3, 4, 5, 6, 8)] + [(0.02, 3e4)]


def _deviation(model, averaging_s):
    """Allan deviation of the sum for B = 1, by the closed form of one process."""
    tau_s, std = model.processes()
    return np.sqrt(allan_variance(np.asarray(averaging_s)[:, None], std, tau_s).sum(axis=1))


def test_the_floor_of_flicker_is_that_of_ieee_952():
    assert pytest.approx(0.664282, abs=5e-7) == FLOOR


def test_the_closed_form_has_its_known_maximum_and_ends():
    # physics.md 12: at 1.892 T, 0.6174 sigma = 0.4365 q_c sqrt(T) with q_c^2 = 2 sigma^2 / T
    r = np.linspace(1.8, 2.0, 200_001)
    deviation = np.sqrt(allan_variance(r * 7.0, 1.0, 7.0))
    assert deviation.max() == pytest.approx(0.6174, abs=5e-5)
    assert deviation.max() / np.sqrt(2.0) == pytest.approx(0.4365, abs=5e-5)
    assert r[deviation.argmax()] == pytest.approx(1.8926, abs=5e-5)

    # Short: the walk q_c sqrt(t / 3); long: white noise q_c T / sqrt(t)
    assert allan_variance(1e-3, 1.0, 1.0) == pytest.approx(2.0 * 1e-3 / 3.0, rel=1e-3)
    assert allan_variance(1e6, 1.0, 1.0) == pytest.approx(2.0 / 1e6, rel=1e-5)


@pytest.mark.parametrize(("low_s", "high_s"), RANGES)
def test_the_allan_deviation_is_level_over_the_range(low_s, high_s):
    model = BiasInstability(instability=1.0, tau_min_s=low_s, tau_max_s=high_s)
    level = _deviation(model, np.geomspace(low_s, high_s, 5000)) / FLOOR
    assert np.abs(level - 1).max() < 0.02
    assert (level.max() + level.min()) / 2 == pytest.approx(1.0, abs=1e-3)


def test_the_default_has_five_processes_level_within_one_and_a_half_per_cent():
    model = BiasInstability(instability=1.0)
    tau_s, std = model.processes()
    assert len(tau_s) == 5
    assert np.abs(_deviation(model, np.geomspace(1, 1e4, 5000)) / 0.664282 - 1).max() < 0.015
    assert np.sqrt((std**2).sum()) == pytest.approx(2.0, abs=0.02)


def test_outside_the_range_the_deviation_falls():
    beyond = _deviation(BiasInstability(instability=1.0), [1e-3, 1e-2, 1e6, 1e7])
    assert beyond[1] / beyond[0] == pytest.approx(np.sqrt(10), rel=0.02)
    assert beyond[3] / beyond[2] == pytest.approx(1 / np.sqrt(10), rel=0.02)


def test_it_has_its_stationary_law_from_the_first_sample_on_however_samples_follow():
    worlds, b = 20_000, np.array([0.5, 1.0, 2.0])
    model = BiasInstability(instability=b, tau_min_s=0.1, tau_max_s=10.0)
    tau_s, std = model.processes()
    times_s = np.array([0.0, 0.01, 0.3, 5.0, 100.0])
    signals = np.zeros((5, worlds, 3))
    state = model.init((worlds, 3), seed=1)
    out, _ = model.series(signals, times_ns=np.round(times_s * 1e9).astype(int), state=state)
    for later in range(5):
        for earlier in range(later + 1):
            covariance = (std**2 * np.exp(-(times_s[later] - times_s[earlier]) / tau_s)).sum()
            measured = (out[later] * out[earlier]).mean(axis=0) / b**2
            np.testing.assert_allclose(measured, covariance, atol=5 * (std**2).sum() * np.sqrt(2 / worlds))


def test_processes_and_channels_do_not_share_draws():
    # Seven channels and five processes are not a multiple of the four numbers of a draw
    model = BiasInstability(instability=1.0)
    out, _ = model.series(np.zeros((3, 4000, 7)), times_ns=10**15 * np.arange(3), state=model.init((4000, 7), seed=1))
    correlation = np.corrcoef(out.transpose(0, 2, 1).reshape(21, 4000)) - np.eye(21)
    assert np.abs(correlation).max() < 5 / np.sqrt(4000)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"instability": -1.0}, "instability is -1; it must not be negative"),
        ({"instability": 1.0, "tau_min_s": 0.0}, "tau_min_s is 0; it must be positive"),
        ({"instability": 1.0, "tau_max_s": 9.0}, "tau_max_s is 9; it must be at least ten times tau_min_s, 10"),
        ({"instability": 1.0, "tau_min_s": float("nan")}, "tau_min_s is nan"),
    ],
)
def test_ranges_without_a_decade_are_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        BiasInstability(**fields)
