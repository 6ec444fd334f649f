"""Messages of a Foxglove server, by the protocol foxglove.sdk.v1 over a WebSocket."""

import base64
import json
import re
import struct
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, suppress
from pathlib import Path
from typing import Annotated, Any, ClassVar

from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.live.listen.message_lines import message_line
from sensorium.live.listen.received_mcap import Encoding, received_mcap
from sensorium.live.listen.receiver import Received, Receiver

_PROTOCOL = "foxglove.sdk.v1"

# Binary message: opcode 1 (data), subscription, log time [ns]; then the payload
_DATA = struct.Struct("<BIQ")
_MESSAGE_DATA = 1

# Longest message that is accepted [bytes], and wait before a lost connection is tried again [s]
_LONGEST = 1 << 28
_RETRY_S = 0.5

# How servers refuse a channel that they do not know yet, and time for them to know it [s]
_UNKNOWN = re.compile(r"[Uu]nknown channel ID: (\d+)")
_KNOWN_S = 0.02

# Time for a server to say goodbye [s]
_CLOSE_S = 0.5


class FoxgloveListening(Spec):
    """A connection to a Foxglove server."""

    host: str = "127.0.0.1"
    """Address of the server."""
    port: Annotated[int, Field(ge=1, le=65535)] = 8765
    """Its port."""
    topics: tuple[str, ...] = ()
    """Topics to receive; empty for all."""


class FoxgloveReceiver(Receiver):
    """A client of a Foxglove server, which subscribes to topics as they are advertised."""

    suffix: ClassVar[str] = ".mcap"

    def __init__(self, options: FoxgloveListening) -> None:
        """Take the options; nothing is opened yet."""
        self._options = options
        self._open = ExitStack()
        self._connection: Any = None
        self._channels: dict[int, dict[str, Any]] = {}
        self._encodings: dict[tuple[str, str], Encoding] = {}

    def __enter__(self) -> "FoxgloveReceiver":
        """Connect."""
        try:
            self._connect()
        except OSError as error:
            at = f"{self._options.host}:{self._options.port}"
            raise SpecError(f"no Foxglove server answers at {at} ({error}); start a run with --live foxglove") from None
        return self

    def __exit__(self, *error: object) -> None:
        """Disconnect."""
        self._open.close()

    def receive(self, timeout_s: float) -> Received | None:
        """The next message of a topic."""
        from websockets.exceptions import ConnectionClosed

        ends_s = time.monotonic() + timeout_s
        while (left_s := ends_s - time.monotonic()) > 0:
            if self._connection is None:
                time.sleep(min(left_s, _RETRY_S))
                with suppress(OSError):
                    self._connect()
                continue
            try:
                frame = self._connection.recv(timeout=left_s)
            except TimeoutError:
                return None
            except ConnectionClosed:
                self._connection = None
                continue
            if isinstance(frame, str):
                self._control(frame)
            elif (received := self._message(frame)) is not None:
                return received
        return None

    def recorder(self, path: Path) -> AbstractContextManager[Callable[[Received], None]]:
        """An MCAP file, with the schemas of the server."""
        return received_mcap(path, lambda received: self._encodings[received.source, received.kind])

    def _connect(self) -> None:
        from websockets.exceptions import InvalidHandshake
        from websockets.sync.client import connect

        protocols: Any = [_PROTOCOL]
        url = f"ws://{self._options.host}:{self._options.port}"
        self._open.close()
        options: Any = {"compression": None, "proxy": None, "close_timeout": _CLOSE_S}
        connection = connect(url, subprotocols=protocols, max_size=_LONGEST, **options)
        try:
            self._connection = self._open.enter_context(connection)
        except (InvalidHandshake, TimeoutError, EOFError) as error:
            raise ConnectionError(f"{type(error).__name__}: {error}") from None
        self._channels = {}

    def _control(self, frame: str) -> None:
        """Subscribe to new channels, and again to one that the server announced before it knew it itself."""
        told = json.loads(frame)
        if told.get("op") == "status" and (unknown := _UNKNOWN.search(told.get("message", ""))):
            time.sleep(_KNOWN_S)
            self._subscribe([int(unknown.group(1))])
        if told.get("op") != "advertise":
            return
        wanted = []
        for channel in told["channels"]:
            topic = channel["topic"]
            if self._options.topics and topic not in self._options.topics:
                continue
            self._channels[channel["id"]] = channel
            wanted.append(channel["id"])
            definition = _definition(channel)
            key = topic, channel["schemaName"]
            self._encodings[key] = Encoding(channel["encoding"], channel.get("schemaEncoding") or "", definition)
        if wanted:
            self._subscribe(wanted)

    def _subscribe(self, channels: list[int]) -> None:
        subscriptions = [{"id": channel, "channelId": channel} for channel in channels]
        self._connection.send(json.dumps({"op": "subscribe", "subscriptions": subscriptions}))

    def _message(self, frame: bytes) -> Received | None:
        if len(frame) < _DATA.size or frame[0] != _MESSAGE_DATA:
            return None
        _, subscription, time_ns = _DATA.unpack_from(frame)
        channel = self._channels.get(subscription)
        if channel is None:
            return None
        payload, kind = frame[_DATA.size :], str(channel["schemaName"])
        line = message_line(kind, payload) if channel["encoding"] == "cdr" else f"{len(payload):,} bytes"
        return Received(str(channel["topic"]), kind, payload, time_ns, line)


def _definition(channel: dict[str, Any]) -> bytes:
    """Bytes of a channel's schema; binary ones, such as protobuf's, come in base64."""
    text = str(channel.get("schema") or "")
    return base64.b64decode(text) if channel.get("schemaEncoding") in ("protobuf", "flatbuffer") else text.encode()
