"""Turns or fields to fit, and those to hold the fit against."""

import numpy as np
import pytest

from sensorium.recordings.fit.halves import halves, whole_turns
from tests.unit.recordings.measure.scenes import room


def test_every_second_turn_is_held_out():
    recording = room(rng=np.random.default_rng(0), turns=5, columns=300, is_locked=True)
    first, second = halves(recording)
    assert whole_turns(recording) == 5
    assert (whole_turns(first), whole_turns(second)) == (3, 2)
    np.testing.assert_array_equal(np.unique(first.turn), [0, 1, 2])
    together = np.concatenate([first.time_ns, second.time_ns])
    np.testing.assert_array_equal(np.sort(together), recording.time_ns)


def test_of_one_turn_nothing_is_held_out():
    recording = room(rng=np.random.default_rng(0), turns=1, columns=300, is_locked=True)
    used, rest = halves(recording)
    assert rest is None
    assert len(used.time_ns) == 300


def test_few_turns_of_a_still_scene_are_halved_by_fields():
    recording = room(rng=np.random.default_rng(1), turns=2, columns=1200, is_locked=True)
    wide = recording._replace(
        range_m=np.concatenate([recording.range_m] * 2, axis=1),
        reflectivity=np.concatenate([recording.reflectivity] * 2, axis=1),
        azimuth_offset=np.zeros(32),
        channel_time_s=np.zeros(32),
        elevation=np.concatenate([recording.elevation] * 2),
    )
    first, second = halves(wide)
    np.testing.assert_array_equal(first.range_m + second.range_m, wide.range_m)
    assert not ((first.range_m > 0.0) & (second.range_m > 0.0)).any()
    for part in (first, second):
        np.testing.assert_array_equal(part.time_ns, wide.time_ns)
        assert (part.range_m > 0.0).mean() == pytest.approx(0.5, abs=0.02)
        assert "every second field of 15 deg and 16 channels" in part.remarks[-1]
    # Below and beside each field is one of the other half
    assert (first.range_m[:, 0] > 0.0).sum() == pytest.approx((second.range_m[:, 16] > 0.0).sum(), abs=1)
    assert not (first.range_m[:90, 0] > 0.0).all()


def test_few_turns_of_a_moving_scene_are_halved_by_turns():
    recording = room(rng=np.random.default_rng(2), turns=3, columns=1200, is_locked=True, shift_m=(0.05, 0.0))
    first, second = halves(recording)
    assert (whole_turns(first), whole_turns(second)) == (2, 1)
    assert first.remarks == ()
