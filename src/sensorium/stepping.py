"""A run of an environment as a loop goes through it, step by step, and its observers."""

import os
import sys
import warnings
from collections.abc import Generator, Iterator, Sequence
from typing import Any, Protocol

import numpy as np

from sensorium.core.clock import seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.pacing import RunClock, clock_of

_END = object()


class SteppedRun(Iterator[None]):
    """Steps of a run; each turn of a `for` loop takes one, and `finish()` takes all that are left.

    A run that is dropped before its first step did nothing, and warns of it (RuntimeWarning), as Python does of a
    coroutine that is never awaited.
    """

    def __init__(self, steps: Generator[None], call: str) -> None:
        """Take the steps.

        Args:
            steps: Takes one step at each turn; files that it opened are closed when it ends or is dropped.
            call: The call that began the run, for the warning.
        """
        self._steps, self._call = steps, call
        self._begun = False

    def __next__(self) -> None:
        """Take one step."""
        self._begun = True
        next(self._steps)

    def finish(self) -> None:
        """Take all steps that are left."""
        for _ in self:
            pass

    def close(self) -> None:
        """End the run now; its viewer is closed."""
        self._begun = True
        self._steps.close()

    def __del__(self) -> None:
        """Warn of a run that never began."""
        if not self._begun and not sys.is_finalizing():
            warnings.warn(
                f"{self._call} was never iterated, so it did nothing; loop over it, or call its finish()",
                RuntimeWarning,
                stacklevel=2,
            )


class StepObserver(Protocol):
    """An observer of a run, such as `sn.view.Live` and `sn.view.Report`."""

    def record(self, env: Any) -> None:
        """Record the last step of an `Environment`."""

    def close(self) -> None:
        """End the record: the run is over."""


def observed(
    env: Any,
    steps: Generator[None],
    *,
    realtime: bool | float | RunClock,
    view: bool | str | os.PathLike[str] | StepObserver,
    live: Sequence[Any],
) -> Generator[None]:
    """Steps of an environment at a pace, each given to live sinks and to an observer, which are closed at the end.

    Arguments are checked at once.

    Args:
        env: The `Environment`.
        steps: Its steps.
        realtime: The pace, see `Environment.run`.
        view: The observer, see there.
        live: The sinks, see there.
    """
    clock = clock_of(realtime)
    check_view(view)
    sinks = _live_sinks(live)
    if realtime is not False or sinks:
        steps = _paced(env, steps, clock)
    if sinks:
        from sensorium.live.sending import sent_steps

        steps = sent_steps(env, steps, sinks, clock)
    return _shown(env, steps, view)


def _paced(env: Any, steps: Generator[None], clock: RunClock) -> Generator[None]:
    clock.begin(env.time_ns, env.reset)
    while clock.wait_for_step():
        if next(steps, _END) is _END:
            return
        clock.pace(env.time_ns)
        yield


def _shown(env: Any, steps: Generator[None], view: bool | str | os.PathLike[str] | StepObserver) -> Generator[None]:
    observer = _observer(view)
    try:
        for _ in steps:
            if observer is not None:
                observer.record(env)
            yield
    finally:
        steps.close()
        if observer is not None:
            observer.close()


def _live_sinks(live: Sequence[Any]) -> list[Any]:
    """The sinks of a run, of which some may be given by name (`sn.live`); nothing is opened."""
    if isinstance(live, str):
        raise SpecError(f"live is the string {live!r}; it must be a sequence, such as [{live!r}]")
    if not live:
        return []
    # Against the order of the layers, as the viewer below: sinks make messages of the environment's readings
    from sensorium.live.opening import named_sinks

    return named_sinks(live)


def checked_duration_ns(duration_s: float) -> int:
    """How long a run is to be [ns], a positive number of seconds."""
    if isinstance(duration_s, bool) or not isinstance(duration_s, int | float | np.integer | np.floating):
        raise SpecError(f"duration_s is {duration_s!r}; it must be a number of seconds")
    if not duration_s > 0:
        raise SpecError(f"duration_s is {duration_s}; it must be positive")
    return seconds_to_ns(float(duration_s))


def check_view(view: object) -> None:
    """Raise an error for what cannot observe a run; nothing is opened."""
    if view is True or isinstance(view, str | os.PathLike):
        from sensorium.view.viewer.live import Live

        Live.check(None if view is True else view)
    elif view is not False and not all(callable(getattr(view, name, None)) for name in ("record", "close")):
        raise SpecError(f"view is {view!r}; it must be True, False, a path, or have record(env) and close()")


def _observer(view: bool | str | os.PathLike[str] | StepObserver) -> StepObserver | None:
    """The observer of a run: none, a viewer, a file, or what was given."""
    if view is False:
        return None
    if view is True or isinstance(view, str | os.PathLike):
        # Against the order of the layers: a user who asks for a viewer need not name one
        from sensorium.view.viewer.live import Live

        return Live(None if view is True else view)
    return view
