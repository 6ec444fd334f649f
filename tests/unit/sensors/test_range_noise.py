import pydantic
import pytest

import sensorium as sn


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"base_m": -1e-3}, r"base_m[\s\S]*greater than or equal to 0[\s\S]*-0\.001"),
        ({"slope": -1.0}, r"slope[\s\S]*greater than or equal to 0"),
        ({"square_per_m": -1.0}, r"square_per_m[\s\S]*greater than or equal to 0"),
        ({"dropout": 1.1}, r"dropout[\s\S]*less than or equal to 1[\s\S]*1\.1"),
        ({"angle_std_rad": 0.1}, r"angle_std_rad[\s\S]*less than 0\.1"),
        ({"bias_m": float("inf")}, r"bias_m[\s\S]*finite"),
        ({"sigma": 0.1}, "not permitted"),
    ],
)
def test_refusals_name_value_and_rule(fields, message):
    with pytest.raises(pydantic.ValidationError, match=message):
        sn.RangeNoise(**fields)


def test_there_is_none_by_default():
    assert set(sn.RangeNoise().model_dump().values()) == {0.0}
