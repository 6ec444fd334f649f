"""Names of quantities in tables, and what readings of a row of samples give together."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.sensors.common.sampled_reading import XYZ, Quantity, SampledReading


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
