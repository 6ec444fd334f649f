"""The live handle of a sensor: readings as they arrive."""

from collections import deque
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import NoReadingError
from sensorium.sensors.rig import Rig
from sensorium.sensors.spec import Capture, SensorModel, SensorSpec

R = TypeVar("R")


class AttachedSensor(Generic[R]):
    """A sensor at work in an environment; made by `Environment.attach`."""

    def __init__(self, spec: SensorSpec[R], rig: Rig) -> None:
        # A copy, checked once more: edits of parts cannot see the whole
        self._spec = type(spec).model_validate(spec.model_dump())
        self.name = rig.name
        self.rig = rig
        self._model: SensorModel[R] = self._spec.start(rig)
        self._latency_ns = self._spec.latency_ns
        self._since_ns: int | None = rig.history.newest.time_ns
        self._on_its_way: deque[Capture[R]] = deque()
        self._arrived: list[Capture[R]] = []
        self._last: Capture[R] | None = None

    @property
    def spec(self) -> SensorSpec[R]:
        """The sensor's specification as it was when attached; a copy, since nothing at work can be changed by it."""
        return self._spec.model_copy(deep=True)

    @property
    def enabled(self) -> bool:
        """Whether the sensor measures. Switched off, it costs nothing; switched on, it begins with its next tick."""
        return self._since_ns is not None

    @enabled.setter
    def enabled(self, on: bool) -> None:
        if on and self._since_ns is None:
            self._since_ns = self.rig.history.newest.time_ns
        elif not on:
            self._since_ns = None
            self._on_its_way.clear()
            self._arrived = []

    @property
    def fresh(self) -> bool:
        """Whether a new reading arrived in the last step."""
        return bool(self._arrived)

    def read(self) -> R:
        """The newest reading that has arrived."""
        return self._newest().reading

    def truth(self) -> R:
        """What `read()` would be without corruption: for ray sensors the first geometric hit of each ray."""
        return self._newest().truth()

    def readings(self) -> list[R]:
        """All readings that arrived in the last step, oldest first."""
        return [capture.reading for capture in self._arrived]

    def advance(self, after_ns: int, upto_ns: int) -> None:
        """Measure what is due and deliver what has arrived; the environment calls this."""
        self._arrived = []
        if self._since_ns is None:
            return
        self._on_its_way.extend(self._model.captures(after_ns, upto_ns, self._since_ns))
        while self._on_its_way and self._on_its_way[0].time_ns + self._latency_ns <= upto_ns:
            self._arrived.append(self._on_its_way.popleft())
        if self._arrived:
            self._last = self._arrived[-1]

    def reset(self, mask: NDArray[np.bool_]) -> None:
        """Restart the masked worlds' state; readings on their way are void there. The environment calls this."""
        self._model.reset(mask)
        if not self.rig.world_axis:
            self._on_its_way.clear()
        else:
            self._on_its_way = deque(self._model.voided(capture, mask) for capture in self._on_its_way)

    def needs_from_ns(self, now_ns: int) -> int:
        """The oldest time this sensor may still ask the history for [ns]."""
        return self._model.needs_from_ns(now_ns) if self.enabled else now_ns

    def _newest(self) -> Capture[R]:
        if self._last is None:
            raise NoReadingError(f"sensor {self.name!r} has no reading yet; its first has not arrived")
        return self._last
