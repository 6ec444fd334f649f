"""What the ROS 2 sinks have in common: which messages go out, with which names and frames, and commands in."""

import abc
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from sensorium.core.clock import NS_PER_S
from sensorium.environment import Environment
from sensorium.live.ros2.commands import Commands
from sensorium.live.ros2.message_types import payload
from sensorium.live.ros2.options import Ros2Options
from sensorium.live.sink import Item, QueuedSink, SinkState
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import Message
from sensorium.record.ros2.run_topics import sensor_statuses
from sensorium.record.ros2.step_messages import StepMessage
from sensorium.worlds.base import World

_STATIC = "/tf_static"
_DESCRIPTION = "/robot_description"
_FRAMES = ("frame_id", "child_frame_id")

# Bytes of a message beside its long part, about
_SHORT_BYTES = 512


class RosSink(QueuedSink):
    """Sends the messages of the MCAP recorder, and takes commands.

    Beside those there are /robot_description, where the world was read from URDF, and once a simulated second the
    state of every sensor with faults on /diagnostics. Mounts are collected: each message on /tf_static has all of them,
    so that a late subscriber needs the last one only. A topic without subscribers costs nothing but the check.
    """

    def __init__(self, options: Ros2Options) -> None:
        """Make one; nothing is opened yet."""
        super().__init__()
        self._options = options
        self._commands: Commands | None = None
        self._mounts: dict[str, Mapping[str, Any]] = {}
        self._description: Message | None = None
        self._status_ns: int | None = None

    # --- for subclasses ---------------------------------------------------------------------------------------------

    @abc.abstractmethod
    def _connect(self, commands: Commands | None) -> None:
        """Open the middleware, and subscribe to commands."""

    @abc.abstractmethod
    def _wanted(self, topic: str, kind: str) -> bool:
        """Whether a topic has subscribers now, or keeps messages for later ones; announces it if it is new."""

    @abc.abstractmethod
    def _publish(self, topic: str, kind: str, data: bytes) -> None:
        """Send the CDR of a message to the subscribers of a topic, which was announced."""

    # --- QueuedSink -------------------------------------------------------------------------------------------------

    def _open(self, env: Environment, clock: RunClock) -> None:
        self._commands = Commands(env, clock, self._options) if self._options.commands else None
        self._connect(self._commands)
        text = _urdf_of(env.world)
        if text is not None:
            self._description = Message("std_msgs/msg/String", env.time_ns, {"data": text})

    def _prepare(self, step: LiveStep) -> Iterable[Item]:
        description, self._description = self._description, None
        if description is not None:
            yield Item(StepMessage(_DESCRIPTION, description, step.time_ns), _SHORT_BYTES, droppable=False)
        for one in step.messages:
            nbytes = cdr.long_bytes(one.message) + _SHORT_BYTES
            yield Item(one, nbytes, droppable=one.topic != _STATIC)
        if self._status_ns is None or step.time_ns - self._status_ns >= NS_PER_S:
            self._status_ns = step.time_ns
            if (statuses := sensor_statuses(step.env)) is not None:
                yield Item(StepMessage("/diagnostics", statuses, step.time_ns), _SHORT_BYTES)

    def _deliver(self, payload_of: StepMessage) -> int:
        one = payload_of
        if not self._wanted(one.topic, one.message.kind):
            return 0
        self._publish(one.topic, one.message.kind, self._encoded(one))
        return 1

    def state(self) -> SinkState:
        """Counts so far; commands that were refused show as an error."""
        state, commands = super().state(), self._commands
        if commands is None or commands.error is None:
            return state
        refused = f"{commands.refused} of {commands.refused + commands.applied} commands refused, last {commands.error}"
        return replace(state, error=refused if state.error is None else f"{state.error}; {refused}")

    # --- inside -----------------------------------------------------------------------------------------------------

    def _encoded(self, one: StepMessage) -> bytes:
        """CDR for the receivers; encoded again only where frames or mounts differ from what is recorded."""
        message = one.message
        if one.topic == _STATIC:
            self._mounts |= {each["child_frame_id"]: each for each in message.fields["transforms"]}
            message = Message(message.kind, message.stamp_ns, {"transforms": list(self._mounts.values())})
        if self._options.frame_prefix:
            message = Message(message.kind, message.stamp_ns, self._prefixed(message.fields))
        data = one.cdr() if message is one.message else cdr.encoded(message)
        return payload(message.kind, data, self._options.distribution)

    def _prefixed(self, value: Any) -> Any:
        """Fields with a prefix at every frame in them."""
        if isinstance(value, Mapping):
            return {
                name: self._options.frame(inner) if name in _FRAMES else self._prefixed(inner)
                for name, inner in value.items()
            }
        return [self._prefixed(inner) for inner in value] if isinstance(value, list) else value


def _urdf_of(world: World) -> str | None:
    """Text of the URDF file that a world, or the first such part of a joined one, was read from."""
    texts = [getattr(part, "urdf", None) for part in getattr(world, "parts", (world,))]
    return next((text for text in texts if text is not None), None)
