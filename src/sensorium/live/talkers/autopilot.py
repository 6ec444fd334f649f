"""The base of sinks for autopilots: messages out, commands in, in lockstep or not."""

import math
import threading
import time
from collections.abc import Iterable
from functools import partial

from sensorium.environment import Environment
from sensorium.live.sink import Item
from sensorium.live.step import LiveStep
from sensorium.live.talkers.controls import Controls, Handler, handler_of
from sensorium.live.talkers.options import AutopilotOptions
from sensorium.live.talkers.ports import Port
from sensorium.live.talkers.talker import Talker, Timed
from sensorium.pacing import RunClock

LOCKSTEP_S = 0.2
"""Longest wait for an answer in lockstep [s]."""


class Autopilot(Talker):
    """A talker whose receiver answers with commands.

    A command is applied on the thread of the run before its next step: to actuators or a body as the options say, and
    by `on_controls`, a function of (env, controls), where one is set. In lockstep, messages leave at once, and `send`
    returns when the answer to the last inertial message of the step has come, or after 0.2 s; then the run goes on at
    its own pace until a command comes again, so that an autopilot that ends stops nothing.
    """

    def __init__(self, options: AutopilotOptions, port: Port) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(port)
        self._autopilot = options
        self.on_controls: Handler | None = None
        self._handler: Handler | None = None
        self._env: Environment | None = None
        self._imu = ""
        self.commands = 0
        """Number of commands received."""
        self._is_locked = False
        self._is_last_sent, self._is_answered = threading.Event(), threading.Event()

    # --- QueuedSink -------------------------------------------------------------------------------------------------

    def send(self, step: LiveStep) -> None:
        """Queue the messages of a step; in lockstep, wait for the answer."""
        self._is_last_sent.clear()
        super().send(step)
        if self._is_locked and not self._is_last_sent.wait(2.0 * LOCKSTEP_S):
            self._is_locked = False

    def _open(self, env: Environment, clock: RunClock) -> None:
        self._env = env
        self._handler = handler_of(env, self._autopilot.control, talker=self.name)
        super()._open(env, clock)

    def _prepare(self, step: LiveStep) -> Iterable[Item]:
        items = list(super()._prepare(step))
        inertial = [i for i, item in enumerate(items) if item.payload.sensor == self._imu]
        if inertial:
            last = items[inertial[-1]]
            items[inertial[-1]] = Item(last.payload._replace(is_last=True), last.nbytes)
        else:
            self._is_last_sent.set()  # nothing that is answered
        return items

    def _deliver(self, payload: Timed) -> int:
        if not self._is_locked:
            sent = super()._deliver(payload)
        else:
            self._take_commands()
            self._is_answered.clear()
            sent = super()._deliver(payload._replace(due_s=-math.inf))
            if payload.is_last:
                self._is_locked = self._await_answer()
        if payload.is_last:
            self._is_last_sent.set()
        return sent

    # --- commands ---------------------------------------------------------------------------------------------------

    def _command(self, controls: Controls) -> None:
        """A command has come; on the sink's thread."""
        assert self._clock is not None
        self.commands += 1
        self._clock.call(partial(self._apply, controls))
        self._is_answered.set()
        self._is_locked = self._autopilot.lockstep

    def _take_commands(self) -> None:
        for chunk in self.port.read():
            self._receive(chunk)

    def _await_answer(self) -> bool:
        """Read until a command has come, or the time for it is over; whether it came."""
        until_s = time.monotonic() + LOCKSTEP_S
        while not self._is_answered.is_set():
            left_s = until_s - time.monotonic()
            if left_s <= 0 or self._ending.is_set():
                return False
            self.port.wait(min(left_s, 0.05))
            self._take_commands()
        return True

    def _apply(self, controls: Controls) -> None:
        """Apply a command; on the thread of the run."""
        assert self._env is not None
        for handler in (self._handler, self.on_controls):
            if handler is not None:
                handler(self._env, controls)
