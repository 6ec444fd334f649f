"""The spinning head against its own geometry and the figures of real devices."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sensorium.core.errors import SpecError
from sensorium.patterns import Spinning

VLP16_ELEVATION = (-15, 1, -13, 3, -11, 5, -9, 7, -7, 9, -5, 11, -3, 13, -1, 15)


def angles_deg(table):
    """Azimuth and elevation of each ray [deg]."""
    x, y, z = np.moveaxis(table.direction_S.astype(float), -1, 0)
    return np.degrees(np.arctan2(y, x)), np.degrees(np.arctan2(z, np.hypot(x, y)))


def wrapped(angle_deg):
    """The same angle in [-180, 180)."""
    return (np.asarray(angle_deg) + 180.0) % 360.0 - 180.0


def test_full_turn_fires_each_azimuth_once_and_clockwise():
    table = Spinning(elevation_deg=(10.0, -5.0), columns=8, rate_hz=10.0).rays()
    azimuth, elevation = angles_deg(table)
    assert table.shape == (2, 8)
    assert table.duration_ns == 100_000_000
    assert table.origin_S is None
    np.testing.assert_allclose(wrapped(azimuth - -45.0 * np.arange(8)), 0.0, atol=1e-5)
    np.testing.assert_allclose(elevation, [[10.0] * 8, [-5.0] * 8], atol=1e-5)
    np.testing.assert_array_equal(table.offset_ns, [12_500_000 * np.arange(8)] * 2)


def test_counterclockwise_is_the_mirror_image_at_the_same_times():
    head = {"elevation_deg": (10.0, -5.0), "columns": 16, "rate_hz": 20.0, "time_offset_s": (0.0, 1e-3)}
    right = Spinning(**head).rays()
    left = Spinning(**head, direction="counterclockwise").rays()
    np.testing.assert_array_equal(left.direction_S * np.float32([1, -1, 1]), right.direction_S)
    np.testing.assert_array_equal(left.offset_ns, right.offset_ns)


def test_start_azimuth_turns_the_whole_table():
    azimuth, _ = angles_deg(Spinning(elevation_deg=(0.0,), columns=4, rate_hz=10.0, start_azimuth_deg=30.0).rays())
    np.testing.assert_allclose(wrapped(azimuth[0] - [30.0, -60.0, -150.0, 120.0]), 0.0, atol=1e-5)


@settings(max_examples=30)
@given(
    columns=st.integers(1, 50),
    rate_hz=st.sampled_from([3.0, 5.0, 10.0, 20.0]),
    fraction=st.floats(0.0, 0.99),
    offset_deg=st.floats(-20.0, 20.0),
    direction=st.sampled_from(["clockwise", "counterclockwise"]),
)
def test_azimuth_is_the_head_at_the_firing_time_plus_the_offset(columns, rate_hz, fraction, offset_deg, direction):
    pattern = Spinning(
        elevation_deg=(0.0,),
        columns=columns,
        rate_hz=rate_hz,
        azimuth_offset_deg=(offset_deg,),
        time_offset_s=(fraction / (rate_hz * columns),),
        direction=direction,
    )
    table = pattern.rays()
    sense = -1.0 if direction == "clockwise" else 1.0
    expected = sense * 360.0 * rate_hz * table.offset_ns * 1e-9 + offset_deg
    # Times are rounded to a nanosecond: 7e-6 degrees at 20 Hz.
    np.testing.assert_allclose(wrapped(angles_deg(table)[0] - expected), 0.0, atol=2e-5)


def test_vlp16_fires_by_its_timing_law():
    # 2.304 us between channels, 55.296 us between sequences; the rate near 10 Hz makes 1808 of them a turn.
    rate_hz = 1.0 / (1808 * 55.296e-6)
    table = Spinning(
        elevation_deg=VLP16_ELEVATION,
        columns=1808,
        rate_hz=rate_hz,
        time_offset_s=tuple(2.304e-6 * channel for channel in range(16)),
    ).rays()
    law = 55_296 * np.arange(1808)[None, :] + 2_304 * np.arange(16)[:, None]
    np.testing.assert_array_equal(table.offset_ns, law)

    # The head turns 0.199 degrees between columns, and 15 / 24 of that while one column fires.
    azimuth, _ = angles_deg(table)
    assert azimuth[0, 0] - azimuth[0, 1] == pytest.approx(360.0 / 1808, abs=1e-5)
    assert azimuth[0, 0] - azimuth[15, 0] == pytest.approx(360.0 / 1808 * 15 / 24, abs=1e-5)


def test_beam_origins_turn_with_the_head_and_not_with_the_channel():
    # An Ouster-like head: beams leave 27 mm from the axis along the head's angle, staggered by +-10 degrees.
    table = Spinning(
        elevation_deg=(20.0, -20.0),
        columns=36,
        rate_hz=10.0,
        azimuth_offset_deg=(10.0, -10.0),
        origin_offset_m=((0.027, 0.0, 0.0),),
    ).rays()
    azimuth, _ = angles_deg(table)
    origin = table.origin_S.astype(float)
    np.testing.assert_allclose(np.hypot(origin[..., 0], origin[..., 1]), 0.027, rtol=1e-6)
    np.testing.assert_array_equal(origin[0], origin[1])
    bearing = np.degrees(np.arctan2(origin[..., 1], origin[..., 0]))
    np.testing.assert_allclose(wrapped(azimuth - bearing), [[10.0] * 36, [-10.0] * 36], atol=1e-4)


def test_each_channel_may_have_its_own_origin():
    offsets = ((0.0, 0.026, 0.2), (0.0, -0.026, 0.1))
    table = Spinning(elevation_deg=(1.0, -1.0), columns=4, rate_hz=10.0, origin_offset_m=offsets).rays()

    # A quarter turn clockwise takes the head's left side to the front.
    np.testing.assert_allclose(table.origin_S[:, 0], offsets, atol=1e-9)
    np.testing.assert_allclose(table.origin_S[:, 1], [(0.026, 0.0, 0.2), (-0.026, 0.0, 0.1)], atol=1e-9)


def test_sector_fires_both_edges_and_takes_its_share_of_the_turn():
    head = {"elevation_deg": (0.0,), "rate_hz": 15.0, "azimuth_min_deg": -135.0, "azimuth_max_deg": 135.0}
    table = Spinning(**head, columns=271, direction="counterclockwise").rays()
    azimuth, _ = angles_deg(table)
    np.testing.assert_allclose(azimuth[0], np.arange(-135.0, 136.0), atol=2e-5)
    assert table.offset_ns[0, -1] == round(1e9 / 15 * 270 / 360)
    assert table.duration_ns == 66_666_666

    clockwise, _ = angles_deg(Spinning(**head, columns=271).rays())
    np.testing.assert_allclose(clockwise[0], np.arange(135.0, -136.0, -1.0), atol=2e-5)

    # One column looks at the middle, when the head is there.
    single = Spinning(**head, columns=1).rays()
    assert angles_deg(single)[0][0, 0] == pytest.approx(0.0, abs=1e-6)
    assert single.offset_ns[0, 0] == round(1e9 / 15 * 135 / 360)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"elevation_deg": ()}, "elevation_deg"),
        ({"elevation_deg": (0.0, 91.0)}, "elevation_deg"),
        ({"columns": 0}, "columns"),
        ({"columns": 10**9}, "rays"),
        ({"rate_hz": 0.0}, "rate_hz"),
        ({"azimuth_offset_deg": (1.0,)}, "azimuth_offset_deg has 1 entries"),
        ({"time_offset_s": (0.0, 1e-6, 2e-6)}, "time_offset_s has 3 entries"),
        ({"time_offset_s": (0.0, -1e-6)}, "time_offset_s"),
        ({"time_offset_s": (0.0, 1e-2)}, "time between columns"),
        ({"origin_offset_m": ((0.0, 0.0, 0.0),) * 3}, "origin_offset_m has 3 entries"),
        ({"azimuth_min_deg": -10.0}, "both or neither"),
        ({"azimuth_min_deg": 10.0, "azimuth_max_deg": -10.0}, "more than 0"),
        ({"azimuth_min_deg": -180.0, "azimuth_max_deg": 180.0}, "less than 360"),
        (
            {"azimuth_min_deg": 0.0, "azimuth_max_deg": 9.0, "start_azimuth_deg": 0.0},
            "start_azimuth_deg is 0.0",
        ),
        (
            {"azimuth_min_deg": 0.0, "azimuth_max_deg": 359.0, "columns": 2, "time_offset_s": (0.0, 0.05)},
            "inside the sweep",
        ),
        ({"direction": "left"}, "direction"),
    ],
)
def test_broken_rules_name_the_field(change, message):
    good = {"elevation_deg": (1.0, -1.0), "columns": 10, "rate_hz": 10.0}
    Spinning(**good)
    with pytest.raises(SpecError, match=message):
        Spinning(**{**good, **change})


def test_a_fan_stands_for_channels_at_even_steps():
    fan = Spinning(elevation_deg={"top": 15, "bottom": -25, "channels": 5}, columns=8, rate_hz=10.0)
    assert fan.elevation_deg == (15.0, 5.0, -5.0, -15.0, -25.0)
    assert Spinning(**fan.model_dump()) == fan
    for wrong, says in (
        ({"top": 15, "bottom": -25}, "channels"),
        ({"top": 95, "bottom": 0, "channels": 2}, "top is 95"),
    ):
        with pytest.raises(SpecError, match=says) as error:
            Spinning(elevation_deg=wrong, columns=8, rate_hz=10.0)
        assert "\n" not in str(error.value)
