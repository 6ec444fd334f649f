import numpy as np

from sensorium.corruption.engine import op
from sensorium.corruption.engine.op import Start
from sensorium.random import Stream
from sensorium.random.philox import MAX_STAGES


def test_stages_of_groups_kinds_and_repeats_are_all_different_and_fit_the_counter():
    stages = {
        op.stage(group, kind, repeat)
        for group in range(op.MAX_GROUPS)
        for kind in range(op.MAX_KINDS)
        for repeat in range(op.MAX_REPEATS)
    }
    assert len(stages) == op.MAX_GROUPS * op.MAX_KINDS * op.MAX_REPEATS
    assert max(stages) < MAX_STAGES


def _start(**changes):
    given = {"stage": 5, "tick": 0, "worlds": 3, "sensors": 2, "first_world": 0, "width": 3} | changes
    return Start(Stream(1, "imu"), **given)


def test_a_start_draws_the_same_for_a_world_in_a_batch_and_alone():
    whole = _start().normal(1).reshape(3, 2, 3)
    for world in range(3):
        alone = _start(worlds=1, first_world=world).normal(1).reshape(2, 3)
        np.testing.assert_array_equal(whole[world], alone)
    assert len(np.unique(whole)) == whole.size


def test_starts_at_other_ticks_and_draws_differ():
    starts = [_start().normal(1), _start().normal(2), _start(tick=9).normal(1), _start(stage=6).normal(1)]
    assert len(np.unique(starts)) == 4 * starts[0].size
    assert ((_start().uniform(3) > 0) & (_start().uniform(3) < 1)).all()
