"""Turns to fit, and turns to hold the fit against."""

import numpy as np

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
