"""Sensors that sample at instants: ticks, jitter, clocks, validity; shown with accelerometers and gyroscopes."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.corruption import Noise
from sensorium.sensors.common.sampled import XYZ, Quantity, SampledReading

MS = 1_000_000


def environment(worlds=None, step_s=0.01, path=None, seed=0, first_world=0):
    world = sn.worlds.Kinematic({"car": path or sn.paths.Circle(center=(0, 0, 0), radius=2.0, rate=1.0)}, step_s=step_s)
    return sn.Environment(sn.Scene(), world, worlds=worlds, seed=seed, first_world=first_world)


@pytest.mark.parametrize("rate_hz", [10.0, 100.0, 333.0, 1000.0])
def test_samples_are_taken_at_the_ticks_whatever_the_steps(rate_hz):
    env = environment(step_s=0.01)
    gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=rate_hz)), body="car")
    times = []
    for _ in env.run(duration_s=0.5):
        times += [reading.time_ns for reading in gyro.readings()]
    expected = np.rint(np.arange(1, int(0.5 * rate_hz) + 1) * 1e9 / rate_hz)
    assert np.abs(np.array(times) - expected).max() <= 1


def test_a_rate_is_asked_for():
    env = environment()
    with pytest.raises(sn.SensoriumError, match="rate_hz is None; a sensor that samples must have a rate"):
        env.attach(sn.Gyroscope(timing=sn.Timing()), body="car")


def test_samples_keep_their_order_under_any_jitter():
    env = environment(step_s=0.01)
    accelerometer = env.attach(sn.Accelerometer(timing=sn.Timing(rate_hz=100.0, jitter_s=0.02)), body="car")
    times = []
    for _ in env.run(duration_s=5.0):
        times += [reading.time_ns for reading in accelerometer.readings()]
    moved = np.diff(times) - 10 * MS
    assert np.min(np.diff(times)) > 0
    assert np.abs(moved).max() <= 9 * MS
    assert np.std(moved) > 2 * MS


def test_jitter_is_normal_while_it_is_small():
    env = environment(step_s=0.01)
    gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0, jitter_s=0.0005)), body="car")
    times = []
    for _ in env.run(duration_s=20.0):
        times += [reading.time_ns for reading in gyro.readings()]
    moved = np.array(times) - np.rint(np.array(times) / (10 * MS)) * 10 * MS
    assert np.std(moved) == pytest.approx(0.5 * MS, rel=0.06)
    assert abs(np.mean(moved)) < 4 * 0.5 * MS / np.sqrt(len(moved))


def test_the_sensors_clock_stamps_and_the_truth_keeps_true_time():
    env = environment()
    gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0, clock_offset_s=0.5, skew_ppm=200.0)), body="car")
    for _ in env.run(duration_s=1.0):
        pass
    assert gyro.truth().time_ns == 1000 * MS
    assert gyro.read().time_ns == 1000 * MS + 500 * MS + 200_000


def test_a_sample_over_a_reset_is_marked():
    env = environment(worlds=3)
    slow = env.attach(sn.Accelerometer(timing=sn.Timing(rate_hz=25.0)), body="car")
    for _ in env.run(duration_s=0.06):
        pass
    env.reset(np.array([False, True, False]))
    for _ in env.run(duration_s=0.02):
        pass
    assert slow.read().valid.tolist() == [True, False, True]
    for _ in env.run(duration_s=0.04):
        pass
    assert slow.read().valid.all()
    assert np.isfinite(slow.read().acceleration).all()


def test_what_is_on_its_way_is_void_where_the_world_restarted():
    env = environment(worlds=2)
    gyro = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0, latency_s=0.02)), body="car")
    for _ in env.run(duration_s=0.02):
        pass
    env.reset(np.array([True, False]))
    env.step()
    assert gyro.read().valid.tolist() == [False, True]
    assert gyro.truth().valid.tolist() == [False, True]


def test_switched_on_again_it_starts_anew():
    env = environment()
    accelerometer = env.attach(sn.Accelerometer(timing=sn.Timing(rate_hz=100.0)), body="car")
    env.step()
    before = accelerometer.read().acceleration
    accelerometer.enabled = False
    for _ in env.run(duration_s=1.0):
        pass
    accelerometer.enabled = True
    env.step()
    np.testing.assert_allclose(accelerometer.read().acceleration, before, atol=1e-9)


def test_worlds_of_a_batch_are_the_worlds_alone():
    spec = sn.Imu(linear={"noise": Noise(std=0.1, walk=0.01, bias_std=0.2)}, angular={"noise": Noise(density=0.01)})
    env = environment(worlds=4, seed=5)
    batch = env.attach(spec, body="car")
    for _ in env.run(duration_s=0.2):
        pass
    for world in range(4):
        single = environment(seed=5, first_world=world)
        imu = single.attach(spec, body="car")
        for _ in single.run(duration_s=0.2):
            pass
        np.testing.assert_array_equal(imu.read().values, batch.read().values[world])


def test_sensors_of_a_row_differ_in_their_noise_and_not_in_others_company():
    spec = sn.Gyroscope(noise=Noise(std=0.1))
    env = environment(worlds=2, seed=5)
    row = env.attach(spec, body="car", pose=[sn.Pose(), sn.Pose(), sn.Pose()])
    alone = environment(worlds=2, seed=5)
    one = alone.attach(spec, body="car", pose=[sn.Pose()])
    env.step()
    alone.step()
    values = row.read().angular_velocity
    assert values.shape == (2, 3, 3)
    assert len(np.unique(values)) == values.size
    np.testing.assert_array_equal(values[:, :1], one.read().angular_velocity)


def test_a_fast_sensor_keeps_little_history():
    env = environment(step_s=0.001)
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=1.0)), body="car")
    for _ in env.run(duration_s=0.5):
        pass
    assert env.time_ns - env._history.start_ns <= 2 * MS


@pytest.mark.parametrize(
    ("quantity", "columns"),
    [
        (
            Quantity("acceleration", "", "m/s²", XYZ),
            ("acceleration_x_m_s2", "acceleration_y_m_s2", "acceleration_z_m_s2"),
        ),
        (Quantity("position", "", "rad or m"), ("position",)),
        (Quantity("pressure_Pa", "", "Pa"), ("pressure_Pa",)),
        (Quantity("cosine", ""), ("cosine",)),
    ],
)
def test_a_column_has_its_unit_once(quantity, columns):
    assert quantity.columns == columns


def test_readings_gathered_are_each_of_them():
    world = sn.worlds.Kinematic({"car": sn.paths.Circle((0, 0, 0), radius=2.0, rate=1.0)}, step_s=0.01)
    env = sn.Environment(sn.Scene(), world, worlds=3, seed=2)
    spec = sn.Imu(outputs=("acceleration", "delta_angle", "delta_velocity"), timing=sn.Timing(rate_hz=70.0))
    spec.linear.noise.std = 0.1
    imu = env.attach(spec, body="car", pose=[sn.Pose(), sn.Pose((1, 0, 0))])
    readings = []
    for _ in env.run(0.2):
        readings += imu.readings()
    readings[2] = readings[2].without(np.array([True, False, False]))
    several = SampledReading.gathered(readings, 4)  # two worlds of two sensors
    for name in spec.outputs:
        each = np.stack([getattr(reading, name).reshape(6, 3)[:4] for reading in readings])
        np.testing.assert_array_equal(getattr(several, name), each)
    assert several.valid.tolist() == [[k != 2] * 2 + [True] * 2 for k in range(len(readings))]
    assert several.time_ns == readings[-1].time_ns
