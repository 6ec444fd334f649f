"""The pace of a run: real time or a multiple of it, pause, single steps, and calls between two steps."""

import time
from collections import deque
from collections.abc import Callable
from math import isfinite
from threading import Condition

import numpy as np

from sensorium.core.clock import ns_to_seconds
from sensorium.core.errors import SpecError

# While a run waits it looks this often whether a signal has come [s]
_LOOK_EVERY_S = 0.05


class RunClock:
    """Controls a run from any thread: pace, pause, single steps, reset, and functions called between two steps.

    With a speed, a step that ends at the simulated time t ends at the wall-clock time t0 + t / speed or later. A run
    that fell behind steps without waiting until it has caught up, so that the average rate is kept; `behind_s` says how
    far behind it is. A pause, a reset or another speed begins a new count of time.

    >>> clock = sn.live.RunClock(speed=4.0)
    >>> env = sn.Environment(sn.Scene(), sn.worlds.Static(step_s=0.01))
    >>> env.run(duration_s=0.2, realtime=clock).finish()
    >>> clock.speed, clock.paused
    (4.0, False)
    """

    def __init__(self, speed: float | None = None, *, paused: bool = False) -> None:
        """Make one.

        Args:
            speed: Simulated over real time; None steps as fast as possible.
            paused: Whether the run begins paused.
        """
        self._changed = Condition()
        self._speed = _checked(speed)
        self._paused, self._single_steps, self._stopped = paused, 0, False
        self._stop_when: Callable[[], bool] = lambda: False
        self._calls: deque[Callable[[], object]] = deque()
        self._reset: Callable[[], object] | None = None
        self._now_ns = 0
        self._anchor: tuple[int, float] | None = None  # simulated [ns] and real time [s] that pacing counts from
        self._behind_s = self._most_behind_s = 0.0

    # --- from any thread --------------------------------------------------------------------------------------------

    @property
    def speed(self) -> float | None:
        """Simulated over real time; None steps as fast as possible."""
        return self._speed

    @speed.setter
    def speed(self, speed: float | None) -> None:
        with self._changed:
            self._speed, self._anchor = _checked(speed), None
            self._changed.notify_all()

    @property
    def paused(self) -> bool:
        """Whether the run is paused."""
        return self._paused

    @property
    def time_ns(self) -> int:
        """Simulated time at the end of the last step [ns]."""
        return self._now_ns

    @property
    def behind_s(self) -> float:
        """How much later than planned the last step ended, in real time [s]; 0 without a speed."""
        return self._behind_s

    @property
    def most_behind_s(self) -> float:
        """The most that `behind_s` has been in this run [s]."""
        return self._most_behind_s

    def pause(self) -> None:
        """Take no further step until `resume` or `single_step`."""
        with self._changed:
            self._paused = True
            self._changed.notify_all()

    def resume(self) -> None:
        """Go on after a pause."""
        with self._changed:
            self._paused, self._single_steps, self._anchor = False, 0, None
            self._changed.notify_all()

    def single_step(self, steps: int = 1) -> None:
        """Pause, if the run is not paused yet, and take some steps."""
        if isinstance(steps, bool) or not isinstance(steps, int) or steps < 1:
            raise SpecError(f"steps is {steps!r}; it must be a whole number of at least 1")
        with self._changed:
            self._paused = True
            self._single_steps += steps
            self._changed.notify_all()

    def reset(self) -> None:
        """Restart all worlds before the next step; simulated time goes on (`Environment.reset`)."""
        self.call(self._do_reset)

    def stop(self) -> None:
        """End the run before its next step."""
        with self._changed:
            self._stopped = True
            self._changed.notify_all()

    def stop_when(self, condition: Callable[[], bool]) -> None:
        """End the run before its next step when this is true; a run that waits looks 20 times a second."""
        self._stop_when = condition

    def call(self, function: Callable[[], object]) -> None:
        """Call a function on the thread of the run before the next step, also while the run is paused.

        Worlds, sensors and faults may be changed there only.
        """
        with self._changed:
            self._calls.append(function)
            self._changed.notify_all()

    # --- on the thread of the run -----------------------------------------------------------------------------------

    def begin(self, time_ns: int, reset: Callable[[], object]) -> None:
        """A run begins.

        Args:
            time_ns: Its simulated time [ns].
            reset: Restarts all worlds.
        """
        with self._changed:
            self._reset, self._now_ns, self._anchor = reset, time_ns, None
            self._stopped, self._behind_s, self._most_behind_s = False, 0.0, 0.0

    def wait_for_step(self) -> bool:
        """Wait until the next step may be taken, and do what is to be done before it; False ends the run."""
        while True:
            with self._changed:
                calls, self._calls = self._calls, deque()
            for function in calls:
                function()
            with self._changed:
                if self._ends():
                    return False
                if self._calls:
                    continue
                if not self._paused:
                    break
                if self._single_steps:
                    self._single_steps -= 1
                    return True
                self._changed.wait(_LOOK_EVERY_S)
        with self._changed:
            if self._anchor is None:
                self._anchor = self._now_ns, time.perf_counter()
        return True

    def pace(self, time_ns: int) -> None:
        """A step has ended at this simulated time [ns]: wait until real time has caught up."""
        with self._changed:
            self._now_ns = time_ns
            while self._speed is not None and self._anchor is not None:
                from_ns, from_s = self._anchor
                ahead_s = from_s + ns_to_seconds(time_ns - from_ns) / self._speed - time.perf_counter()
                self._behind_s = max(0.0, -ahead_s)
                self._most_behind_s = max(self._most_behind_s, self._behind_s)
                if ahead_s <= 0 or self._paused or self._ends():
                    break
                self._changed.wait(min(ahead_s, _LOOK_EVERY_S))

    def _ends(self) -> bool:
        return self._stopped or self._stop_when()

    def _do_reset(self) -> None:
        if self._reset is not None:
            self._reset()
        with self._changed:
            self._anchor = None


def clock_of(realtime: "bool | float | RunClock") -> RunClock:
    """The clock of a run: `True` is real time, a number a multiple of it, `False` as fast as possible."""
    if isinstance(realtime, RunClock):
        return realtime
    if isinstance(realtime, bool | np.bool_):
        return RunClock(1.0 if realtime else None)
    if not _is_speed(realtime):
        raise SpecError(f"realtime is {realtime!r}; it must be True, False, a positive number or a RunClock")
    return RunClock(realtime)


def _checked(speed: float | None) -> float | None:
    if speed is not None and not _is_speed(speed):
        raise SpecError(f"speed is {speed!r}; it must be None or a positive number")
    return None if speed is None else float(speed)


def _is_speed(value: object) -> bool:
    is_number = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return is_number and isfinite(value) and value > 0  # type: ignore[arg-type, operator]
