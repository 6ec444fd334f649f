"""The raster against the closed form of its angles."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.patterns import Raster

GOOD = {
    "height": 3,
    "width": 5,
    "horizontal_fov_deg": (-20.0, 40.0),
    "vertical_fov_deg": (-10.0, 30.0),
    "rate_hz": 10.0,
}


@settings(max_examples=30)
@given(
    height=st.integers(2, 9),
    width=st.integers(2, 9),
    left=st.floats(1.0, 179.0),
    right=st.floats(-180.0, 0.0),
    top=st.floats(1.0, 90.0),
    bottom=st.floats(-90.0, 0.0),
)
def test_directions_follow_the_closed_form(height, width, left, right, top, bottom):
    table = Raster(
        height=height,
        width=width,
        horizontal_fov_deg=(right, left),
        vertical_fov_deg=(bottom, top),
        rate_hz=10.0,
    ).rays()
    for row, column in np.ndindex(height, width):
        phi = np.radians(left - (left - right) * column / (width - 1))
        theta = np.radians(top - (top - bottom) * row / (height - 1))
        expected = (np.cos(phi) * np.cos(theta), np.sin(phi) * np.cos(theta), np.sin(theta))
        np.testing.assert_allclose(table.direction_S[row, column], expected, atol=1e-7)


def test_full_turn_has_no_double_column():
    table = Raster(**{**GOOD, "width": 512, "horizontal_fov_deg": (-180.0, 180.0)}).rays()
    step = np.einsum("ijk,ijk->ij", table.direction_S, np.roll(table.direction_S, 1, axis=1).astype(float))

    # Neighbors are equally far apart all the way round, over the seam as well.
    np.testing.assert_allclose(step, step[:, :1] * np.ones(512), atol=3e-7)
    middle = np.degrees(np.arctan2(table.direction_S[1, :2, 1], table.direction_S[1, :2, 0]))
    assert (middle[0] - middle[1]) % 360.0 == pytest.approx(0.703125, abs=1e-4)


def test_one_row_and_one_column_take_the_middle():
    ray = Raster(**{**GOOD, "height": 1, "width": 1}).rays().direction_S[0, 0].astype(float)
    assert np.degrees(np.arctan2(ray[1], ray[0])) == pytest.approx(10.0, abs=1e-5)
    assert np.degrees(np.arcsin(ray[2])) == pytest.approx(10.0, abs=1e-5)

    # A field without extent is enough for one.
    flat = Raster(**{**GOOD, "height": 1, "vertical_fov_deg": (0.0, 0.0)}).rays()
    assert np.all(flat.direction_S[..., 2] == 0.0)


def test_firing_orders():
    assert not Raster(**GOOD).rays().offset_ns.any()

    rows = Raster(**GOOD, firing="rows").rays()
    np.testing.assert_array_equal(rows.offset_ns, [[0] * 5, [33_333_333] * 5, [66_666_667] * 5])

    columns = Raster(**GOOD, firing="columns", scan_time_s=0.05).rays()
    np.testing.assert_array_equal(columns.offset_ns, [10_000_000 * np.arange(5)] * 3)
    assert columns.duration_ns == 100_000_000


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"height": 0}, "height"),
        ({"width": 2**26}, "rays"),
        ({"horizontal_fov_deg": (40.0, -20.0)}, "horizontal_fov_deg is"),
        ({"horizontal_fov_deg": (0.0, 361.0)}, "at most 360"),
        ({"horizontal_fov_deg": (0.0, float("inf"))}, "horizontal_fov_deg"),
        ({"vertical_fov_deg": (5.0, 5.0)}, "when height is 3"),
        ({"vertical_fov_deg": (-91.0, 0.0)}, "vertical_fov_deg is"),
        ({"scan_time_s": 0.01}, "leave it out"),
        ({"scan_time_s": 0.2, "firing": "rows"}, "must not exceed"),
        ({"scan_time_s": 0.0, "firing": "rows"}, "scan_time_s"),
        ({"firing": "random"}, "firing"),
    ],
)
def test_broken_rules_name_the_field(change, message):
    with pytest.raises(SpecError, match=message):
        Raster(**{**GOOD, **change})
