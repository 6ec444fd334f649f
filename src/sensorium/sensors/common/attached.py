"""The live handle of a sensor: readings as they arrive."""

import heapq
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import ns_to_seconds, seconds_to_ns
from sensorium.core.errors import NoReadingError, SpecError
from sensorium.corruption import FaultClock
from sensorium.corruption.engine.white_scale import WhiteScale
from sensorium.random import Stream
from sensorium.sensors.common.spec import Capture, Rig, SensorModel, SensorSpec

R = TypeVar("R")

# Stages of the counter for losses and delays of messages
_DELAY, _LOSS = 1, 2

# When a sensor is due that rests for good, and one that is to be looked at with the next step [ns]
_NEVER, _AT_ONCE = 2**63 - 1, -(2**63)


@dataclass(frozen=True, slots=True)
class Arrival(Generic[R]):
    """A reading that arrived, with the truth that belongs to it."""

    arrival_ns: int
    """When it arrived [ns]."""
    reading: R
    truth: Callable[[], R]
    """Computes the reading without corruption, when it is requested."""


class AttachedSensor(Generic[R]):
    """A sensor attached to an environment; made by `Environment.attach`."""

    def __init__(self, spec: SensorSpec[R], rig: Rig) -> None:
        # A copy, checked once more: edits of parts cannot see the whole
        self._spec = type(spec).model_validate(spec.model_dump())
        self.name = rig.name
        self.faults: FaultClock = self._spec.faults.begin(
            rig.worlds, rig.sensors, seed=rig.seed, name=rig.name, first_world=rig.first_world
        )
        """Which faults are active, and the log of those that were."""
        rig = replace(rig, timing=self._spec.timing.errors(), faults=self.faults if self._spec.faults.faults else None)
        self.rig = rig
        self._model: SensorModel[R] = self._spec.start(rig)
        program = getattr(self._model, "program", None)
        white = None if program is None else WhiteScale(program)
        self._white = white if white is not None and white.acts else None
        errors = rig.timing
        self._at_once = rig.faults is None and not (errors.delay_s or errors.jitter_s or errors.loss)
        self._messages = Stream(rig.seed, f"{rig.name}/timing")
        self._since_ns: int | None = rig.history.newest.time_ns
        self._due_ns = _AT_ONCE
        self._on_its_way: list[tuple[int, int, Capture[R]]] = []
        self._sent = 0
        self._arrived: list[tuple[int, Capture[R]]] = []
        self._last: tuple[int, Capture[R]] | None = None

    def __repr__(self) -> str:
        state = "" if self.enabled else ", switched off"
        count = f", {self.rig.sensors} of a kind" if self.rig.sensor_axis else ""
        return f"AttachedSensor({self.name!r}, {type(self._spec).__name__}{count}{state})"

    @property
    def spec(self) -> SensorSpec[R]:
        """A copy of the specification as attached; changes to it have no effect on the running sensor."""
        return self._spec.model_copy(deep=True)

    @property
    def enabled(self) -> bool:
        """Whether the sensor measures. Switched off, it costs nothing; switched on, it begins with its next tick."""
        return self._since_ns is not None

    @enabled.setter
    def enabled(self, on: bool) -> None:
        if on and self._since_ns is None:
            self._since_ns, self._due_ns = self.rig.history.newest.time_ns, _AT_ONCE
        elif not on:
            self._since_ns, self._due_ns = None, _NEVER
            self._on_its_way.clear()
            self._arrived = []

    @property
    def white_noise_scale(self) -> float | None:
        """Factor on the white noise of its chain of errors; None for a sensor that has none.

        It may be set between steps, and takes effect with the next sample. Noise that a model applies outside of such a
        chain, as a lidar's `noise` and a camera's pixels have it, cannot be changed while a sensor runs.
        """
        return None if self._white is None else self._white.factor

    @white_noise_scale.setter
    def white_noise_scale(self, factor: float) -> None:
        if self._white is None:
            raise SpecError(f"sensor {self.name!r} has no white noise in a chain of errors; there is none to scale")
        self._white.factor = factor

    @property
    def fresh(self) -> bool:
        """Whether a new reading arrived in the last step."""
        return bool(self._arrived)

    @property
    def arrival_ns(self) -> int:
        """Arrival time of the reading that `read()` returns [ns]."""
        return self._newest()[0]

    def read(self) -> R:
        """The newest reading that has arrived: of those, the last that was captured."""
        return self._newest()[1].reading

    def truth(self) -> R:
        """The reading of `read()` without corruption: for ray sensors the first geometric hit of each ray."""
        return self._newest()[1].truth()

    def readings(self) -> list[R]:
        """All readings that arrived in the last step, in the order they arrived."""
        return [capture.reading for _, capture in self._arrived]

    def arrivals(self) -> list[Arrival[R]]:
        """The same readings, each with its time of arrival and its truth, in the order they arrived."""
        return [Arrival(arrival_ns, capture.reading, capture.truth) for arrival_ns, capture in self._arrived]

    def advance(self, after_ns: int, upto_ns: int) -> int:
        """Measure and deliver readings that are due; called by the environment.

        Returns:
            The oldest time that this sensor may still read from the history [ns].
        """
        if self._arrived:
            self._arrived = []
        if upto_ns >= self._due_ns:
            self._work(after_ns, upto_ns)
        return upto_ns if self._since_ns is None else self._model.needs_from_ns(upto_ns)

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds' state; readings on their way are void there. The environment calls this."""
        self._model.reset(mask)
        if self.rig.faults is not None:
            self.faults.reset(mask, self.rig.history.newest.time_ns)
        if not self.rig.world_axis:
            self._on_its_way.clear()
        else:
            self._on_its_way = [(at, n, capture.without(mask)) for at, n, capture in self._on_its_way]

    def _work(self, after_ns: int, upto_ns: int) -> None:
        """Something is due: a reading is to be taken, or one arrives."""
        assert self._since_ns is not None
        model = self._model
        for capture in model.captures(after_ns, upto_ns, self._since_ns):
            if self._at_once:
                self._last = arrival = capture.time_ns, capture
                self._arrived.append(arrival)
            else:
                self._send(capture)
        self._due_ns = model.due_ns(upto_ns)
        if self._on_its_way:
            self._receive(upto_ns)

    def _receive(self, upto_ns: int) -> None:
        """Deliver the pending readings that arrive now."""
        while self._on_its_way and self._on_its_way[0][0] <= upto_ns:
            arrival_ns, _, capture = heapq.heappop(self._on_its_way)
            self._deliver(arrival_ns, capture)
        if self._on_its_way:
            self._due_ns = min(self._due_ns, self._on_its_way[0][0])

    def _send(self, capture: Capture[R]) -> None:
        """Queue a reading unless it is lost; it cannot arrive before it was captured."""
        errors = self.rig.timing_errors(capture.time_ns)
        if errors.loss and self._messages.uniform(_LOSS, 0, capture.tick, elements=1)[0, 0] < errors.loss:
            return
        delay_s = errors.delay_s
        if errors.jitter_s:
            delay_s += errors.jitter_s * float(self._messages.normal(_DELAY, 0, capture.tick, elements=1)[0, 0])
        delay_ns = seconds_to_ns(max(0.0, delay_s)) if delay_s else 0
        heapq.heappush(self._on_its_way, (capture.time_ns + delay_ns, self._sent, capture))
        self._sent += 1

    def _deliver(self, arrival_ns: int, capture: Capture[R]) -> None:
        """A reading has arrived; one captured before the newest delivered reading does not replace it."""
        arrival = arrival_ns, capture
        self._arrived.append(arrival)
        if self._last is None or capture.time_ns >= self._last[1].time_ns:
            self._last = arrival

    def _newest(self) -> tuple[int, Capture[R]]:
        if self._last is None:
            raise NoReadingError(f"sensor {self.name!r} has no reading yet; {self._when_first()}")
        return self._last

    def _when_first(self) -> str:
        """Earliest time at which the first reading can arrive, as far as the model can say."""
        now_ns, errors = self.rig.history.newest.time_ns, self.rig.timing
        if not self.enabled:
            return "it is switched off"
        if self._on_its_way:
            due_ns = self._on_its_way[0][0]
        else:
            # A delay that varies may be shorter: then only the end of the capture is certain
            due_ns = self._model.due_ns(now_ns) + seconds_to_ns(0.0 if errors.jitter_s else errors.delay_s)
        # Models may learn with their first step when they are due, and some are with every step
        when = "with the next step" if due_ns <= now_ns + 1 else f"at {ns_to_seconds(due_ns):.9g} s"
        return f"its first is due {when} at the earliest, and it is {ns_to_seconds(now_ns):.9g} s now"
