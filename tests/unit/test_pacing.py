"""The pace of a run: average rate, pause, single steps, reset, calls."""

import threading
import time

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError
from sensorium.live import RunClock

STEP_S = 0.01


def environment():
    world = sn.worlds.Kinematic({"car": sn.paths.Line(start=(0, 0, 0), velocity=(1, 0, 0))}, step_s=STEP_S)
    return sn.Environment(sn.Scene(), world)


class Run:
    """A run on a thread of its own, which counts its steps."""

    def __init__(self, clock, duration_s=100.0):
        self.env, self.clock, self.steps = environment(), clock, 0
        self.thread = threading.Thread(target=self._work, args=(duration_s,), daemon=True)
        self.thread.start()

    def _work(self, duration_s):
        for _ in self.env.run(duration_s, realtime=self.clock):
            self.steps += 1

    def wait_until(self, condition):
        ends_s = time.monotonic() + 20
        while not condition():
            assert time.monotonic() < ends_s, "the run did not get there"
            time.sleep(0.001)

    def end(self):
        self.clock.stop()
        self.thread.join(20)
        assert not self.thread.is_alive()


@pytest.mark.parametrize("speed", [0.5, 2.0, 4])
def test_a_run_takes_at_least_its_time_over_the_speed(speed):
    env, began_s = environment(), time.perf_counter()
    env.run(0.2, realtime=speed).finish()
    assert time.perf_counter() - began_s >= 0.2 / speed - 1e-4


class WallClock:
    """A wall clock that moves only when a run waits, or is told to."""

    def __init__(self, clock, monkeypatch):
        self.now_s, self.waits_s = 100.0, []
        monkeypatch.setattr("sensorium.pacing.time", self)
        monkeypatch.setattr(clock, "_changed", self)

    def perf_counter(self):
        return self.now_s

    def wait(self, timeout_s):
        self.now_s += timeout_s
        self.waits_s.append(timeout_s)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass


def test_a_late_run_steps_without_waiting_until_the_average_rate_is_kept_again(monkeypatch):
    clock = RunClock(2.0)
    wall = WallClock(clock, monkeypatch)
    began_s, behind_s = wall.now_s, []
    for number, _ in enumerate(environment().run(0.4, realtime=clock)):
        wall.now_s += 0.001 if number != 3 else 0.1
        behind_s.append(clock.behind_s)
    # 40 steps of 5 ms: the fifth ends 95 ms late, and each later step makes up for 4 ms of that
    assert clock.most_behind_s == pytest.approx(0.1 - 0.005)
    assert behind_s[4:28] == pytest.approx([0.1 - 0.005 - 0.004 * k for k in range(24)], abs=1e-9)
    assert behind_s[28:] == [0.0] * 12
    assert wall.now_s - began_s == pytest.approx(40 * 0.005 + 0.001)


def test_a_paused_run_takes_only_the_steps_it_is_told_to():
    run = Run(RunClock(paused=True))
    time.sleep(0.1)
    assert run.steps == 0
    run.clock.single_step()
    run.wait_until(lambda: run.steps == 1)
    run.clock.single_step(3)
    run.wait_until(lambda: run.steps == 4)
    time.sleep(0.1)
    assert run.steps == 4
    assert run.clock.time_ns == 4 * 10_000_000
    run.clock.resume()
    run.wait_until(lambda: run.steps > 50)
    run.clock.pause()
    time.sleep(0.05)
    at = run.steps
    time.sleep(0.1)
    assert run.steps == at
    run.end()


def test_calls_run_between_steps_on_the_thread_of_the_run_also_while_paused():
    run, called = Run(RunClock(paused=True)), []
    run.clock.call(lambda: called.append(threading.current_thread()))
    run.wait_until(lambda: called)
    assert called == [run.thread]
    assert run.steps == 0
    run.end()


def test_a_reset_restarts_the_world_and_time_goes_on():
    run = Run(RunClock(paused=True))
    run.clock.single_step(5)
    run.wait_until(lambda: run.steps == 5)
    assert run.env.state.X_WB.position[0, 0, 0] == pytest.approx(0.05)
    run.clock.reset()
    run.clock.single_step()
    run.wait_until(lambda: run.steps == 6)
    assert run.env.time_ns == 6 * 10_000_000
    assert run.env.state.X_WB.position[0, 0, 0] == pytest.approx(0.01)
    run.end()


def test_a_pause_is_not_made_up_for():
    run = Run(RunClock(1.0, paused=True))
    time.sleep(0.3)
    run.clock.resume()
    began_s, at = time.perf_counter(), run.steps
    run.wait_until(lambda: run.steps >= at + 20)
    assert time.perf_counter() - began_s > 0.15
    run.end()


def test_another_speed_takes_effect_at_once():
    run = Run(RunClock(1e-3))  # one step in ten seconds
    run.clock.speed = None
    run.wait_until(lambda: run.steps > 20)
    assert run.clock.speed is None
    run.end()


def test_a_condition_ends_a_paused_run():
    clock = RunClock(paused=True)
    pressed = []
    clock.stop_when(lambda: bool(pressed))
    run = Run(clock)
    pressed.append(2)
    run.thread.join(20)
    assert not run.thread.is_alive()
    assert run.steps == 0


@pytest.mark.parametrize("speed", [0, -1.0, float("nan"), float("inf"), "fast", True])
def test_a_speed_must_be_positive(speed):
    with pytest.raises(SpecError, match=r"speed is .*; it must be None or a positive number"):
        RunClock(speed)
    if speed is not True:
        with pytest.raises(SpecError, match="realtime is"):
            environment().run(1.0, realtime=speed)


def test_steps_must_be_a_positive_whole_number():
    with pytest.raises(SpecError, match="steps is 0"):
        RunClock().single_step(0)
