"""Inertial sensors on a port: what arrives is what the sensor read, in the device's axes and units."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.core.rotations import quaternion_exp
from sensorium.live.talkers.formats import vectornav, xsens
from tests.unit.live.talkers.rig import datagrams, run_and_keep, vehicle

FLIP = np.array([1.0, -1.0, -1.0])
ALL = ("acceleration", "angular_velocity", "magnetic_field", "delta_velocity", "delta_angle")


def newest(readings, time_ns):
    return [one for one in readings if one.time_ns <= time_ns][-1]


def test_vectornav_binary():
    env = vehicle(outputs=ALL)
    with datagrams() as (port, received):
        kept = run_and_keep(env, [sn.live.open_sink("vectornav", port=f"udp:{port}", temperature_C=31.5)])
    messages = [vectornav.decode(data) for data in received]
    begin_ns = kept["barometer"][0].time_ns
    readings = [one for one in kept["imu"] if one.time_ns >= begin_ns]
    assert len(messages) == len(readings) > 90
    for reading, message in zip(readings, messages, strict=True):
        assert message["time_startup_ns"] == reading.time_ns
        assert message["acceleration"] == pytest.approx(FLIP * reading.acceleration, rel=1e-6, abs=1e-7)
        assert message["angular_rate"] == pytest.approx(FLIP * reading.angular_velocity, rel=1e-6, abs=1e-7)
        *magnetic, temperature, pressure = message["magnetic_temperature_pressure"]
        assert magnetic == pytest.approx(FLIP * reading.magnetic_field * 1e4, rel=1e-6, abs=1e-9)
        assert temperature == 31.5
        assert pressure == pytest.approx(newest(kept["barometer"], reading.time_ns).pressure_Pa / 1e3, rel=1e-6)
        interval, *sums = message["interval_delta_theta_velocity"]
        assert interval == pytest.approx(0.01, rel=1e-5)
        assert sums[:3] == pytest.approx(FLIP * np.degrees(reading.delta_angle), rel=1e-6, abs=1e-9)
        assert sums[3:] == pytest.approx(FLIP * reading.delta_velocity, rel=1e-6, abs=1e-9)
    # At rest but for the circle, the device's z axis, which points down, reads -g
    assert np.mean([one["acceleration"][2] for one in messages]) == pytest.approx(-9.80665, abs=0.03)


def test_vectornav_without_other_sensors_sends_inertial_fields_only():
    env = vehicle(sensors=("imu",))
    with datagrams() as (port, received):
        run_and_keep(env, [sn.live.open_sink("vectornav", port=f"udp:{port}")])
    assert {tuple(vectornav.decode(data)) for data in received} == {("time_startup_ns", "angular_rate", "acceleration")}


def test_vnimu():
    env = vehicle()
    with datagrams() as (port, received):
        kept = run_and_keep(env, [sn.live.open_sink("vectornav", port=f"udp:{port}", format="vnimu")], duration_s=0.3)
    begin_ns = kept["barometer"][0].time_ns
    readings = [one for one in kept["imu"] if one.time_ns >= begin_ns]
    for reading, line in zip(readings, received, strict=True):
        imu = vectornav.decode_vnimu(line)
        assert imu.acceleration == pytest.approx(FLIP * reading.acceleration, abs=5.1e-4)
        assert imu.angular_rate == pytest.approx(FLIP * reading.angular_velocity, abs=5.1e-7)
        assert imu.magnetic_gauss == pytest.approx(FLIP * reading.magnetic_field * 1e4, abs=5.1e-5)


def test_xsens():
    env = vehicle(outputs=ALL)
    with datagrams() as (port, received):
        kept = run_and_keep(env, [sn.live.open_sink("xsens", port=f"udp:{port}", magnetic_unit_T=5e-5)])
    messages = [xsens.decode(data) for data in received]
    assert len(messages) == len(kept["imu"])
    for k, (reading, message) in enumerate(zip(kept["imu"], messages, strict=True)):
        assert message["packet_counter"] == k
        assert message["sample_time_fine"] == reading.time_ns // 100_000
        assert message["acceleration"] == pytest.approx(reading.acceleration, rel=1e-6, abs=1e-7)
        assert message["rate_of_turn"] == pytest.approx(reading.angular_velocity, rel=1e-6, abs=1e-7)
        assert message["magnetic_field"] == pytest.approx(reading.magnetic_field / 5e-5, rel=1e-6, abs=1e-9)
        assert message["delta_velocity"] == pytest.approx(reading.delta_velocity, rel=1e-6, abs=1e-9)
        assert message["delta_quaternion_wxyz"] == pytest.approx(quaternion_exp(reading.delta_angle), abs=1e-7)
    pressures = [message["pressure_Pa"] for message in messages if "pressure_Pa" in message]
    assert len(pressures) >= len(messages) - 1
    assert np.mean(pressures) == pytest.approx(float(sn.sensors.barometer.pressure_at(30.0)), abs=3.0)


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (lambda: vehicle(sensors=("gnss",)), {}, "needs a sensor of kind 'imu'"),
        (lambda: vehicle(sensors=("imu",)), {"format": "vnimu"}, "'vnimu', which needs a barometer$"),
        (lambda: vehicle(outputs=("acceleration",)), {}, "sends angular_velocity; the outputs of 'imu' lack that"),
        (
            lambda: vehicle(outputs=("acceleration", "angular_velocity")),
            {"format": "vnimu"},
            "needs a magnetometer in the IMU$",
        ),
    ],
)
def test_what_is_missing_is_named(make, options, message):
    env = make()
    with pytest.raises(SpecError, match=message):
        env.run(1.0, live=[sn.live.open_sink("vectornav", port="udp:9", **options)]).finish()


def test_a_barometer_that_drops_out_silences_nothing():
    env = vehicle(sensors=("imu",))
    lost = sn.corruption.Fault(corruption=sn.corruption.Dropout(probability=1.0, fill="nan"), start_s=0.5)
    timing = sn.Timing(rate_hz=50.0)
    env.attach(sn.Barometer(timing=timing, faults=sn.corruption.FaultSchedule(faults=(lost,))), body="car")
    with datagrams() as (port, received):
        kept = run_and_keep(env, [sn.live.open_sink("vectornav", port=f"udp:{port}")])
    assert np.isnan(kept["barometer"][-1].pressure_Pa)
    assert len(received) == len(kept["imu"]) - 1  # the first was before the barometer's first
    pressures = [vectornav.decode(data)["magnetic_temperature_pressure"][4] for data in received]
    assert np.isfinite(pressures).all()


def test_an_imu_that_drops_out_is_nan_in_binary_and_silent_in_text():
    for format_, finite in (("binary", False), ("vnimu", True)):
        env = vehicle(sensors=("barometer",))
        extra = (sn.corruption.Dropout(probability=0.3, fill="nan"),)
        imu = sn.Imu(timing=sn.Timing(rate_hz=100.0), linear={"extra": extra}, magnetic={})
        env.attach(imu, body="car", name="imu")
        with datagrams() as (port, received):
            sink = sn.live.open_sink("vectornav", port=f"udp:{port}", format=format_)
            kept = run_and_keep(env, [sink])
        measured = [one for one in kept["imu"][1:] if np.isfinite(one.acceleration).all()]
        assert 30 < len(measured) < 95
        assert len(received) == (len(measured) if finite else len(kept["imu"]) - 1)
        assert sink.state().error is None
