"""The base of talkers: readings of some sensors, encoded, leave at their own times through one port."""

import abc
import threading
import time
from collections.abc import Iterable
from typing import Any, NamedTuple

from sensorium.environment import Environment
from sensorium.live.sink import Item, QueuedSink, SinkState
from sensorium.live.step import LiveStep
from sensorium.live.talkers.departures import Departures
from sensorium.live.talkers.ports import Port
from sensorium.pacing import RunClock

_QUEUE_ITEMS, _QUEUE_BYTES = 8192, 4 << 20
_MESSAGE_BYTES = 256  # a rough size for the queue, before the message is encoded


class Timed(NamedTuple):
    """A reading on its way to the port.

    Attributes:
        due_s: When it leaves, by the monotonic clock [s].
        sensor: Name of its sensor.
        reading: The reading.
        is_last: Whether the receiver answers it before the run's next step, in lockstep.
    """

    due_s: float
    sensor: str
    reading: Any
    is_last: bool = False


class Talker(QueuedSink):
    """A sink that sends each reading of its sensors as a device would.

    Readings leave at their own times, not in one burst at the end of a step (`Departures`). A subclass gives names of
    sensors in `_choose`, and messages in `_encode`.
    """

    def __init__(self, port: Port) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(queue_items=_QUEUE_ITEMS, queue_bytes=_QUEUE_BYTES)
        self.port = port
        self._ending = threading.Event()
        self._departures = Departures()
        self._sensors: tuple[str, ...] = ()
        self._clock: RunClock | None = None

    # --- for subclasses ---------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _choose(self, env: Environment) -> tuple[str, ...]:
        """Names of the sensors whose readings are sent; an error names what is missing."""

    @abc.abstractmethod
    def _encode(self, sensor: str, reading: Any) -> Iterable[bytes]:
        """The messages of a reading; on the sink's thread."""

    def _receive(self, chunk: bytes) -> None:
        """Take bytes that came back; on the sink's thread. Serial devices here ignore commands."""

    # --- QueuedSink -------------------------------------------------------------------------------------------------

    def close(self) -> None:
        """Send what is queued without waiting for its time, and close the port."""
        self._ending.set()
        super().close()

    def state(self) -> SinkState:
        """Counts so far; with messages that the port's readers did not take."""
        state = super().state()
        return SinkState(state.name, state.sent, state.dropped + self.port.dropped, state.receivers, state.error)

    def _open(self, env: Environment, clock: RunClock) -> None:
        self._sensors, self._clock = self._choose(env), clock
        self.port.open()
        self.hint = self.port.address

    def _prepare(self, step: LiveStep) -> Iterable[Item]:
        assert self._clock is not None
        env = step.env
        self._departures.begin_step(time.monotonic(), env.step_from_ns, env.time_ns, self._clock.speed)
        arrived = [(arrival, name) for name in self._sensors for arrival in env.sensors[name].arrivals()]
        for arrival, name in sorted(arrived, key=lambda one: one[0].arrival_ns):
            due_s = self._departures.due_s(arrival.arrival_ns)
            yield Item(Timed(due_s, name, arrival.reading), _MESSAGE_BYTES)

    def _deliver(self, payload: Timed) -> int:
        delay_s = payload.due_s - time.monotonic()
        if delay_s > 0:
            self._ending.wait(delay_s)
        sent = 0
        for message in self._encode(payload.sensor, payload.reading):
            self.port.write(message)
            sent += 1
        for chunk in self.port.read():
            self._receive(chunk)
        return sent

    def _receivers(self) -> int | None:
        return self.port.readers

    def _close(self) -> None:
        self.port.close()
