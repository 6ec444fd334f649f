"""Values of a sheet: what is refused, and what is told where nothing is known."""

import pytest

from sensorium.core.errors import SpecError
from sensorium.devices import LidarSheet, Quantity

HEAD = {"maker": "Nobody", "model": "X", "description": "for a test", "sources": {"DS": "data sheet"}}


def value(number, unit="1", grade="A", source="DS", **fields):
    return {"value": number, "unit": unit, "grade": grade, "source": source, **fields}


def lidar(**values):
    needed = {"elevation": value([1.0, -1.0], "deg"), "rotation_rate": value(10.0, "Hz"), "columns": value(100)}
    return LidarSheet.model_validate({**HEAD, "scan": "spinning", **needed, **values})


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"grade": "M"}, "M is an estimate and marked so"),
        ({"estimate": True}, "M is an estimate and marked so"),
        ({"grade": "M", "estimate": True}, "source is 'DS'; a value needs one, an estimate has none"),
        ({"source": None}, "source is None; a value needs one"),
        ({"grade": "Z"}, "grade is 'Z'"),
        ({"color": "red"}, "color"),
    ],
)
def test_a_value_without_its_origin_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        Quantity.model_validate(value(1.0) | fields)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"max_range": value(100.0, "kg")}, "unit is 'kg'"),
        ({"max_range": value(100.0, "s")}, "unit is 's'; it must be one of m"),
        ({"max_range": value("far", "m")}, "max_range.value is 'far'; it must be a number"),
        ({"direction": value(1.0)}, "direction.value is 1.0; it must be a word"),
        ({"divergence": value(3.0, "mrad")}, "divergence.means is None; it must be one of: full, full 1/e\\^2"),
        ({"max_range": value(1.0, "m", means="full")}, "max_range.means is 'full'; there is no doubt"),
        (
            {"max_range": value(1.0, "m", source="BOOK: 3")},
            "source is 'BOOK: 3'; it must begin with a key of sources: DS",
        ),
        ({"maximum_range": value(1.0, "m")}, "LidarSheet.maximum_range"),
        ({"step": value(1.0, "deg")}, "columns and step is given; one of firing_period, columns and step must be"),
        ({"columns": None}, "nothing is given; one of firing_period"),
        ({"elevation": None}, "elevation is missing; scan 'spinning' cannot do without"),
    ],
)
def test_a_sheet_that_breaks_a_rule_names_it(values, message):
    with pytest.raises(SpecError, match=message):
        lidar(**values)


def test_what_is_unknown_stays_away_and_is_named():
    sheet = lidar()
    assert set(sheet.specification()) == {"kind", "mode", "pattern"}
    assert {"max_range_m", "noise.base_m", "beam.half_divergence_rad", "pattern.time_offset_s"} <= set(sheet.defaults())
    known = lidar(max_range=value(100.0, "m"), range_noise=value(2.0, "cm", means="1 sigma"))
    assert not {"max_range_m", "noise.base_m"} & set(known.defaults())
