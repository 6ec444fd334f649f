"""ROS 2 over Zenoh: a node that rmw_zenoh takes for one of its own."""

import json
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock, Thread
from typing import Any

from sensorium.core.errors import SpecError, in_one_line
from sensorium.live.ros2 import graph_names
from sensorium.live.ros2.commands import CONTROLS, Commands, CommandTopic
from sensorium.live.ros2.graph_names import Node, Qos, attachment, dds_type_name, publisher_gid, topic_key
from sensorium.live.ros2.message_types import TRIGGER, trigger_hash, type_hash
from sensorium.live.ros2.options import ZenohOptions
from sensorium.live.ros2.sink import RosSink
from sensorium.live.ros2.trigger import trigger_reply

# A receiver that takes nothing for so long is disconnected [s]; until then the queue holds, and drops, what comes
_STALL_S = 1.0

# Wait for a session to close [s]
_CLOSE_S = 1.0

# Wait for an answer of a router, when it is to be found out whether there is one [s]
_ROUTER_S = 0.5

# Period in which subscribers of latched topics learn the number of the last message [s]
_HEARTBEAT_S = 0.5


class ZenohSink(RosSink):
    """Publishes to a Zenoh router, or to nodes that connect to this run; loopback unless another endpoint is named.

    Sending blocks the sink's own thread while a receiver is slow, never the run; what does not fit into the queue is
    dropped and counted.
    """

    name = "ros2"

    def __init__(self, options: ZenohOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(options)
        self._zenoh_options = options
        self._session: Any = None
        self._node: Node | None = None
        self._publishers: dict[str, _Publisher] = {}
        self._kept: list[Any] = []  # tokens, subscribers and queryables
        self._entities = 0
        self._lock = Lock()

    @property
    def endpoint(self) -> str:
        """Endpoint of the router, or of this run where it listens."""
        return self._zenoh_options.endpoint

    def _connect(self, commands: Commands | None) -> None:
        self._session = open_session(self.endpoint, self._zenoh_options.mode)
        options, session = self._options, str(self._session.info.zid())
        self._node = Node(options.domain, session, options.node, options.namespace)
        self._kept.append(self._session.liveliness().declare_token(self._node.token))
        if commands is not None:
            for topic in commands.topics:
                self._subscribe(topic, commands)
            for word in CONTROLS:
                self._serve(word, commands)

    def _wanted(self, topic: str, kind: str) -> bool:
        publisher = self._publishers.get(topic)
        if publisher is None:
            publisher = self._publishers[topic] = self._publisher(topic, kind)
        return publisher.has_subscribers()

    def _publish(self, topic: str, kind: str, data: bytes) -> None:
        self._publishers[topic].put(data)

    def _receivers(self) -> int | None:
        info = self._session.info
        return len(list(info.peers_zid())) + len(list(info.routers_zid()))

    def _close(self) -> None:
        session, self._session = self._session, None
        entities = [*self._kept, *(publisher.entity for publisher in self._publishers.values())]
        self._kept, self._publishers = [], {}
        if session is not None:
            close_session(session, entities)

    # --- inside -----------------------------------------------------------------------------------------------------

    def _publisher(self, topic: str, kind: str) -> "_Publisher":
        qos, name = self._options.qos_of(topic), self._options.topic(topic)
        hashed = type_hash(kind, self._options.distribution)
        token = self._announce(graph_names.PUBLISHER, name, dds_type_name(kind), hashed, qos)
        key = topic_key(self._options.domain, name, dds_type_name(kind), hashed)
        return _Publisher(self._session, key, qos, publisher_gid(token))

    def _subscribe(self, topic: CommandTopic, commands: Commands) -> None:
        name, type_name = self._options.topic(topic.name), dds_type_name(topic.kind)
        hashed = type_hash(topic.kind, self._options.distribution)
        key = topic_key(self._options.domain, name, type_name, hashed)
        receive = self._session.declare_subscriber(
            key, lambda sample: commands.receive(topic, sample.payload.to_bytes())
        )
        self._kept.append(receive)
        self._announce(graph_names.SUBSCRIPTION, name, type_name, hashed, Qos())

    def _serve(self, word: str, commands: Commands) -> None:
        """Offer a service that controls the run: the queryable answers at once, on a thread of Zenoh."""
        name, type_name = self._options.topic(f"/{self._options.node}/{word}"), dds_type_name(TRIGGER)
        hashed = trigger_hash(self._options.distribution)
        key = topic_key(self._options.domain, name, type_name, hashed)

        def answer(query: Any) -> None:
            with query:
                try:
                    number, _, client = graph_names.read_attachment(query.attachment.to_bytes())
                    done, said = True, commands.control(word)
                except (SpecError, AttributeError) as error:
                    query.reply_err(in_one_line(error).encode())
                    return
                reply = attachment(number, time.time_ns(), client)
                query.reply(key, trigger_reply(done, said), attachment=reply)

        self._kept.append(self._session.declare_queryable(key, answer, complete=True))
        self._announce(graph_names.SERVICE, name, type_name, hashed, Qos())

    def _announce(self, kind: str, name: str, type_name: str, hashed: str, qos: Qos) -> str:
        """Make an endpoint visible in the graph; returns its token."""
        assert self._node is not None
        with self._lock:
            self._entities += 1
            number = self._entities
        token = self._node.endpoint_token(number, kind, name, type_name, hashed, qos)
        self._kept.append(self._session.liveliness().declare_token(token))
        return token


class _Publisher:
    """Publisher of one topic; a latched one keeps its last messages for late subscribers."""

    def __init__(self, session: Any, key: str, qos: Qos, gid: bytes) -> None:
        import zenoh

        self._gid, self._number, self._latched = gid, 0, qos.latched
        # On the sink's own thread waiting is harmless, and what is dropped is counted there
        reliable = qos.reliability == "reliable"
        control = zenoh.CongestionControl.BLOCK if reliable else zenoh.CongestionControl.DROP
        reliability = zenoh.Reliability.RELIABLE if reliable else zenoh.Reliability.BEST_EFFORT
        options: dict[str, Any] = {"congestion_control": control, "reliability": reliability}
        if qos.latched:
            from zenoh import ext

            self.entity: Any = ext.declare_advanced_publisher(
                session,
                key,
                cache=ext.CacheConfig(max_samples=qos.depth),
                sample_miss_detection=ext.MissDetectionConfig(heartbeat=None, sporadic_heartbeat=_HEARTBEAT_S),
                publisher_detection=True,
                **options,
            )
        else:
            self.entity = session.declare_publisher(key, **options)

    def has_subscribers(self) -> bool:
        """Whether anyone would get a message, now or later."""
        return self._latched or bool(self.entity.matching_status.matching)

    def put(self, data: bytes) -> None:
        """Send a message."""
        self._number += 1
        self.entity.put(data, attachment=attachment(self._number, time.time_ns(), self._gid))


def open_session(endpoint: str, mode: str) -> Any:
    """A Zenoh session of a peer, without multicast.

    Args:
        endpoint: Endpoint such as tcp/127.0.0.1:7447.
        mode: "connect" to it, "listen" there, or "auto": connect if something answers, else listen.
    """
    import zenoh

    host, port = _host_and_port(endpoint)
    connects = mode == "connect" or (mode == "auto" and _answers(host, port))
    config = zenoh.Config()
    # One that connects can be reached by other nodes directly, as rmw_zenoh's can
    settings: dict[str, Any] = {
        "mode": "peer",
        "connect/endpoints": [endpoint] if connects else [],
        "connect/timeout_ms": -1,
        "connect/exit_on_failure": False,
        "listen/endpoints": ["tcp/127.0.0.1:0"] if connects else [endpoint],
        "scouting/multicast/enabled": False,
        "scouting/gossip/enabled": True,
        "timestamping/enabled": True,
        "transport/shared_memory/enabled": False,
        "transport/link/tx/queue/congestion_control/block/wait_before_close": round(_STALL_S * 1e6),
    }
    for key, value in settings.items():
        config.insert_json5(key, json.dumps(value))
    try:
        return zenoh.open(config)
    except zenoh.ZError as error:
        verb = "connect to" if connects else "listen on"
        raise SpecError(f"endpoint is {endpoint!r}; Zenoh cannot {verb} it: {in_one_line(error)}") from None


def close_session(session: Any, entities: Iterable[Any] = ()) -> None:
    """Close a session, and wait for a second at most.

    Zenoh itself waits up to 10 s for a peer that takes nothing any more but holds its connection; a thread does that.

    Args:
        session: The session.
        entities: Publishers, subscribers and others, which are dropped after it: one that is dropped before waits too,
            and stops the whole interpreter.
    """
    kept = list(entities)

    def close() -> None:
        with suppress(Exception):  # it was not in time; the connection is given up then
            session.close()
        kept.clear()

    closing = Thread(target=close, name="sensorium-live-ros2-close", daemon=True)
    closing.start()
    closing.join(_CLOSE_S)


def _host_and_port(endpoint: str) -> tuple[str, int]:
    protocol, _, place = endpoint.partition("/")
    host, _, port = place.rpartition(":")
    if protocol != "tcp" or not host or not port.isdecimal() or int(port) > 65535:
        raise SpecError(f"endpoint is {endpoint!r}; it must be as in tcp/127.0.0.1:7447")
    return host.strip("[]"), int(port)


def _answers(host: str, port: int) -> bool:
    """Whether something accepts connections there."""
    try:
        with socket.create_connection((host, port), timeout=_ROUTER_S):
            return True
    except OSError:
        return False
