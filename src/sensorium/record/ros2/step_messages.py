"""The messages of one step of an environment, as recorders and live sinks both need them."""

import warnings
from collections import Counter
from collections.abc import Callable
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.corruption.faults.log import FaultWatch
from sensorium.environment import Environment
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message, Source, world_prefix
from sensorium.record.ros2.readings import Messages, messages_function
from sensorium.record.ros2.run_topics import clock, fault_status, mounts, transforms
from sensorium.sensors.common.attached import Arrival, AttachedSensor
from sensorium.sensors.lidar.scan import Scan


class StepMessage:
    """One message of a step.

    Attributes:
        topic: Its topic.
        message: The message, before it is encoded.
        log_ns: When it arrived, in simulated time [ns].
    """

    __slots__ = ("_cdr", "_lock", "log_ns", "message", "topic")

    def __init__(self, topic: str, message: Message, log_ns: int) -> None:
        self.topic, self.message, self.log_ns = topic, message, log_ns
        self._cdr: bytes | None = None
        self._lock = Lock()

    def cdr(self) -> bytes:
        """The message as CDR with its header of 4 bytes, encoded once for all callers; on any thread."""
        with self._lock:
            if self._cdr is None:
                self._cdr = cdr.encoded(self.message)
            return self._cdr


class StepMessages:
    """Makes the messages of the steps of an environment; each recorder, or run with live sinks, has its own.

    The first call adds the mounts of all sensors and the active faults; later calls add what is new. In an environment
    whose messages are shared (`share`), a message that another one made of the same reading is returned again.
    """

    def __init__(self, *, clouds_every: int = 1) -> None:
        """Begin.

        Args:
            clouds_every: The first scan of a lidar becomes messages, and then every n-th.
        """
        self._clouds_every, self._clouds = clouds_every, Counter[str]()
        self._sources: dict[str, Source] = {}
        self._claimed: dict[str, str] = {}
        self._faults_seen: dict[str, FaultWatch] = {}
        self._messages: dict[str, Messages | None] = {}

    def of(self, env: Environment) -> list[StepMessage]:
        """Messages of the last step: time, bodies, new mounts, changes of faults, then readings as they arrived."""
        now_ns, shared = env.time_ns, _shared.get(env)
        messages = [StepMessage("/clock", clock(now_ns), now_ns)]

        # Bodies before their sensors, for readers that build the tree of frames as they come
        if env.world.body_names:
            state = env.state
            messages += _once(shared, "/tf", state, lambda: [StepMessage("/tf", _bodies(env, state.X_WB), now_ns)])
        readings: list[StepMessage] = []
        for sensor in env.sensors.values():
            if sensor.name not in self._sources:
                source = Source.of(sensor, env.world.body_names, env.world.joint_names)
                for row in range(len(source.frames)):
                    self._claim(source.topic(row, ""), sensor.name)
                self._sources[sensor.name] = source
                if source.has_place:
                    messages.append(StepMessage("/tf_static", mounts(source, now_ns), now_ns))
            arrivals = sensor.arrivals()
            if arrivals and sensor.name not in self._messages:
                self._messages[sensor.name] = self._made_by(arrivals[0].reading, self._sources[sensor.name])
            if arrivals and self._messages[sensor.name] is None:
                continue
            for number, arrival in enumerate(arrivals):
                if isinstance(arrival.reading, Scan):
                    self._clouds[sensor.name] += 1
                    if (self._clouds[sensor.name] - 1) % self._clouds_every:
                        continue
                readings += self._of_reading(sensor.name, number, arrival, shared)
            messages += [StepMessage("/diagnostics", status, now_ns) for status in self._faults(env, sensor)]
        return messages + readings

    def _of_reading(
        self, name: str, number: int, arrival: Arrival[Any], shared: "_Shared | None"
    ) -> list[StepMessage]:
        """Messages of the number-th reading that arrived from a sensor."""
        source, made_by = self._sources[name], self._messages[name]
        assert made_by is not None

        def make() -> list[StepMessage]:
            found = made_by(arrival.reading, source)
            return [StepMessage(source.topic(row, end), message, arrival.arrival_ns) for row, end, message in found]

        messages = _once(shared, f"{name} {number}", arrival.reading, make)
        for one in messages:
            self._claim(one.topic, name)
        return messages

    def _faults(self, env: Environment, sensor: AttachedSensor[Any]) -> list[Message]:
        """Faults that set in or were over since the last step; at first, those that are active as well."""
        watch = self._faults_seen.setdefault(sensor.name, FaultWatch(env.step_from_ns))
        return [fault_status(sensor.name, event, env.time_ns) for event in watch.changes(sensor.faults.log)]

    def _claim(self, topic: str, sensor: str) -> None:
        """Raise unless a topic, or the prefix of a sensor's topics, belongs to that sensor alone."""
        other = self._claimed.setdefault(topic, sensor)
        if other != sensor:
            raise SpecError(
                f"sensors {other!r} and {sensor!r} would both be recorded as {topic}; their names must differ in "
                "letters, digits or underscores, which topics of ROS 2 are made of"
            )

    def _made_by(self, reading: Any, source: Source) -> Messages | None:
        """What makes messages of a sensor's readings; None, with a warning, if nothing does."""
        function = messages_function(reading, source)
        if function is None:
            kind = type(reading).__name__
            warnings.warn(f"sensor {source.name!r} is not recorded: no message stands for its {kind}", stacklevel=5)
        return function


# --- sharing between recorders and sinks ----------------------------------------------------------------------------

# Messages of the last step by key, each with the reading or state that they were made of
_Shared = dict[str, tuple[object, list[StepMessage]]]
_shared: WeakKeyDictionary[Environment, _Shared] = WeakKeyDictionary()


def share(env: Environment, on: bool) -> None:
    """Keep the messages of an environment's last step for others that want them, or keep none.

    Kept messages hold their readings until the next step's are made, so a single recorder does better without.
    """
    if on:
        _shared.setdefault(env, {})
    else:
        _shared.pop(env, None)


def _once(shared: _Shared | None, key: str, source: object, make: Callable[[], list[StepMessage]]) -> list[StepMessage]:
    """Messages made of a source, or those that were made of this very object before."""
    if shared is None:
        return make()
    kept = shared.get(key)
    if kept is None or kept[0] is not source:
        kept = shared[key] = source, make()
    return kept[1]


def _bodies(env: Environment, X_WB: Pose) -> Message:
    """Poses of all bodies of all worlds."""
    worlds, names = X_WB.shape[0], env.world.body_names
    prefixes = [world_prefix(env, world) for world in range(worlds)]
    parents = [f"{prefix}world" for prefix in prefixes for _ in names]
    return transforms(X_WB.reshape(-1), parents, [prefix + name for prefix in prefixes for name in names], env.time_ns)
