"""Topics of ROS 2 over Zenoh, found by the liveliness tokens of their publishers."""

import queue
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from threading import Lock
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.live.listen.message_lines import message_line
from sensorium.live.listen.received_mcap import Encoding, received_mcap
from sensorium.live.listen.receiver import Received, Receiver
from sensorium.live.ros2 import graph_names
from sensorium.live.ros2.graph_names import Endpoint, ros_type_name
from sensorium.live.ros2.message_types import as_recorded
from sensorium.live.ros2.zenoh import close_session, open_session
from sensorium.record.ros2 import cdr

# Messages that wait to be printed; more are dropped, the newest first
_MOST_WAITING = 4096


class ZenohListening(Spec):
    """A session of Zenoh that receives topics."""

    endpoint: str = "tcp/127.0.0.1:7447"
    """Endpoint of a router, or of a run that listens itself."""
    mode: Literal["auto", "connect", "listen"] = "connect"
    """connect: now or as soon as something is there. listen: wait for others there. auto: whichever is possible."""
    domain: Annotated[int, Field(ge=0, le=232)] = 0
    """Number of the ROS domain."""
    topics: tuple[str, ...] = ()
    """Topics to receive; empty for all."""


class ZenohReceiver(Receiver):
    """Subscribes to topics as their publishers appear; latched messages of the past come too."""

    suffix: ClassVar[str] = ".mcap"

    def __init__(self, options: ZenohListening) -> None:
        """Take the options; nothing is opened yet."""
        self._options = options
        self._session: Any = None
        self._queue: queue.Queue[tuple[Endpoint, Any]] = queue.Queue(_MOST_WAITING)
        self._subscribers: dict[str, Any] = {}
        self._lock = Lock()
        self._tokens: Any = None

    def __enter__(self) -> "ZenohReceiver":
        """Connect."""
        self._session = open_session(self._options.endpoint, self._options.mode)
        self._tokens = self._session.liveliness().declare_subscriber(
            graph_names.all_tokens(self._options.domain), self._found, history=True
        )
        return self

    def __exit__(self, *error: object) -> None:
        """Disconnect."""
        session, self._session = self._session, None
        if session is not None:
            close_session(session, [self._tokens, *self._subscribers.values()])

    def receive(self, timeout_s: float) -> Received | None:
        """The next message of a topic."""
        try:
            endpoint, sample = self._queue.get(timeout=timeout_s)
        except queue.Empty:
            return None
        kind = ros_type_name(endpoint.type_name)
        data = as_recorded(kind, sample.payload.to_bytes(), endpoint.type_hash)
        return Received(endpoint.name, kind, data, _sent_ns(sample), message_line(kind, data))

    def recorder(self, path: Path) -> AbstractContextManager[Callable[[Received], None]]:
        """An MCAP file; messages of unknown types have no schema in it."""
        return received_mcap(path, ros_encoding)

    def _found(self, sample: Any) -> None:
        """Subscribe to the topic of a publisher that appeared; on a thread of Zenoh."""
        import zenoh

        endpoint = Endpoint.from_token(str(sample.key_expr))
        if sample.kind != zenoh.SampleKind.PUT or endpoint is None or endpoint.kind != graph_names.PUBLISHER:
            return
        if self._options.topics and endpoint.name not in self._options.topics:
            return
        key = graph_names.topic_key(self._options.domain, endpoint.name, endpoint.type_name, endpoint.type_hash)
        with self._lock:
            session = self._session
            if session is None or key in self._subscribers:
                return
            self._subscribers[key] = self._subscriber(session, key, endpoint)

    def _subscriber(self, session: Any, key: str, endpoint: Endpoint) -> Any:
        def put(sample: Any) -> None:
            if not self._queue.full():
                self._queue.put_nowait((endpoint, sample))

        if not endpoint.qos.latched:
            return session.declare_subscriber(key, put)
        from zenoh import ext

        history = ext.HistoryConfig(detect_late_publishers=True, max_samples=endpoint.qos.depth)
        return ext.declare_advanced_subscriber(session, key, put, history=history)


def ros_encoding(received: Received) -> Encoding:
    """How a message of ROS 2 is encoded."""
    known = cdr.is_known(received.kind)
    return Encoding("cdr", "ros2msg" if known else "", cdr.definition(received.kind) if known else b"")


def _sent_ns(sample: Any) -> int:
    """When a message was sent [ns]; that of its arrival, if it does not say."""
    try:
        return graph_names.read_attachment(sample.attachment.to_bytes())[1]
    except (SpecError, AttributeError):
        return time.time_ns()
