"""Round trips of every device: each stated value inside what is measured, and the page that says so up to date."""

from pathlib import Path

import pytest

from sensorium.devices import describe, names
from sensorium.qa.round_trip import document, round_trip

PAGE = Path(__file__).parents[2] / "docs" / "devices.md"

# What each kind must at least be measured for, where its sheet states it
MEASURED = {
    "points_per_second": "points per second",
    "vertical_fov": "vertical field",
    "depth_unit": "depth step",
    "disparity_noise": "depth noise",
    "disparity_quantum": "disparity step",
    "disparity_levels": "disparity search",
    "azimuth_step": "azimuth step",
    "elevation_step": "elevation step",
    "min_range": "least range",
    "max_range": "greatest range",
    "range_5_percent": "range at 5 %",
    "range_10_percent": "range at 10 %",
    "range_80_percent": "range at 80 %",
    "range_90_percent": "range at 90 %",
    "range_quantum": "range step",
    "density": "density",
    "random_walk": "random walk",
    "in_run_bias": "in-run bias",
    "initial_bias": "initial bias",
    "sample_rate": "sample rate",
    "resolution": "resolution",
}


def number(text):
    return float(text.replace(",", "").removeprefix("≈ "))


def without_measured(cells):
    """Device, value, stated number, unit and grade."""
    device, what, stated, _, _, unit, grade = cells
    return device, what, number(stated), unit, grade


@pytest.mark.parametrize("name", names())
def test_every_stated_value_is_inside_its_interval_and_the_page_says_so(name):
    rows = round_trip(name)
    outside = [row for row in rows if not row.inside]
    assert not outside
    for stated, *_ in describe(name).sheet.everything():
        what = MEASURED.get(stated.rpartition(".")[2])
        assert what is None or any(what in row.what for row in rows), f"{stated} is stated and not measured"

    # The same lines; measured numbers may differ in the last bits from machine to machine, not in what they say
    told = [line for line in document.read(PAGE) if line[0] == name]
    assert [without_measured(line) for line in told] == [without_measured(document.cells(row)) for row in rows]
    for line, row in zip(told, rows, strict=True):
        slack = 0.1 * (row.high - row.low) + 1e-4 * abs(row.measured)
        assert number(line[3]) == pytest.approx(row.measured, abs=slack)
        for text, end in zip(line[4].split(" to "), (row.low, row.high), strict=True):
            assert number(text) == pytest.approx(end, abs=slack)


def test_the_page_has_no_device_that_is_gone():
    assert {line[0] for line in document.read(PAGE)} == set(names())
