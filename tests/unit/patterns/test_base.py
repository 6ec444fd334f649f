"""The table of rays itself, and the union that sensors take."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sensorium.core.clock import Rate
from sensorium.core.errors import SpecError
from sensorium.core.spec import checked
from sensorium.patterns import Pattern, Raster, RayTable, Rosette, Spinning, Table
from sensorium.patterns.base import directions, exact, spread_deg, sweep_duration_ns

FORWARD = np.array([[[1.0, 0.0, 0.0]]], dtype=np.float32)
ZERO_NS = np.zeros((1, 1), dtype=np.int64)

EXAMPLES = {
    "spinning": {"elevation_deg": [-1, 1], "columns": 4, "rate_hz": 10},
    "raster": {
        "height": 2,
        "width": 3,
        "horizontal_fov_deg": [-10, 10],
        "vertical_fov_deg": [-5, 5],
        "rate_hz": 10,
    },
    "rosette": {
        "prisms": [{"wedge_deg": 18, "refractive_index": 1.5, "rotor_rpm": 600}],
        "point_rate_hz": 1000,
        "rate_hz": 10,
    },
    "table": {"azimuth_deg": [0, 1], "elevation_deg": [0, 1], "time_s": [0, 0.01], "rate_hz": 10},
}


@pytest.mark.parametrize(("kind", "model"), list(zip(EXAMPLES, (Spinning, Raster, Rosette, Table), strict=True)))
def test_plain_dictionary_becomes_the_pattern_of_its_kind(kind, model):
    pattern = checked(Pattern, {"kind": kind, **EXAMPLES[kind]}, "pattern")
    assert type(pattern) is model
    assert type(pattern).model_validate(pattern.model_dump()) == pattern
    assert type(pattern).model_validate_json(pattern.model_dump_json()) == pattern


@pytest.mark.parametrize("kind", EXAMPLES)
def test_misspelt_key_and_nan_are_refused(kind):
    with pytest.raises(SpecError, match="rate_hzz"):
        checked(Pattern, {"kind": kind, **EXAMPLES[kind], "rate_hzz": 1.0}, "pattern")
    with pytest.raises(SpecError, match="rate_hz"):
        checked(Pattern, {"kind": kind, **EXAMPLES[kind], "rate_hz": float("nan")}, "pattern")


@pytest.mark.parametrize("kind", EXAMPLES)
def test_equal_patterns_share_one_read_only_table(kind):
    one, other = (checked(Pattern, {"kind": kind, **EXAMPLES[kind]}, "pattern") for _ in range(2))
    table = one.rays()
    assert other.rays() is table
    assert one.model_copy(deep=True).rays(one.cycle) is table
    assert table.direction_S.dtype == np.float32
    assert table.offset_ns.dtype == np.int64
    with pytest.raises(ValueError, match="read-only"):
        table.direction_S[0, 0, 0] = 0.0


@pytest.mark.parametrize("kind", EXAMPLES)
def test_negative_sweep_is_refused(kind):
    with pytest.raises(SpecError, match="sweep is -1"):
        checked(Pattern, {"kind": kind, **EXAMPLES[kind]}, "pattern").rays(-1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"direction_S": 2 * FORWARD}, "unit"),
        ({"direction_S": FORWARD[0]}, "direction_S is float32"),
        ({"direction_S": FORWARD.astype(float)}, "direction_S is float64"),
        ({"direction_S": np.float32("nan") * FORWARD}, "not finite"),
        ({"offset_ns": ZERO_NS - 1}, "offset_ns runs from -1"),
        ({"offset_ns": ZERO_NS + 10}, r"\[0, 10\)"),
        ({"offset_ns": ZERO_NS[0]}, "rows, columns"),
        ({"origin_S": FORWARD[0]}, "origin_S"),
    ],
)
def test_table_refuses_what_breaks_its_promises(change, message):
    good = {"direction_S": FORWARD, "offset_ns": ZERO_NS, "origin_S": None, "duration_ns": 10}
    assert RayTable(**good).shape == (1, 1)
    with pytest.raises(SpecError, match=message):
        RayTable(**{**good, **change})


def test_table_does_not_close_the_arrays_it_was_given():
    mine = FORWARD.copy()
    table = RayTable(mine, ZERO_NS.copy(), None, 10)
    mine[0, 0, 0] = 7.0
    assert table.direction_S[0, 0, 0] == 1.0


@given(azimuth=st.floats(-7.0, 7.0), elevation=st.floats(-1.57, 1.57))
def test_directions_invert_to_their_angles(azimuth, elevation):
    x, y, z = directions(np.array(azimuth), np.array(elevation))
    assert np.hypot(np.hypot(x, y), z) == pytest.approx(1.0, abs=1e-15)
    assert np.arcsin(z) == pytest.approx(elevation, abs=1e-7)
    turned = np.arctan2(y, x) - azimuth
    assert abs(turned - 2 * np.pi * round(turned / (2 * np.pi))) < 1e-12


def test_spread_closes_a_full_turn_without_firing_the_seam_twice():
    # 512 columns over 360 degrees step 0.70313, not 0.70450.
    angles = spread_deg(180.0, -180.0, 512)
    assert np.allclose(np.diff(angles), -360.0 / 512, atol=1e-12)
    assert angles[-1] == pytest.approx(-180.0 + 360.0 / 512)

    # Less than a turn fires both ends; one angle is the middle one.
    assert spread_deg(135.0, -135.0, 271)[[0, 1, 270]] == pytest.approx([135.0, 134.0, -135.0])
    assert spread_deg(-10.0, 30.0, 1) == pytest.approx([10.0])


def test_rates_are_the_decimals_they_were_written_as():
    assert exact(0.1) * 10 == 1
    assert sweep_duration_ns(3.0) == 333_333_333
    assert sweep_duration_ns(0.1) == 10_000_000_000


@pytest.mark.parametrize("rate_hz", [1.5, 3.0, 7.0, 29.97])
def test_no_ray_reaches_into_the_next_sweep(rate_hz):
    # The last channel fires as late as it may; sweeps start on ticks that are rounded one by one.
    late = Spinning(elevation_deg=(0.0,), columns=1, rate_hz=rate_hz, time_offset_s=((1 - 1e-15) / rate_hz,))
    ticks = [Rate(rate_hz).time_ns(k) for k in range(200)]
    assert late.rays().offset_ns.max() < np.diff(ticks).min()


def test_rays_that_are_fired_at_once_are_given_by_their_directions_alone():
    table = RayTable.at_once([[(2, 0, 0), (0, 3, 4)]])
    np.testing.assert_allclose(table.direction_S, [[(1, 0, 0), (0, 0.6, 0.8)]], atol=1e-7)
    assert (table.shape, table.origin_S, table.offset_ns.max()) == ((1, 2), None, 0)
    shifted = RayTable.at_once([[(1, 0, 0)]], [[(0, 0.5, 0)]])
    np.testing.assert_array_equal(shifted.origin_S, [[(0, 0.5, 0)]])
    for wrong, words in (([(1, 0, 0)], r"has shape \(1, 3\)"), ([[(0, 0, 0)]], "length zero")):
        with pytest.raises(SpecError, match=words):
            RayTable.at_once(wrong)
