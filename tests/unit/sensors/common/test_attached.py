"""The live handle, with a sensor made for the purpose: it reports the time of each of its ticks."""

import numpy as np
import pydantic
import pytest

import sensorium as sn
from sensorium.core.clock import Rate, seconds_to_ns
from sensorium.core.errors import NoReadingError, SpecError
from sensorium.sensors.common.spec import Capture, SensorSpec

MS = 1_000_000


class Ticker(SensorSpec[int]):
    rate_hz: float = 100.0
    memory_s: float = 0.0
    gains: list[float] = pydantic.Field(default_factory=lambda: [1.0])

    def start(self, rig):
        return TickerModel(self, rig)


class TickerModel:
    def __init__(self, spec, rig):
        self.spec, self.rig, self.asked, self.resets = spec, rig, [], []
        self.rate = Rate(spec.rate_hz)

    def captures(self, after_ns, upto_ns, since_ns):
        self.asked.append((after_ns, upto_ns, since_ns))
        for tick in self.rate.ticks_between(after_ns, upto_ns):
            time_ns = self.rate.time_ns(tick)
            if time_ns > since_ns:
                yield Capture(time_ns, time_ns, lambda t=time_ns: -t, tick)

    def due_ns(self, now_ns):
        return self.rate.time_ns(self.rate.first_after(now_ns))

    def needs_from_ns(self, now_ns):
        return now_ns - seconds_to_ns(self.spec.memory_s)

    def reset(self, mask):
        self.resets.append(mask.tolist())


def environment(worlds=None, step_s=0.01):
    return sn.Environment(sn.Scene(), sn.worlds.Static({"base": sn.Pose()}, step_s=step_s), worlds=worlds)


def test_all_readings_of_a_step_and_the_newest():
    env = environment(step_s=0.01)
    fast = env.attach(Ticker(rate_hz=1000.0))
    env.step()
    env.step()
    assert fast.readings() == [k * MS for k in range(11, 21)]
    assert fast.read() == 20 * MS
    assert fast.truth() == -20 * MS
    assert fast.fresh


def test_every_reading_of_a_step_has_its_own_truth_and_its_arrival():
    env = environment(step_s=0.01)
    fast = env.attach(Ticker(rate_hz=1000.0, timing=sn.Timing(latency_s=0.002)))
    env.step()
    env.step()
    arrivals = fast.arrivals()
    assert [arrival.reading for arrival in arrivals] == fast.readings() == [k * MS for k in range(9, 19)]
    assert [arrival.truth() for arrival in arrivals] == [-k * MS for k in range(9, 19)]
    assert [arrival.arrival_ns for arrival in arrivals] == [k * MS for k in range(11, 21)]
    arrivals.clear()
    assert fast.fresh


def test_a_slow_sensor_is_fresh_only_when_something_arrived():
    env = environment(step_s=0.01)
    slow = env.attach(Ticker(rate_hz=25.0))
    fresh = []
    for _ in env.run(duration_s=0.2):
        fresh.append(slow.fresh)
        assert slow.fresh == bool(slow.readings())
    np.testing.assert_array_equal(np.flatnonzero(fresh) + 1, [4, 8, 12, 16, 20])
    env.step()
    assert not slow.fresh
    assert slow.read() == 200 * MS  # the newest stays


@pytest.mark.parametrize("latency_ms", [0, 1, 10, 15, 250])
def test_nothing_arrives_early_or_late(latency_ms):
    env = environment(step_s=0.01)
    ticker = env.attach(Ticker(rate_hz=200.0, timing=sn.Timing(latency_s=latency_ms / 1000)))
    arrived = []
    for _ in env.run(duration_s=0.5):
        for reading in ticker.readings():
            # due in this step, not in the one before
            assert env.time_ns - 10 * MS < reading + latency_ms * MS <= env.time_ns
            arrived.append(reading)
    np.testing.assert_array_equal(arrived, np.arange(1, (500 - latency_ms) // 5 + 1) * 5 * MS)


def test_no_reading_yet_names_the_sensor():
    env = environment()
    ticker = env.attach(Ticker(timing=sn.Timing(latency_s=1.0)), name="left")
    env.step()
    for ask in (ticker.read, ticker.truth):
        with pytest.raises(NoReadingError, match="'left'"):
            ask()


@pytest.mark.parametrize(
    ("timing", "steps", "told"),
    [
        ({}, 0, r"due at 0\.05 s at the earliest, and it is 0 s now"),
        ({}, 1, r"due at 0\.05 s at the earliest, and it is 0\.01 s now"),
        ({"latency_s": 0.02}, 1, r"due at 0\.07 s at the earliest, and it is 0\.01 s now"),
        ({"latency_s": 0.02}, 6, r"due at 0\.07 s at the earliest, and it is 0\.06 s now"),  # on its way
        ({"latency_s": 0.02, "latency_jitter_s": 1e-3}, 1, r"due at 0\.05 s at the earliest"),
        ({"loss": 1.0}, 6, r"due at 0\.1 s at the earliest, and it is 0\.06 s now"),
    ],
)
def test_no_reading_yet_tells_when_it_is_due(timing, steps, told):
    env = environment(step_s=0.01)
    ticker = env.attach(Ticker(rate_hz=20.0, timing=sn.Timing(**timing)))
    for _ in range(steps):
        env.step()
    with pytest.raises(NoReadingError, match=f"has no reading yet; its first is {told}"):
        ticker.read()
    ticker.enabled = False
    with pytest.raises(NoReadingError, match="has no reading yet; it is switched off"):
        ticker.read()


def test_before_a_step_a_sensor_may_not_know_when_it_is_due():
    env = environment(step_s=0.01)
    gyroscope = env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=20.0)))
    with pytest.raises(NoReadingError, match="due with the next step at the earliest, and it is 0 s now"):
        gyroscope.read()
    env.step()
    with pytest.raises(NoReadingError, match=r"due at 0\.05 s at the earliest"):
        gyroscope.read()


def test_it_rests_until_something_is_due():
    env = environment(step_s=0.01)
    seldom = env.attach(Ticker(rate_hz=10.0), name="seldom")
    late = env.attach(Ticker(rate_hz=10.0, timing=sn.Timing(latency_s=0.035)), name="late")
    fresh = []
    for _ in env.run(0.3):
        fresh.append((seldom.fresh, late.fresh))
    assert [step for step, (now, _) in enumerate(fresh, 1) if now] == [10, 20, 30]
    assert [step for step, (_, now) in enumerate(fresh, 1) if now] == [14, 24]
    assert [upto for _, upto, _ in seldom._model.asked] == [10 * MS, 100 * MS, 200 * MS, 300 * MS]
    assert len(late._model.asked) == 1 + 3 + 2  # at first, to take a reading, and to receive one


def test_switched_off_it_is_not_asked_and_what_is_on_its_way_is_lost():
    env = environment()
    ticker = env.attach(Ticker(timing=sn.Timing(latency_s=0.03)))
    for _ in env.run(duration_s=0.05):
        pass
    assert ticker.read() == 20 * MS
    asked = len(ticker._model.asked)
    ticker.enabled = False
    assert not ticker.enabled
    assert not ticker.fresh
    for _ in env.run(duration_s=0.1):
        assert ticker.readings() == []
    assert len(ticker._model.asked) == asked
    assert ticker.read() == 20 * MS

    # On again: it measures from now on, nothing of the time between
    ticker.enabled = True
    for _ in env.run(duration_s=0.04):
        pass
    assert {since for _, _, since in ticker._model.asked[asked:]} == {150 * MS}
    assert ticker.readings() == [160 * MS]


def test_switching_on_what_is_on_changes_nothing():
    env = environment()
    ticker = env.attach(Ticker(timing=sn.Timing(latency_s=0.03)))
    for _ in env.run(duration_s=0.05):
        ticker.enabled = True
    assert ticker.read() == 20 * MS
    assert {since for _, _, since in ticker._model.asked} == {0}


def test_attached_late_it_begins_late():
    env = environment()
    for _ in env.run(duration_s=0.1):
        pass
    ticker = env.attach(Ticker())
    env.step()
    assert ticker._model.asked == [(100 * MS, 110 * MS, 100 * MS)]


def test_the_specification_is_a_copy_all_the_way_down():
    spec = Ticker()
    ticker = environment().attach(spec)
    spec.gains.append(2.0)
    spec.rate_hz = 1.0
    assert ticker.spec.gains == [1.0]
    assert ticker.spec.rate_hz == 100.0


def test_a_specification_spoilt_by_edits_is_refused_when_attached():
    """An edit deep inside, or one that raised and stayed, may break a rule that only the whole can check."""
    pattern = sn.patterns.Spinning(elevation_deg=(0.0,), columns=8, rate_hz=10)
    inside = sn.Lidar(pattern=pattern)
    inside.timing.rate_hz = 3.0
    raised = sn.Lidar(pattern=pattern)
    with pytest.raises(SpecError):
        raised.min_range_m = 5000.0
    with pytest.raises(sn.errors.SpecError, match="rate_hz is 3"):
        environment().attach(inside)
    if raised.min_range_m != 0.0:  # the value stayed
        with pytest.raises(sn.errors.SpecError, match="min_range_m"):
            environment().attach(raised)


def test_resets_reach_the_sensor():
    env = environment(worlds=3)
    ticker = env.attach(Ticker())
    env.step()
    env.reset([True, False, True])
    env.reset()
    assert ticker._model.resets == [[True, False, True], [True, True, True]]


def test_the_history_keeps_what_the_most_patient_sensor_needs():
    env = environment()
    env.attach(Ticker(memory_s=0.02), name="short")
    long = env.attach(Ticker(memory_s=0.07), name="long")
    for _ in env.run(duration_s=0.2):
        pass
    assert env._history.start_ns == 130 * MS
    long.enabled = False
    env.step()
    assert env._history.start_ns == 190 * MS


# --- messages ---------------------------------------------------------------------------------------------------------


def messages(steps, seed=0, **timing):
    """Capture times, in the order of arrival, and the handle."""
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.001), seed=seed)
    ticker = env.attach(Ticker(rate_hz=1000.0, timing=sn.Timing(**timing)))
    arrived = []
    for _ in range(steps):
        env.step()
        arrived += [(env.time_ns, reading) for reading in ticker.readings()]
    return np.array(arrived), ticker


def test_the_lost_share_is_the_loss():
    arrived, _ = messages(4000, loss=0.3)
    lost = 4000 - len(arrived)
    assert abs(lost - 1200) < 4 * np.sqrt(4000 * 0.3 * 0.7)
    assert len(messages(50, loss=1.0)[0]) == 0


def test_the_delay_of_messages_is_normal_about_the_latency():
    arrived, _ = messages(4000, latency_s=0.05, latency_jitter_s=0.01)
    late_s = (arrived[:, 0] - arrived[:, 1]) * 1e-9

    # Delivered at the first step after arrival: half a step late on average
    assert np.mean(late_s) == pytest.approx(0.0505, abs=4 * 0.01 / np.sqrt(4000))
    assert np.std(late_s) == pytest.approx(0.01, rel=0.05)


def test_nothing_arrives_before_it_was_captured():
    arrived, _ = messages(1000, latency_jitter_s=0.01)
    assert (arrived[:, 0] >= arrived[:, 1]).all()
    assert np.mean(arrived[:, 0] == arrived[:, 1]) == pytest.approx(0.5, abs=0.07)


def test_messages_may_overtake_each_other_and_the_newest_capture_is_read():
    arrived, ticker = messages(200, latency_jitter_s=0.005)
    order = arrived[:, 1]
    assert (np.diff(order) < 0).any()
    assert ticker.read() == order.max()
    assert ticker.arrival_ns >= ticker.read()


def test_message_errors_are_the_seeds():
    once, again = (messages(100, loss=0.2, latency_jitter_s=0.003)[0] for _ in range(2))
    assert np.array_equal(once, again)
    assert not np.array_equal(messages(100, loss=0.2)[0], messages(100, seed=1, loss=0.2)[0])
