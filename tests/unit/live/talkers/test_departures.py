"""Departure times by a run whose steps end early or late."""

import numpy as np
import pytest

from sensorium.live.talkers.departures import Departures

STEP_NS = 20_000_000


def departures(now_s, *, speed=1.0, first=0):
    """Departure time of the readings in the middle and at the end of each step, for real times of the steps' ends."""
    plan, due_s = Departures(), []
    for k, now in enumerate(now_s, start=first):
        plan.begin_step(now, k * STEP_NS, (k + 1) * STEP_NS, speed)
        due_s += [plan.due_s(k * STEP_NS + STEP_NS // 2), plan.due_s((k + 1) * STEP_NS)]
    return np.array(due_s)


@pytest.mark.parametrize("speed", [0.5, 1.0, 4.0])
def test_a_step_on_time_leaves_within_the_next(speed):
    period_s = 0.02 / speed
    due_s = departures(100.0 + period_s * np.arange(1, 11), speed=speed)
    assert due_s == pytest.approx(100.0 + period_s * (0.5 * np.arange(1, 21) + 1.0))


def test_steps_that_end_late_by_less_than_a_step_change_nothing():
    rng = np.random.default_rng(7)
    late_s = rng.uniform(0.0, 0.019, 200)
    late_s[0] = 0.0
    due_s = departures(0.02 * np.arange(1, 201) + late_s)
    assert due_s == pytest.approx(0.01 * np.arange(1, 401) + 0.02)


def test_a_first_step_that_is_late_is_made_up_for():
    due_s = departures([0.02 + 0.015, 0.04, 0.06])
    assert due_s[2:] == pytest.approx(0.01 * np.arange(3, 7) + 0.02)


def test_after_a_pause_times_count_from_there():
    due_s = departures([0.02, 0.04, 5.06, 5.08])
    assert due_s[4:] == pytest.approx([5.07, 5.08, 5.09, 5.10])


def test_another_speed_counts_from_its_step_and_none_leaves_at_once():
    plan = Departures()
    plan.begin_step(10.0, 0, STEP_NS, 1.0)
    plan.begin_step(10.005, STEP_NS, 2 * STEP_NS, 4.0)
    assert plan.due_s(2 * STEP_NS) == pytest.approx(10.010)
    plan.begin_step(10.5, 2 * STEP_NS, 3 * STEP_NS, None)
    assert plan.due_s(2 * STEP_NS + 5) == 10.5
