"""Columns of a lidar: turns, rates, directions."""

import numpy as np
import pytest

from sensorium.core.errors import SpecError
from sensorium.recordings.scans import median_rate, turn_numbers
from tests.unit.recordings.measure.scenes import ELEVATION, room


def test_turns_begin_where_the_azimuth_falls():
    azimuth = np.radians([350.0, 355.0, 0.0, 120.0, 119.9, 240.0, 359.9, 0.1])
    np.testing.assert_array_equal(turn_numbers(azimuth), [0, 0, 1, 1, 1, 1, 1, 2])


def test_the_rate_is_that_of_the_head():
    time_ns = np.arange(1000) * 50_000
    azimuth = np.mod(2.0 * np.pi * 12.5 * 1e-9 * time_ns, 2.0 * np.pi)
    assert median_rate(time_ns, azimuth) == pytest.approx(2.0 * np.pi * 12.5)
    assert median_rate(time_ns[:1], azimuth[:1]) == 0.0


def test_points_are_on_the_walls_of_the_room():
    recording = room(rng=np.random.default_rng(1), turns=1, columns=400, noise_m=0.0, quantum_m=1e-6)
    reach = np.abs(recording.points_S()) / [6.0, 4.5, 3.5]
    np.testing.assert_allclose(reach.max(axis=-1), 1.0, atol=1e-5)


def test_azimuths_count_clockwise_from_x_and_channels_have_offsets_and_times():
    recording = room(rng=np.random.default_rng(1), turns=1, columns=400)
    rate = recording.rotation_rate()
    recording = recording._replace(azimuth_offset=np.full(16, 0.2), channel_time_s=np.full(16, 0.01 / rate))
    azimuth = recording.azimuth[30] + 0.21
    expected = [np.cos(azimuth), -np.sin(azimuth)] * np.cos(ELEVATION)[:, None]
    np.testing.assert_allclose(recording.directions_S()[30, :, :2], expected, atol=1e-12)
    other = recording._replace(is_clockwise=False).directions_S()[30, :, :2]
    np.testing.assert_allclose(other, expected * [1, -1], atol=1e-12)


def test_some_turns_are_counted_again_from_zero():
    recording = room(rng=np.random.default_rng(2), turns=4, columns=300, is_locked=True, signal=True)
    half = recording.of_turns(2, 4)
    np.testing.assert_array_equal(half.turn, np.repeat([0, 1], 300))
    np.testing.assert_array_equal(half.range_m, recording.range_m[600:])
    np.testing.assert_array_equal(half.signal, recording.signal[600:])
    np.testing.assert_array_equal(half.background, recording.background[600:])
    assert len(recording.of_turns(9, 10).turn) == 0


def test_without_a_calibration_there_are_no_directions():
    recording = room(rng=np.random.default_rng(3), turns=1)._replace(elevation=None)
    with pytest.raises(SpecError, match="'room' has no calibration of test"):
        recording.points_S()
