"""Columns of readings: each number of a reading has one of its own, found under the name of its quantity."""

import numpy as np
import pytest

import sensorium as sn
from sensorium.record.signal_columns import Column, columns_of_reading
from sensorium.sensors.common.quantity import XYZ, Quantity
from sensorium.sensors.common.sampled_reading import SampledReading

WIND = Quantity("wind", "Wind", "m/s", XYZ)
WARM = Quantity("warm", "Whether it is warm", kind=bool)
GRID = Quantity("grid", "Pixels", "K", ("0 0", "0 1", "1 0", "1 1"), column="pixel")


class Weather(SampledReading):
    """Numbers tell where they stand: thousands the world, hundreds the sensor, ones the component."""

    def __init__(self, axes):
        self._axes = axes
        worlds, sensors = np.indices((3, 2))
        self._place = np.broadcast_to(1000 * worlds + 100 * sensors, (3, 2))[(0,) * (2 - len(axes))]

    @property
    def quantities(self):
        return (WIND, WARM, GRID)

    @property
    def valid(self):
        return np.zeros(self._axes, bool)

    @property
    def wind(self):
        return self._place[..., None] + np.arange(3.0)

    @property
    def warm(self):
        return self._place >= 1000

    @property
    def grid(self):
        return self._place[..., None, None] + np.array([[1, 2], [3, 4]])


def test_there_is_one_column_for_each_number_in_the_order_of_quantities():
    columns = columns_of_reading(Weather((3, 2)))
    assert [column.name for column in columns] == [
        *("wind_x_m_s", "wind_y_m_s", "wind_z_m_s"),
        "warm",
        *("pixel_0_0_K", "pixel_0_1_K", "pixel_1_0_K", "pixel_1_1_K"),
    ]
    assert [column.quantity for column in columns] == [WIND] * 3 + [WARM] + [GRID] * 4
    assert [column.component for column in columns] == [0, 1, 2, 0, 0, 1, 2, 3]


@pytest.mark.parametrize("axes", [(), (2,), (3, 2)])
def test_values_have_the_leading_axes_of_the_reading(axes):
    """Whatever axes the quantity itself has, and whether or not the reading has any."""
    reading = Weather(axes)
    expected = np.array([[0, 100], [1000, 1100], [2000, 2100]])[(0,) * (2 - len(axes))]
    values = {column.name: column.values(reading) for column in columns_of_reading(reading)}
    for component, name in enumerate(("wind_x_m_s", "wind_y_m_s", "wind_z_m_s")):
        np.testing.assert_array_equal(values[name], expected + component)
        assert values[name].shape == axes
    for number, name in enumerate(("pixel_0_0_K", "pixel_0_1_K", "pixel_1_0_K", "pixel_1_1_K"), start=1):
        assert values[name].tolist() == (expected + number).tolist()
        assert values[name].dtype.kind == "i"
    assert values["warm"].tolist() == (expected > 999).tolist()
    assert values["warm"].dtype == bool


def test_a_column_reads_any_reading_of_its_sensor():
    """Its name is for tables; what it reads is the attribute that its quantity names."""
    column = Column("anything", WIND, 2)
    assert column.values(Weather(())) == 2.0
    assert column.values(Weather((3, 2))).tolist() == [[2, 102], [1002, 1102], [2002, 2102]]


def test_a_kind_that_tells_no_quantities_has_no_columns():
    class Silent(Weather):
        quantities = SampledReading.quantities

    assert columns_of_reading(Silent(())) == ()


def test_columns_of_an_encoder_do_not_say_the_unit_of_its_joint():
    """A wheel that turns at 8 rad/s, in three worlds, after 0.5 s."""
    joints = {"wheel": sn.paths.JointLine(velocity=8.0)}
    env = sn.Environment(sn.Scene(), sn.worlds.Kinematic({}, joints=joints, step_s=0.1), worlds=3)
    encoder = env.attach(sn.Encoder(timing=sn.Timing(rate_hz=10.0)), joint="wheel")
    for _ in env.run(0.5):
        pass
    reading = encoder.read()
    columns = {column.name: column for column in columns_of_reading(reading)}
    assert list(columns)[:2] == ["position", "velocity"]
    assert columns["position"].values(reading) == pytest.approx(np.full(3, 4.0))
    assert columns["velocity"].values(reading) == pytest.approx(np.full(3, 8.0))
