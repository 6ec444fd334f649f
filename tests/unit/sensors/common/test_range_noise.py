import pytest

import sensorium as sn
from sensorium.core.errors import SpecError


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"base_m": -1e-3}, r"base_m is -0\.001; it must be greater than or equal to 0"),
        ({"slope": -1.0}, r"slope.*greater than or equal to 0"),
        ({"square_per_m": -1.0}, r"square_per_m.*greater than or equal to 0"),
        ({"dropout": 1.1}, r"dropout is 1\.1; it must be less than or equal to 1"),
        ({"angle_std_rad": 0.1}, r"angle_std_rad.*less than 0\.1"),
        ({"bias_m": float("inf")}, r"bias_m.*finite"),
        ({"sigma": 0.1}, "sigma is 0.1; there is no such field"),
    ],
)
def test_refusals_name_value_and_rule(fields, message):
    with pytest.raises(SpecError, match=message):
        sn.RangeNoise(**fields)


def test_there_is_none_by_default():
    assert set(sn.RangeNoise().model_dump().values()) == {0.0}
