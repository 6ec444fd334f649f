"""Values of a sheet: what is refused, and what is told where nothing is known."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.devices import LidarSheet, Quantity, describe

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


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"interval": (1.5, 2.0)}, r"interval is \(1\.5, 2\.0\) and value 1\.0; the value must lie in it"),
        ({"value": (1.0, 2.0), "interval": (0.5, 2.5)}, "it must be a pair of numbers, of a list one for each entry"),
        ({"value": (1.0, 2.0), "interval": ((0.5, 1.5), (2.5, 3.0))}, "the value must lie in it"),
        ({"value": "far", "interval": (0.5, 2.5)}, "it must be a pair of numbers"),
        ({"maker": {"value": 3.0, "grade": "B"}}, "maker.source"),
    ],
)
def test_an_interval_that_does_not_fit_is_refused(fields, message):
    with pytest.raises(SpecError, match=message):
        Quantity.model_validate(value(1.0, grade="R") | fields)


def test_a_measured_value_has_its_interval_and_the_makers_figure_beside_it(tmp_path):
    table = '''
kind = "lidar"
maker = "Nobody"
model = "X"
description = "for a test"
scan = "spinning"
sources = {DS = "data sheet", REC = "measured in rest.pcap"}
elevation = {value = [1.0, -1.0], unit = "deg", source = "DS", grade = "A"}
rotation_rate = {value = 10.0, unit = "Hz", source = "DS", grade = "A"}
columns = {value = 100, source = "DS", grade = "A"}

[range_noise]
value = 8.0
unit = "mm"
means = "1 sigma"
source = "REC: noise"
grade = "R"
interval = [7.5, 8.5]
maker = {value = 3.0, unit = "cm", means = "accuracy, limits", source = "DS: page 2", grade = "A"}
'''
    (tmp_path / "mine.toml").write_text(table)
    told = str(describe(tmp_path / "mine.toml"))
    assert "range_noise              8 mm, 1 sigma [7.5 to 8.5]  (R REC: noise)" in told
    assert "the maker states 3 cm (accuracy, limits)  (A DS: page 2)" in told
    assert "R measured in a recording of a real device" in told
    for found in (tmp_path / "mine.toml", "mine"):
        lidar = sn.Lidar.from_device(found, folder=tmp_path)
        assert lidar.noise.base_m == pytest.approx(0.008)
    (tmp_path / "mine.toml").write_text(table.replace("DS: page 2", "BOOK"))
    with pytest.raises(SpecError, match=r"range_noise\.maker\.source is 'BOOK'; it must begin with a key of sources"):
        describe(tmp_path / "mine.toml")
