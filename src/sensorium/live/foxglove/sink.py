"""The sink: all topics of a run on a WebSocket server."""

import logging
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from sensorium.core.errors import SpecError, in_one_line
from sensorium.environment import Environment
from sensorium.live.foxglove.control import RunControl
from sensorium.live.foxglove.options import FoxgloveOptions
from sensorium.live.foxglove.scene import scene_bytes
from sensorium.live.sink import Item, QueuedSink
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.step_messages import StepMessage

# Topics whose messages a new client gets again
_LATCHED = ("/tf_static", "/scene")

# The SDK writes a line to this logger when a client is too slow, and drops its oldest messages
_SLOW_LOGGER = "foxglove.websocket.connected_client.send_lossy"
_SLOW = "a client was too slow, and the server dropped its oldest messages"

# Time for the port to be free after the end [s]
_FREE_S = 0.5

# Size of a message beside its cloud or image, about [bytes]
_SHORT_BYTES = 512


class FoxgloveSink(QueuedSink):
    """A server for Foxglove: the messages of `run.mcap` with their schemas, the scene, parameters and services.

    Messages of a topic without subscribers are not encoded. New clients get mounts and scene at once.
    """

    name = "foxglove"

    def __init__(self, options: FoxgloveOptions) -> None:
        """Take the options; nothing is opened yet."""
        super().__init__()
        self._options = options
        self._server: Any = None
        self._context: Any = None
        self._channels: dict[str, Any] = {}
        self._schemas: dict[str, Any] = {}
        self._latched: dict[str, list[bytes]] = {topic: [] for topic in _LATCHED}
        self._clients: dict[int, int] = {}
        self._now_ns = 0
        self._slow_clients = _SlowClients(self)

    @property
    def port(self) -> int:
        """Port that it listens on, once it is open."""
        return int(self._server.port)

    # --- on the thread of the run -----------------------------------------------------------------------------------

    def _open(self, env: Environment, clock: RunClock) -> None:
        import foxglove
        from foxglove.websocket import Capability

        control = RunControl(env, clock, self._refused) if self._options.control else None
        capabilities = [Capability.Time]
        if control is not None:
            capabilities += [Capability.Parameters, Capability.Services]
        self._context = foxglove.Context()
        host, port = self._options.host, self._options.port
        try:
            self._server = foxglove.start_server(
                name="Sensorium",
                host=host,
                port=port,
                context=self._context,
                capabilities=capabilities,
                server_listener=_Listener(self, control),
                supported_encodings=["json"],
                services=[] if control is None else control.services(),
                message_backlog_size=self._options.backlog,
            )
        except Exception as error:  # the SDK raises its own, without a common base
            raise SpecError(
                f"live.foxglove cannot listen on {host}:{port} ({in_one_line(error)}); the address must be this "
                "machine's and the port free, and port 0 takes any free one"
            ) from None
        self._now_ns = max(0, env.time_ns)
        if control is not None:
            control.begin(self._server)
        logging.getLogger(_SLOW_LOGGER).addHandler(self._slow_clients)
        shown = "127.0.0.1" if host in ("0.0.0.0", "::") else host
        self.hint = f"open ws://{shown}:{self.port} in Foxglove (https://app.foxglove.dev, Open connection)"
        if self._options.scene and (scene := scene_bytes(env)) is not None:
            data, schema = scene
            self._latched["/scene"] = [data]
            self._channel("/scene", schema)

    def _prepare(self, step: LiveStep) -> Iterable[Item]:
        items = []
        self._now_ns = max(0, step.time_ns)
        for one in step.messages:
            channel = self._channels.get(one.topic) or self._channel(one.topic, self._schema(one.message.kind))
            latched = self._latched.get(one.topic)
            if latched is not None:
                latched.append(one.cdr())
            if channel.has_sinks():
                nbytes = cdr.long_bytes(one.message) + _SHORT_BYTES
                items.append(Item((channel, one), nbytes, droppable=latched is None))
        return items

    def _channel(self, topic: str, schema: Any) -> Any:
        """The channel of a topic, which is advertised."""
        import foxglove

        encoding = "cdr" if schema.encoding == "ros2msg" else schema.encoding
        made = foxglove.Channel(topic, message_encoding=encoding, schema=schema, context=self._context)
        self._channels[topic] = made
        return made

    def _schema(self, kind: str) -> Any:
        import foxglove

        if kind not in self._schemas:
            self._schemas[kind] = foxglove.Schema(name=kind, encoding="ros2msg", data=cdr.definition(kind))
        return self._schemas[kind]

    def _close(self) -> None:
        logging.getLogger(_SLOW_LOGGER).removeHandler(self._slow_clients)
        for channel in self._channels.values():
            channel.close()
        if self._server is not None:
            port = self.port
            self._server.stop()
            _wait_until_free(self._options.host, port)

    # --- on the sink's thread ---------------------------------------------------------------------------------------

    def _deliver(self, payload: tuple[Any, StepMessage | bytes]) -> int:
        channel, one = payload
        if isinstance(one, bytes):
            channel.log(one, log_time=self._now_ns)
            return 1
        channel.log(one.cdr(), log_time=max(0, one.log_ns))
        if one.topic == "/clock":
            self._server.broadcast_time(max(0, one.log_ns))
        return 1

    # --- on threads of the server -----------------------------------------------------------------------------------

    def _subscribed(self, client: int, topic: str) -> None:
        self._clients[client] = self._clients.get(client, 0) + 1
        channel = self._channels.get(topic)
        if channel is not None:
            self._put([Item((channel, data), len(data), droppable=False) for data in self._latched.get(topic, [])])

    def _unsubscribed(self, client: int) -> None:
        left = self._clients.get(client, 0) - 1
        if left > 0:
            self._clients[client] = left
        else:
            self._clients.pop(client, None)

    def _receivers(self) -> int:
        return len(self._clients)

    def _refused(self, problem: str) -> None:
        """A client asked for what cannot be done: tell all clients."""
        from foxglove import StatusLevel

        self._server.publish_status(problem, StatusLevel.Error)


def _wait_until_free(host: str, port: int) -> None:
    """Wait until the server, which stops on threads of its own, has closed its port; half a second at most."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    ends_s = time.monotonic() + _FREE_S
    while time.monotonic() < ends_s:
        with socket.socket(family, socket.SOCK_STREAM) as probe, suppress(OSError):
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # as connections that are closing may remain
            probe.bind((host, port))
            return
        time.sleep(0.005)


class _Listener:
    """Events of the server; called on its threads."""

    def __init__(self, sink: FoxgloveSink, control: RunControl | None) -> None:
        self._sink, self._control = sink, control

    def on_subscribe(self, client: Any, channel: Any) -> None:
        """A client subscribed to a topic."""
        self._sink._subscribed(client.id, channel.topic)

    def on_unsubscribe(self, client: Any, channel: Any) -> None:
        """A client unsubscribed from a topic, or is gone."""
        self._sink._unsubscribed(client.id)

    def on_get_parameters(self, client: Any, param_names: list[str], request_id: str | None = None) -> list[Any]:
        """A client asks for parameters; no names mean all."""
        return [] if self._control is None else self._control.parameters(param_names)

    def on_set_parameters(self, client: Any, parameters: list[Any], request_id: str | None = None) -> list[Any]:
        """A client sets parameters; those that cannot be set keep their values."""
        return [] if self._control is None else self._control.set_parameters(parameters)


class _SlowClients(logging.Handler):
    """Notes that the SDK dropped messages for a slow client, which it only writes to its log."""

    def __init__(self, sink: FoxgloveSink) -> None:
        super().__init__(logging.INFO)
        self._sink = sink

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it as the sink's last error."""
        self._sink._error = _SLOW
