""" """

import numpy as np
import pytest

import sensorium as sn
from sensorium.view.quantities import quantities_of, values_of, world_points


def test_an_imu_has_what_its_outputs_say():
    env = sn.Environment(sn.Scene())
    imu = sn.Imu(timing=sn.Timing(rate_hz=100.0), outputs=("delta_angle", "acceleration"))
    imu.linear.axes = "xz"
    handle = env.attach(imu)
    env.observe(10_000_000)
    found = quantities_of(handle.read())
    assert [(q.name, q.components, q.is_inertial) for q in found] == [
        ("delta_angle", ("x", "y", "z"), False),
        ("acceleration", ("x", "z"), True),
    ]
    assert values_of([handle.read()], found, 1)[0] == pytest.approx(handle.read().values[None])


def test_other_sensors_have_their_quantities_with_units():
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({"b": sn.paths.Line((1, 2, 3), (0, 0, 0))}, step_s=0.1))
    sensors = {"gnss": sn.Gnss(), "barometer": sn.Barometer()}
    handles = {name: env.attach(spec, body="b", name=name) for name, spec in sensors.items()}
    for _ in env.run(0.5):
        pass
    for name, unit, expected in (("gnss", "m", [1, 2, 3]), ("barometer", "Pa", [101325.0 - 36.0])):
        reading = handles[name].read()
        first = quantities_of(reading)[0]
        assert first.unit == unit
        assert values_of([reading], (first,), 1)[0, 0] == pytest.approx(expected, rel=1e-4)


def test_rows_beyond_those_shown_are_left_out_and_void_ones_are_unknown(yard):
    env = yard(worlds=3)
    for _ in env.run(0.1):
        pass
    reading = env.sensors["imu"].read()
    found = quantities_of(reading)
    assert values_of([reading, reading], found, 1).shape == (2, 1, 6)
    void = reading.without(np.array([True, False, False]))
    assert np.isnan(values_of([void], found, 1)).all()
    assert np.isfinite(values_of([void], found, 3)[0, 1:]).all()


def test_what_is_no_reading_has_no_quantities():
    assert quantities_of(object()) == ()


def swept(env):
    for _ in env.run(0.2):
        pass
    return env.sensors["top"]


def test_a_row_is_what_that_lidar_alone_would_have_seen(yard):
    mounts = [sn.Pose(position=(0, 0, 1.0)), sn.Pose(position=(1.0, 0, 1.2))]
    both, alone = swept(yard(worlds=2, poses=mounts)), swept(yard(poses=mounts[1]))
    row = both.read().one(1)
    assert row.range_m.tolist() == alone.read().range_m.tolist()
    assert row.X_WS.shape[1:] == (1, 1)
    assert world_points(row.flat()) == pytest.approx(world_points(alone.read().flat()))


def test_points_in_the_world_are_the_same_in_either_frame(yard):
    own, world = swept(yard(frame="sensor")).read().flat(), swept(yard(frame="world")).read().flat()
    assert world_points(own) == pytest.approx(world.points, abs=1e-4)
    some = np.array([3, 5, 8])
    assert world_points(own, some) == pytest.approx(world.points[some], abs=1e-4)
