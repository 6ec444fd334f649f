"""The sinks and the clock of a scenario's run."""

from typing import Any

from sensorium.environment import Environment
from sensorium.live.options import LiveOptions
from sensorium.live.sink import LiveSink, SinkState
from sensorium.pacing import RunClock
from sensorium.runtime.interrupts import InterruptsWait
from sensorium.stepping import SteppedRun


class LiveRun:
    """What a run sends while it goes on; without a `live:` section nothing, as fast as possible.

    Attributes:
        clock: Controls the run; None if it has no `live:` section.
        sinks: Open while the run goes on.
    """

    def __init__(self, options: LiveOptions | None) -> None:
        """Make the sinks; nothing is opened yet."""
        self.clock: RunClock | None = None if options is None else options.clock()
        self.sinks: list[LiveSink] = [] if options is None else options.sinks()

    def steps(self, env: Environment, duration_s: float, stop: InterruptsWait) -> SteppedRun:
        """Steps of the run, which also end when a signal has come."""
        if self.clock is None:
            return env.run(duration_s)
        self.clock.stop_when(lambda: bool(stop.pressed))
        return env.run(duration_s, realtime=self.clock, live=self.sinks)

    def states(self) -> list[SinkState]:
        """Counts of all sinks."""
        return [sink.state() for sink in self.sinks]

    def figures(self) -> dict[str, Any]:
        """Counts of all sinks, and how far the run was behind its pace at most [s], for its manifest."""
        if self.clock is None:
            return {}
        counts = {state.name: {"sent": state.sent, "dropped": state.dropped} for state in self.states()}
        return {"live": {"most_behind_s": round(self.clock.most_behind_s, 3), "sinks": counts}}
