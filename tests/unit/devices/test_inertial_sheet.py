"""Data sheets of inertial measurement units and magnetometers."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.devices import ImuSheet, MagnetometerSheet

HEAD = {"maker": "Nobody", "model": "X", "description": "for a test", "sources": {"DS": "data sheet"}}


def value(number, unit="1", **fields):
    return {"value": number, "unit": unit, "grade": "A", "source": "DS", **fields}


def imu(**values):
    return ImuSheet.model_validate({**HEAD, "angular": values})


def test_a_random_walk_is_a_two_sided_density():
    walk = value(0.15, "deg/sqrt(h)")
    noise = imu(random_walk=walk).specification()["angular"]["noise"]
    assert noise == {"density": pytest.approx(6.17067e-5, rel=1e-5), "sided": "one"}
    density = value(0.003, "deg/s/sqrt(Hz)", means="one-sided")
    assert imu(random_walk=walk, density=density).specification()["angular"]["noise"]["density"] == pytest.approx(
        5.23599e-5
    )


def test_groups_without_values_are_not_there():
    fields = imu(range=value(500.0, "deg/s")).specification()
    assert fields["linear"] is None
    assert fields["magnetic"] is None
    assert fields["angular"]["saturation"] == {"min": pytest.approx(-8.726646), "max": pytest.approx(8.726646)}
    assert "angular.noise.density" in imu(range=value(500.0, "deg/s")).defaults()


def test_white_noise_is_given_once():
    both = {"noise": value(2.0, "mG", means="1 sigma"), "density": value(1.0, "mG/sqrt(Hz)", means="one-sided")}
    with pytest.raises(SpecError, match="white noise has one or the other"):
        MagnetometerSheet.model_validate({**HEAD, **both})


def test_a_group_refuses_the_unit_of_another():
    with pytest.raises(SpecError, match="unit is 'mg'; it must be one of rad/s"):
        imu(range=value(1.0, "mg"))


def test_a_magnetometer_alone_has_the_same_rules():
    sheet = MagnetometerSheet.model_validate(
        {**HEAD, "range": value(8.0, "G"), "lsb": value(0.1, "mG"), "sample_rate": value(200.0, "Hz")}
    )
    fields = sheet.specification()
    assert fields["saturation"] == {"min": pytest.approx(-8e-4), "max": pytest.approx(8e-4)}
    assert fields["quantization"] == {"lsb": pytest.approx(1e-8)}
    assert fields["timing"] == {"rate_hz": 200.0}
    assert "noise.density" in sheet.defaults()


def test_one_value_for_each_axis():
    fields = imu(noise=value([0.1, 0.2, 0.3], "deg/s", means="1 sigma")).specification()["angular"]["noise"]
    assert fields["std"] == pytest.approx((1.745329e-3, 3.490659e-3, 5.235988e-3), rel=1e-6)
