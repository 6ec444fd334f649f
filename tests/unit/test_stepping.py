"""A run of steps: its arguments are checked at once, and one that nobody iterates says so."""

import gc
import warnings

import numpy as np
import pytest

import sensorium as sn


def still(step_s: float = 0.1) -> sn.Environment:
    return sn.Environment(sn.Scene(), sn.worlds.Static(step_s=step_s))


class Watcher:
    """Counts the steps it is shown."""

    def __init__(self):
        self.steps, self.closed = 0, 0

    def record(self, env):
        self.steps += 1

    def close(self):
        self.closed += 1


@pytest.mark.parametrize(
    ("arguments", "names"),
    [
        ({"duration_s": 0.0}, "duration_s is 0.0; it must be positive"),
        ({"duration_s": -1.0}, "duration_s is -1.0"),
        ({"duration_s": float("nan")}, "duration_s is nan"),
        ({"duration_s": float("inf")}, "finite"),
        ({"duration_s": "1"}, "duration_s is '1'; it must be a number"),
        ({"duration_s": None}, "duration_s is None"),
        ({"duration_s": True}, "duration_s is True"),
        ({"duration_s": 1.0, "realtime": "no"}, "realtime is 'no'"),
        ({"duration_s": 1.0, "view": 3}, "view is 3"),
        ({"duration_s": 1.0, "view": "no/such/folder/run.rrd"}, "folder does not exist"),
    ],
)
def test_arguments_are_checked_at_once(arguments, names):
    env = still()
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # a refused call leaves no run that warns
        with pytest.raises(sn.errors.SpecError, match=names):
            env.run(**arguments)
        gc.collect()
    assert env.time_ns == 0


def test_a_run_that_nobody_iterates_says_so_and_does_nothing():
    env, watcher = still(), Watcher()
    with pytest.warns(RuntimeWarning, match=r"Environment.run\(duration_s=1\) was never iterated"):
        env.run(duration_s=1.0, view=watcher)
    assert (env.time_ns, watcher.steps, watcher.closed) == (0, 0, 0)


def test_the_warning_names_the_line_that_dropped_the_run():
    env = still()
    with pytest.warns(RuntimeWarning) as told:
        env.run(1.0)
    assert told[0].filename == __file__


def test_finish_takes_all_steps_that_are_left():
    for duration_s in (1.0, np.float32(0.7), 3):
        env, watcher, other = still(), Watcher(), still()
        env.run(duration_s, view=watcher).finish()
        steps = sum(1 for _ in other.run(duration_s))
        assert (env.time_ns, watcher.steps, watcher.closed) == (other.time_ns, steps, 1)
    env = still()
    run = env.run(1.0)
    next(run)
    assert env.time_ns == 100_000_000
    run.finish()
    assert env.time_ns == 1_000_000_000


def test_a_run_that_is_left_early_is_closed_and_does_not_warn():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env, watcher = still(), Watcher()
        for _ in env.run(1.0, view=watcher):
            break
        gc.collect()
        assert (watcher.steps, watcher.closed) == (1, 1)
        run = env.run(1.0, view=watcher)
        next(run)
        run.close()
        assert (watcher.steps, watcher.closed) == (2, 2)
        with pytest.raises(StopIteration):
            next(run)
        env.run(1.0).close()
        del run
        gc.collect()


def test_time_counts_from_the_first_step_not_from_the_call():
    env = still()
    run = env.run(0.5)
    env.step()
    run.finish()
    assert env.time_ns == 600_000_000
