"""Sheets from values: sources that are quoted, groups, and figures of what was held out."""

import pytest

from sensorium.devices import describe
from sensorium.recordings.fit.fitted import (
    HeldOut,
    estimate,
    fitted,
    held_figures,
    kept,
    maker_of,
    of_axes,
    of_figure,
    recorded_in,
    value,
)
from sensorium.recordings.measurement import Figure, Measurement

NOISE = [
    Figure("noise", number, "rad/s/sqrt(Hz)", number - 0.1, number + 0.1, 9, axis)
    for number, axis in ((1.0, "x"), (2.0, "y"))
]
MEASURED = Measurement("imu", "", "log.txt", tuple(NOISE))


def test_a_sheet_quotes_its_sources_alone_and_is_read_back(tmp_path):
    base = describe("xsens-mti630").sheet
    values = {
        "sample_rate": kept(base, ("sample_rate",))["sample_rate"],
        "angular.density": of_axes([*NOISE, NOISE[0]], "rad/s/sqrt(Hz)", means="two-sided"),
        "linear.noise": estimate(0.1, "m/s^2", "Not shown.") | {"means": "1 sigma"},
    }
    head = {"kind": "imu", "model": "mine", "description": "of a test"}
    made = fitted(head, values, MEASURED, base=base, remarks=["it rests"], sources={"CAL": "not quoted"})
    (tmp_path / "mine.toml").write_text(made.text)
    sheet = describe(tmp_path / "mine.toml").sheet
    assert sheet == made.sheet
    assert sheet.maker == "Xsens"
    assert sheet.sources.keys() == {"IILAB", "REC"}
    assert sheet.sources["REC"] == recorded_in("/somewhere/log.txt") == "measured in log.txt"
    assert sheet.notes == ("It rests.",)
    assert sheet.angular.density.interval == ((0.9, 1.1), (1.9, 2.1), (0.9, 1.1))
    assert sheet.linear.noise.estimate


def test_values_have_their_unit_interval_and_grade():
    assert of_figure(NOISE[1], "mdeg", 2.0) == {
        "value": 4.0, "unit": "mdeg", "source": "REC: noise", "grade": "R", "interval": [3.8, 4.2],
    }  # fmt: skip
    assert value(3, "1", "a count", note="n") == {"value": 3, "source": "REC: a count", "grade": "R", "note": "n"}


def test_the_makers_figure_stands_beside_a_measured_one():
    base = describe("intel-realsense-d435").sheet
    assert maker_of(base, "baseline") == {"maker": {"value": 50.0, "unit": "mm", "source": "LIST", "grade": "C"}}
    assert maker_of(base, "min_range") == maker_of(base, "disparity_noise") == maker_of(None, "baseline") == {}


def test_held_out_figures_are_paired_by_name_and_place():
    other = MEASURED._replace(figures=(NOISE[1]._replace(value=4.0), NOISE[0]._replace(where="z")))
    (pair,) = held_figures(MEASURED, other, ["noise"])
    assert pair == HeldOut(other.figures[0], 2.0)
    assert pair.ratio == pytest.approx(0.5)
    assert held_figures(MEASURED, None, ["noise"]) == ()
