import numpy as np
import pytest

import sensorium as sn
from sensorium.view.quantities import quantities_of, values_of


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
