"""Differences between packet widths are counted as they are."""

import numpy as np
import pytest

from sensorium.qa.validation.packet_widths import _difference


def test_counts_and_largest_of_what_differs():
    wide = np.array([1.0, 2.0, np.nan, 4.0, np.inf])
    narrow = np.array([1.0, 2.5, np.nan, 4.001, np.inf])
    found = _difference("lidar 0", wide, narrow)
    assert (found.values, found.different) == (5, 2)
    assert found.largest == 0.5
    assert found.relative == 0.25


def test_a_return_more_counts_as_all_different():
    assert _difference("radar 0", np.zeros(3), np.zeros(4)).largest == np.inf


@pytest.mark.parametrize("kind", [np.uint8, np.int32, np.bool_])
def test_numbers_that_are_not_floats(kind):
    found = _difference("lidar 3", np.array([0, 1], kind), np.array([1, 1], kind))
    assert (found.different, found.largest) == (1, 1.0)
