"""Times and azimuths of columns between stamps and counts."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import velodyne
from sensorium.recordings.readers.columns import columns_of, in_order, only_mode, refuse_two_heads, unwrapped


def test_columns_lie_evenly_between_stamps_and_counts():
    stamp_us = np.array([0, 120, 240, 480, 600])  # one packet is missing
    counts = (np.arange(30).reshape(5, 6) * 40).astype(np.uint16)
    found = columns_of(stamp_us, counts, counts_per_turn=36000, columns_per_group=2)
    offsets = np.arange(12) * 10_000
    np.testing.assert_array_equal(found.time_ns, (1000 * stamp_us[:, None] + offsets).reshape(-1))
    np.testing.assert_array_equal(np.flatnonzero(found.is_stamped), np.arange(5) * 12)
    np.testing.assert_allclose(np.degrees(found.azimuth), 0.2 * np.arange(60))


def test_the_azimuth_goes_through_a_full_turn():
    counts = np.array([[35980, 0, 20]], np.uint16)
    found = columns_of(np.array([0]), counts, counts_per_turn=36000, columns_per_group=2)
    np.testing.assert_allclose(np.degrees(found.azimuth), [359.8, 359.9, 0.0, 0.1, 0.2, 0.3], atol=1e-9)


def test_stamps_may_be_of_the_last_column():
    found = columns_of(
        np.array([300, 600]),
        np.zeros((2, 3), np.uint16),
        counts_per_turn=36000,
        columns_per_group=1,
        first_column_us=(-5.0, -1.0),
    )
    np.testing.assert_array_equal(found.time_ns, [95_000, 195_000, 295_000, 395_000, 495_000, 595_000])


def test_counters_go_on_after_a_wrap_and_small_steps_back_stay():
    given = np.array([90, 95, 3, 2, 50, 99, 1])
    np.testing.assert_array_equal(unwrapped(given, 100), [90, 95, 103, 102, 150, 199, 201])


def test_two_modes_are_refused():
    packets = np.zeros(3, velodyne.PACKET)
    packets["mode"] = 0x37
    assert only_mode(packets, "a") == 0x37
    packets["mode"][1] = 0x38
    with pytest.raises(SpecError, match="'a' has packets of return modes 0x37, 0x38"):
        only_mode(packets, "a")


def test_packets_that_a_network_swapped_are_sorted_with_a_remark():
    rng = np.random.default_rng(1)
    stamps = 1327 * np.arange(500)
    order, remarks = in_order(stamps, "a", ("first",))
    np.testing.assert_array_equal(order, np.arange(500))
    assert remarks == ("first",)
    for _ in range(10):
        places = np.argsort(np.arange(500) + rng.uniform(0.0, 20.0, 500), kind="stable")
        came = stamps[places]
        order, remarks = in_order(came, "a", ())
        np.testing.assert_array_equal(came[order], stamps)
        back = np.count_nonzero(np.diff(came) < 0)
        assert remarks == (f"packets came out of order {back} times; they are sorted by their stamps",)


def test_a_clock_that_is_set_stays_and_two_clocks_are_refused():
    stamps = 1327 * np.arange(500)
    reset = np.concatenate([stamps + 10**9, stamps])
    order, remarks = in_order(reset, "a", ())
    np.testing.assert_array_equal(order, np.arange(1000))
    assert remarks == ()
    both = np.stack([stamps + 10**9, stamps], axis=1).reshape(-1)
    with pytest.raises(
        SpecError, match="'a' has packets of two clocks in one stream: stamps go back 500 times"
    ):
        in_order(both, "a", ())


def test_two_heads_are_refused_and_lost_packets_are_not():
    rng = np.random.default_rng(2)
    azimuth = np.mod(0.0035 * np.arange(24 * 400), 2.0 * np.pi)
    begins = np.arange(len(azimuth)) % 24 == 0
    kept = np.repeat(rng.random(400) > 0.3, 24)
    refuse_two_heads(azimuth[kept], begins[kept], "VLP-16", "a")
    for apart in (0.5, 2.0, np.pi, 5.0):
        other = np.mod(azimuth + apart, 2.0 * np.pi)
        both = np.stack([azimuth.reshape(-1, 24), other.reshape(-1, 24)], axis=1).reshape(-1)
        with pytest.raises(
            SpecError, match="'a' has packets of two VLP-16 in one stream: azimuths jump by more"
        ):
            refuse_two_heads(both, np.arange(len(both)) % 24 == 0, "VLP-16", "a")
