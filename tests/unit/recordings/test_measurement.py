"""Measurements: written, read again, looked up, refused where a number is none."""

import io
import json

import numpy as np
import pytest
from rich.console import Console

from sensorium.core.errors import SpecError
from sensorium.recordings.measurement import Curve, Figure, Measurement, checked, load_measurement, readable_unit


def measured(**changes) -> Measurement:
    figures = (
        Figure("noise", 0.0081, "m", 0.0079, 0.0083, 5123),
        Figure("noise.by_range", 0.0072, "m", 0.007, 0.0074, 100, "range 1 to 2 m"),
        Figure("noise.by_range", 0.0094, "m", 0.009, 0.0098, 90, "range 2 to 4 m"),
        Figure("quantum", 0.002, "m", 0.002, 0.002, 99),
    )
    x = np.array([1.5, 3.0])
    curve = Curve("noise.by_range", "range", "m", "range noise", "m", x, 0.01 * x, 0.009 * x, 0.011 * x)
    made = Measurement("lidar", "VLP-16", "parking.pcap", figures, (curve,), ("the scene is still",))
    return made._replace(**changes)


def test_a_file_read_again_is_the_same(tmp_path):
    measured().save(tmp_path / "m.json")
    again = load_measurement(tmp_path / "m.json")
    assert again._replace(curves=()) == measured()._replace(curves=())
    for mine, theirs in zip(again.curves[0], measured().curves[0], strict=True):
        np.testing.assert_array_equal(mine, theirs)


def test_figures_are_found_by_name_and_place():
    found = measured()
    assert found.figure("noise").samples == 5123
    assert found.figure("noise.by_range", "range 2 to 4 m").value == 0.0094
    assert len(found.of("noise.by_range")) == 2
    assert found.curve("noise.by_range").y_unit == "m"
    with pytest.raises(SpecError, match=r"quantity is 'bias' for 'beam 3'; 'parking.pcap' has no such figure"):
        found.figure("bias", "beam 3")
    with pytest.raises(SpecError, match=r"no such curve"):
        found.curve("bias")


@pytest.mark.parametrize(
    ("change", "rule"),
    [
        ({"kind": "sonar"}, "kind is 'sonar'; it must be one of"),
        ({"figures": (Figure("noise", np.nan, "m", 0.0, 1.0, 1),)}, "all must be finite"),
        ({"figures": (Figure("noise", 1.0, "m", 0.0, np.inf, 1),)}, "all must be finite"),
        ({"figures": (Figure("noise", 1.0, "m", 2.0, 1.0, 1, "beam 3"),)}, "noise beam 3 has the interval 2 to 1"),
        ({"curves": (Curve("c", "x", "m", "y", "m", *np.zeros((3, 2)), np.zeros(3)),)}, "of one length"),
    ],
)
def test_what_is_no_number_is_refused(tmp_path, change, rule):
    with pytest.raises(SpecError, match=rule):
        measured(**change).save(tmp_path / "m.json")
    assert not list(tmp_path.iterdir())
    with pytest.raises(SpecError, match=rule):
        checked(measured(**change))


KIND = "sensorium.measurement"


@pytest.mark.parametrize("text", ["[]", '{"kind": "sensorium.allan"}', f'{{"kind": "{KIND}", "version": 1}}'])
def test_another_file_is_refused(tmp_path, text):
    (tmp_path / "m.json").write_text(text)
    with pytest.raises(SpecError, match="is no"):
        load_measurement(tmp_path / "m.json")


def test_a_broken_file_is_refused(tmp_path):
    measured().save(tmp_path / "m.json")
    data = json.loads((tmp_path / "m.json").read_text())
    data["figures"][0]["value"] = "much"
    (tmp_path / "m.json").write_text(json.dumps(data))
    with pytest.raises(SpecError, match="no whole measurement"):
        load_measurement(tmp_path / "m.json")


@pytest.mark.parametrize(
    ("value", "unit", "shown", "in_unit"),
    [(0.0081, "m", 8.1, "mm"), (55.296e-6, "s", 55.296, "us"), (1.19, "m", 1.19, "m"), (1500.0, "m", 1500.0, "m")]
    + [(0.3, "1", 0.3, "1"), (0.0, "m", 0.0, "m"), (-0.002, "m", -2.0, "mm"), (1e-3, "m", 1.0, "mm")]
    + [(18083.0, "Hz", 18.083, "kHz")],
)
def test_units_get_prefixes(value, unit, shown, in_unit):
    scale, name = readable_unit(value, unit)
    assert name == in_unit
    assert value * scale == pytest.approx(shown)


def test_the_table_shows_value_interval_and_unit():
    out = io.StringIO()
    Console(file=out, width=120).print(measured().table())
    lines = out.getvalue()
    assert "8.10" in lines
    assert "7.90 to 8.30" in lines
    assert " 2 " in lines
    assert "range 2 to 4 m" in lines
    assert lines.count("noise.by_range") == 1
