"""The steps of a run, each given to live sinks."""

import warnings
from collections.abc import Generator, Sequence
from contextlib import ExitStack

from sensorium.environment import Environment
from sensorium.live.sink import LiveSink
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock
from sensorium.record.ros2.step_messages import StepMessages, share
from sensorium.runtime.interrupts import TerminationExits


def sent_steps(
    env: Environment, steps: Generator[None], sinks: Sequence[LiveSink], clock: RunClock
) -> Generator[None]:
    """Steps of an environment, each given to sinks; a RuntimeWarning at the end says what a sink dropped.

    Sinks are opened before the first step, and closed when the steps end, or are dropped, or raise. SIGTERM without a
    handler raises SystemExit(143), so that they are closed then too.

    Args:
        env: The environment.
        steps: Its steps.
        sinks: Not yet open; all messages that they send are made once, for the recorders of the loop too.
        clock: Controls the run.
    """
    with ExitStack() as stack:
        stack.enter_context(TerminationExits())
        stack.callback(share, env, False)
        share(env, True)
        for sink in sinks:
            sink.open(env, clock)
            stack.callback(_close, sink)
        maker = StepMessages()
        for _ in steps:
            step = LiveStep(env, maker)
            for sink in sinks:
                sink.send(step)
            yield


def _close(sink: LiveSink) -> None:
    sink.close()
    state = sink.state()
    if state.dropped or state.error:
        warnings.warn(f"live sink {state}", RuntimeWarning, stacklevel=2)
