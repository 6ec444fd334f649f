import math

import numpy as np
import pytest

from sensorium.physics.imaging import Band, thermal_radiance
from sensorium.physics.imaging.emission_table import NOTHING, emission_table

FAR = Band(name="far", filter=((8e-6, 1.0), (14e-6, 1.0)), thermal=True)
MID = Band(name="mid", filter=((3e-6, 1.0), (5e-6, 1.0)), thermal=True)
WIDE = Band(name="wide", filter=((3e-6, 1.0), (14e-6, 1.0)), thermal=True)
GREEN = Band(name="green", filter=((540e-9, 1.0), (560e-9, 1.0)))


def radiance(table, band, kelvin):
    """As the kernel reads it, in float64."""
    at = (math.log(kelvin) - table.first) * table.per_step
    places = np.arange(table.log_radiance.shape[1])
    return math.exp(np.interp(at, places, table.log_radiance[band].astype(np.float64)))


@pytest.mark.parametrize("band", [FAR, MID, WIDE], ids=lambda band: band.name)
def test_between_its_entries_the_table_keeps_to_plancks_law(band):
    table = emission_table([band], 100.0, 6000.0)
    for kelvin in np.exp(np.random.default_rng(0).uniform(np.log(100.0), np.log(6000.0), 60)):
        assert radiance(table, 0, kelvin) == pytest.approx(thermal_radiance(band, kelvin), rel=1.1e-4)


def test_the_table_has_the_temperatures_that_are_asked_for_and_no_more():
    table = emission_table([FAR], 250.0, 400.0)
    last = table.first + (table.log_radiance.shape[1] - 1) / table.per_step
    assert math.exp(table.first) == pytest.approx(250.0)
    assert 400.0 <= math.exp(last) < 402.0
    one = emission_table([FAR], 288.15, 288.15)
    assert one.log_radiance.shape == (1, 2)
    assert radiance(one, 0, 288.15) == pytest.approx(thermal_radiance(FAR, 288.15), rel=1e-6)


def test_what_does_not_glow_is_nothing():
    table = emission_table([GREEN, FAR], 0.001, 3.0)
    assert (table.log_radiance == np.float32(NOTHING)).all()
    assert math.exp(table.first) == pytest.approx(1.0)
