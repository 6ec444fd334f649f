import numpy as np
import pytest
from scipy import signal as scipy_signal

from sensorium.core.errors import SpecError
from sensorium.corruption import Chain, Fault, LowPass

RATE_HZ = 1000.0
PERIOD_NS = 1_000_000


def _filtered(model, x, times_ns=None):
    x = np.asarray(x, float)
    times_ns = PERIOD_NS * np.arange(len(x)) if times_ns is None else times_ns
    return model.series(x, times_ns=times_ns, state=model.init(x.shape[1:], seed=1, period_s=1 / RATE_HZ))[0]


@pytest.mark.parametrize("poles", [1, 2])
def test_there_is_no_transient_of_a_constant_signal(poles):
    out = _filtered(LowPass(cutoff_hz=(1.0, 30.0), poles=poles), np.full((200, 2), [3.0, -7.0]))
    np.testing.assert_allclose(out, np.tile([3.0, -7.0], (200, 1)), rtol=1e-12)


def test_one_pole_answers_a_step_as_an_exponential_however_samples_follow():
    times_s = np.cumsum(np.random.default_rng(1).exponential(0.01, 50))
    times_ns = np.concatenate([[0], np.round(1e9 * times_s).astype(int)])
    x = np.ones((51, 1))
    x[0] = 0.0
    out = _filtered(LowPass(cutoff_hz=3.0), x, times_ns)
    np.testing.assert_allclose(out[:, 0], -np.expm1(-2 * np.pi * 3.0 * times_ns / 1e9), rtol=1e-10, atol=1e-15)


def test_two_poles_are_a_butterworth_filter():
    x = np.random.default_rng(2).normal(size=(3000, 3))
    out = _filtered(LowPass(cutoff_hz=(5.0, 80.0, 400.0), poles=2), x)
    for i, cutoff in enumerate((5.0, 80.0, 400.0)):
        b, a = scipy_signal.butter(2, cutoff, fs=RATE_HZ)
        start = scipy_signal.lfilter_zi(b, a) * x[0, i]
        expected, _ = scipy_signal.lfilter(b, a, x[:, i], zi=start)
        np.testing.assert_allclose(out[:, i], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize(("poles", "tolerance"), [(1, 0.01), (2, 1e-6)])
def test_half_the_power_passes_at_the_corner(poles, tolerance):
    t = np.arange(40_000) / RATE_HZ
    out = _filtered(LowPass(cutoff_hz=10.0, poles=poles), np.sin(2 * np.pi * 10.0 * t)[:, None])[20_000:, 0]
    assert np.sqrt(2) * out.std() == pytest.approx(np.sqrt(0.5), rel=tolerance)


@pytest.mark.parametrize(("poles", "bandwidth"), [(1, np.pi / 2), (2, 1.1107)])
def test_white_noise_keeps_its_equivalent_bandwidth(poles, bandwidth):
    x = np.random.default_rng(3).normal(size=(20_000, 50))
    out = _filtered(LowPass(cutoff_hz=10.0, poles=poles), x)[1000:]
    assert out.var() == pytest.approx(bandwidth * 10.0 / (RATE_HZ / 2), rel=0.05)


@pytest.mark.parametrize("poles", [1, 2])
def test_a_restart_begins_at_the_signal_again(poles):
    model = LowPass(cutoff_hz=1.0, poles=poles)
    state = model.init((2, 1), seed=1, period_s=1 / RATE_HZ)
    _, state = model.apply([[5.0], [5.0]], time_ns=0, state=state)
    state.program.restart(state, np.array([True, False]))
    out, _ = model.apply([[9.0], [9.0]], time_ns=PERIOD_NS, state=state)
    assert out[0, 0] == pytest.approx(9.0, rel=1e-12)
    assert 5.0 < out[1, 0] < 5.1


def test_corners_that_cannot_be_are_refused():
    with pytest.raises(SpecError, match="cutoff_hz is 0; it must be positive"):
        LowPass(cutoff_hz=0.0)
    with pytest.raises(SpecError, match=r"LowPass.poles is 3; it must be 1 or 2"):
        LowPass(cutoff_hz=1.0, poles=3)
    with pytest.raises(SpecError, match="cutoff_hz is 500; it must be below half the rate of 1000 Hz"):
        LowPass(cutoff_hz=500.0, poles=2).init((1,), seed=1, period_s=1 / RATE_HZ)
    with pytest.raises(SpecError, match="a low-pass of two poles needs the sample rate"):
        LowPass(cutoff_hz=5.0, poles=2).init((1,), seed=1)
    LowPass(cutoff_hz=5000.0).init((1,), seed=1)


def test_two_poles_stay_stable_and_settle_over_long_gaps_and_very_low_corners():
    rng = np.random.default_rng(4)
    times_ns = np.cumsum(rng.choice([PERIOD_NS, 40 * PERIOD_NS, 3], size=3000))
    x = np.ones((3000, 1))
    x[0] = 0.0
    out = _filtered(LowPass(cutoff_hz=20.0, poles=2), x, times_ns)
    assert np.abs(out).max() < 2.0
    assert out[-1, 0] == pytest.approx(1.0, abs=1e-6)
    level = _filtered(LowPass(cutoff_hz=1e-4, poles=2), np.full((2000, 1), 1e6))
    assert (level == 1e6).all()


@pytest.mark.parametrize("poles", [1, 2])
def test_each_onset_of_a_fault_begins_at_the_signal_of_then(poles):
    """What the filter remembered of the last time would be a step."""
    chain = Chain([Fault(LowPass(cutoff_hz=1.0, poles=poles), start_s=s, end_s=s + 0.03) for s in (0.02, 0.08)])
    fault = Fault(LowPass(cutoff_hz=1.0, poles=poles), onsets_per_s=20.0, duration_s=0.02)
    ramp = np.arange(400.0)[:, None]
    for model in (chain, fault):
        times_ns = np.arange(400) * 10_000_000
        out, state = model.series(ramp, times_ns=times_ns, state=model.init((1,), seed=3, period_s=0.01))
        active = np.array([bool(state.faults.log.at(time_ns)) for time_ns in times_ns.tolist()])
        onset = active & ~np.append(False, active[:-1])
        assert onset.sum() > 1
        np.testing.assert_array_equal(out[onset], ramp[onset])
        assert (out[active & ~onset] != ramp[active & ~onset]).all()
