import numpy as np
import pytest

from sensorium.analysis import allan_deviation
from sensorium.view.report.error_record import ErrorRecord

RATE_HZ = 100.0


def filled(errors, *, most=1 << 12, piece=513):
    record = ErrorRecord(errors.shape[1], most=most)
    for begin in range(0, len(errors), piece):
        record.add(errors[begin : begin + piece])
    return record


def test_what_fits_gives_the_same_as_the_whole_signal():
    errors = np.random.default_rng(0).normal(size=(3000, 2))
    whole = allan_deviation(errors, RATE_HZ)
    for channel, curve in enumerate(filled(errors).curves(RATE_HZ)):
        assert curve.tau_s.tolist() == whole.tau_s.tolist()
        assert curve.deviation == pytest.approx(whole.deviation[:, channel])


def test_a_longer_signal_reaches_the_longer_averaging_times():
    # White noise and a random walk: the curve falls, then rises, and both ends come from different parts of the record
    rng = np.random.default_rng(1)
    errors = rng.normal(size=(100_000, 1)) + np.cumsum(rng.normal(size=(100_000, 1)) * 0.01, axis=0)
    curve = filled(errors).curves(RATE_HZ)[0]
    whole = allan_deviation(errors, RATE_HZ)
    assert (np.diff(curve.tau_s) > 0.0).all()
    assert curve.tau_s[-1] > 0.9 * whole.tau_s[-1]
    expected = np.exp(np.interp(np.log(curve.tau_s), np.log(whole.tau_s), np.log(whole.deviation[:, 0])))
    long = curve.tau_s > 20.0
    assert curve.deviation[long] == pytest.approx(expected[long], rel=0.03)
    assert curve.deviation[~long] == pytest.approx(expected[~long], rel=0.3)


def test_few_samples_give_no_plot():
    assert "511 samples are too few" in filled(np.ones((511, 1))).why_none(511)
    assert filled(np.ones((512, 1))).why_none(512) is None


def test_missing_samples_give_no_plot_beyond_one_in_a_hundred():
    errors = np.random.default_rng(0).normal(size=(1000, 1))
    errors[:10] = np.nan
    assert filled(errors).why_none(1000) is None
    errors[10] = np.nan
    assert filled(errors).why_none(1000).startswith("1.1 % of the samples are missing")
    assert filled(errors[20:]).why_none(1000).startswith("2.0 %")


def test_an_unknown_sample_counts_as_the_one_before():
    errors = np.random.default_rng(0).normal(size=(600, 1))
    held = errors.copy()
    errors[[3, 4, 513]] = np.nan
    held[[3, 4]], held[513] = held[2], held[512]
    assert filled(errors).curves(RATE_HZ)[0].deviation == pytest.approx(filled(held).curves(RATE_HZ)[0].deviation)


def test_an_ideal_channel_has_no_curve():
    errors = np.zeros((600, 2))
    errors[:, 1] = np.random.default_rng(0).normal(size=600)
    first, second = filled(errors).curves(RATE_HZ)
    assert first is None
    assert second is not None
