"""Steps of a run given to sinks, which are closed whatever happens."""

import pytest

import sensorium as sn
from sensorium.core.errors import SpecError


class Sink:
    def __init__(self, name="plain", dropped=0):
        self.name, self.dropped = name, dropped
        self.events, self.times_ns, self.messages = [], [], []

    def open(self, env, clock):
        self.events.append("open")
        self.env, self.clock = env, clock

    def send(self, step):
        self.times_ns.append(step.time_ns)
        self.messages.append(step.messages)

    def close(self):
        self.events.append("close")

    def state(self):
        return sn.live.SinkState(self.name, len(self.times_ns), self.dropped)


def environment():
    env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    env.attach(sn.Gyroscope(timing=sn.Timing(rate_hz=100.0)), name="gyro")
    return env


def test_every_step_reaches_every_sink_before_the_loop_body_and_messages_are_shared():
    one, other, env = Sink(), Sink(), environment()
    for number, _ in enumerate(env.run(0.1, live=[one, other])):
        assert len(one.times_ns) == len(other.times_ns) == number + 1
    assert one.times_ns == other.times_ns == [10_000_000 * k for k in range(1, 11)]
    assert all(mine is its for mine, its in zip(one.messages, other.messages, strict=True))
    assert one.events == ["open", "close"]
    assert one.env is env
    assert one.clock is other.clock


def test_nothing_is_opened_before_the_first_step():
    sink = Sink()
    run = environment().run(0.1, live=[sink])
    assert sink.events == []
    run.close()


@pytest.mark.parametrize("how", ["break", "error", "close"])
def test_sinks_are_closed_when_a_run_ends_early(how):
    sink = Sink()
    run = environment().run(1.0, live=[sink])
    if how == "error":
        with pytest.raises(ZeroDivisionError):  # noqa: PT012 - the loop is the test
            for _ in run:
                1 / 0  # noqa: B018
        run.close()
    elif how == "break":
        for _ in run:
            break
        run.close()
    else:
        next(run)
        run.close()
    assert sink.events == ["open", "close"]


def test_sinks_that_were_opened_are_closed_when_another_cannot_be():
    class Broken(Sink):
        def open(self, env, clock):
            raise SpecError("port 1 is taken")

    sink = Sink()
    with pytest.raises(SpecError, match="port 1"):
        environment().run(1.0, live=[sink, Broken()]).finish()
    assert sink.events == ["open", "close"]


def test_what_was_dropped_is_said_at_the_end():
    with pytest.warns(RuntimeWarning, match="live sink lossy: 10 sent, 7 dropped"):
        environment().run(0.1, live=[Sink("lossy", dropped=7)]).finish()


@pytest.mark.parametrize(
    ("live", "message"),
    [
        ("foxglove", "live is the string 'foxglove'"),
        (["foxgloves"], r"live sink is 'foxgloves'; it must be one of .*did you mean 'foxglove'"),
        ([3], "live has 3"),
    ],
)
def test_what_is_no_sink_is_refused_at_once(live, message):
    with pytest.raises(SpecError, match=message):
        environment().run(1.0, live=live)


def test_a_sink_may_stop_the_run():
    class Stops(Sink):
        def send(self, step):
            super().send(step)
            if len(self.times_ns) == 3:
                self.clock.stop()

    sink = Stops()
    environment().run(1.0, live=[sink]).finish()
    assert len(sink.times_ns) == 3
