"""Times and azimuths of columns between stamps and counts."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.packets import velodyne
from sensorium.recordings.readers.columns import columns_of, only_mode, unwrapped


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
