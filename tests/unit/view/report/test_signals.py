import numpy as np
import pytest

from sensorium.view.report.signals import SignalRecord


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
