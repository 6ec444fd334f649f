import numpy as np
import pytest

from sensorium.analysis import allan_deviation
from sensorium.view.report.signals import ErrorRecord, SignalRecord


def recorded(env, name, seconds):
    sensor = env.sensors[name]
    record, kept = None, []
    for _ in env.run(seconds):
        for capture in sensor.arrivals():
            record = record or SignalRecord(sensor, capture.reading)
            record.add(capture.reading, capture.truth())
            kept.append((capture.reading, capture.truth()))
    return record, kept


def test_measured_truth_and_error_are_those_of_the_sensor(yard, unpacked):
    record, kept = recorded(yard(), "imu", 0.3)
    force, rate = record.plots(1000)
    assert (force["sensor"], force["title"], force["unit"]) == ("imu", "Specific force", "m/s²")
    assert [line["name"] for line in rate["lines"]] == ["x", "y", "z"]
    for axis, line in enumerate(force["lines"]):
        measured = np.array([reading.acceleration[axis] for reading, _ in kept])
        true = np.array([truth.acceleration[axis] for _, truth in kept])
        assert unpacked(line["measured"]["v"]) == pytest.approx(measured, rel=1e-6)
        assert unpacked(line["truth"]["v"]) == pytest.approx(true, rel=1e-6, abs=1e-9)
        assert unpacked(line["error"]["v"]) == pytest.approx(measured - true, rel=1e-4, abs=1e-5)
        assert unpacked(line["error"]["t"]) == pytest.approx([truth.time_ns * 1e-9 for _, truth in kept])


def test_the_fault_is_in_the_error(yard, unpacked):
    record, _ = recorded(yard(), "imu", 0.3)
    error = record.plots(1000)[0]["lines"][0]["error"]
    t, v = unpacked(error["t"]), unpacked(error["v"])
    assert v[(t >= 0.1) & (t < 0.15)] == pytest.approx(7.0, abs=0.01)
    assert np.abs(v[t >= 0.15]).max() < 1.0


def test_each_sensor_of_a_row_has_its_plots_and_other_worlds_have_none(yard):
    record, _ = recorded(yard(worlds=3), "gnss", 0.3)
    assert [(plot["sensor"], plot["title"]) for plot in record.plots(100)] == [
        ("gnss", "Position (east, north, up)"),
        ("gnss", "Velocity (east, north, up)"),
    ]


def test_allan_plots_of_a_noisy_imu_follow_its_noise(yard, unpacked):
    record, _ = recorded(yard(rate_hz=1000.0), "imu", 1.0)
    plots, why = record.allan_plots()
    assert why is None
    assert [plot["title"] for plot in plots] == ["Specific force"]
    line = plots[0]["lines"][2]
    tau, deviation = unpacked(line["tau"]), unpacked(line["deviation"])
    assert deviation[0] == pytest.approx(0.05, rel=0.1)
    assert deviation[tau < 0.02] == pytest.approx(0.05 / np.sqrt(tau[tau < 0.02] * 1000.0), rel=0.2)


def test_a_short_run_says_why_there_is_no_allan_plot(yard):
    record, _ = recorded(yard(), "imu", 0.2)
    plots, why = record.allan_plots()
    assert plots == []
    assert why.startswith("imu: no Allan plot, since 40 samples are too few")


def test_receivers_have_no_allan_plot_and_need_no_reason(yard):
    record, _ = recorded(yard(), "gnss", 0.3)
    assert record.allan_plots() == ([], None)


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
