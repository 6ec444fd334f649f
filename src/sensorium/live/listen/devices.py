"""Messages of serial devices: NMEA 0183, UBX, VectorNav and Xsens."""

import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, ClassVar, Self

from sensorium.core.errors import RecordError
from sensorium.core.spec import Spec
from sensorium.live.listen.byte_source import ByteSource
from sensorium.live.listen.receiver import Received, Receiver
from sensorium.live.talkers.formats import nmea, ubx, vectornav, xsens


class StreamListening(Spec):
    """Where a device's bytes come from."""

    source: str
    """Path of a serial port; udp:[HOST:]PORT to listen at; tcp:[HOST:]PORT to connect to."""


class StreamReceiver(Receiver):
    """Finds messages in a stream of bytes; those with a wrong checksum are passed over.

    A subclass gives `_split`, which takes bytes and returns whole messages and the rest, and `_described`, which gives
    the kind of a message and what it says.
    """

    def __init__(self, options: StreamListening) -> None:
        """Take the options; nothing is opened yet."""
        self._source = ByteSource(options.source)
        self._rest = b""
        self._ready: deque[bytes] = deque()

    def _split(self, data: bytes) -> tuple[list[bytes], bytes]:
        raise NotImplementedError

    def _described(self, message: bytes) -> tuple[str, str]:
        raise NotImplementedError

    def __enter__(self) -> Self:
        """Open the source."""
        self._source.open()
        return self

    def __exit__(self, *error: object) -> None:
        """Close it."""
        self._source.close()

    def receive(self, timeout_s: float) -> Received | None:
        """The next message, with the time of its arrival."""
        ends_s = time.monotonic() + timeout_s
        while not self._ready and (left_s := ends_s - time.monotonic()) > 0:
            messages, self._rest = self._split(self._rest + self._source.read(left_s))
            self._ready.extend(messages)
        if not self._ready:
            return None
        message = self._ready.popleft()
        kind, line = self._described(message)
        return Received(self._source.name, kind, message, time.time_ns(), f"{kind} {line}")

    def recorder(self, path: Path) -> AbstractContextManager[Callable[[Received], None]]:
        """A file of the messages' bytes, one behind the other, as a serial port would give them."""
        return _raw_file(path)


class NmeaReceiver(StreamReceiver):
    """Sentences of NMEA 0183."""

    suffix: ClassVar[str] = ".nmea"

    def _split(self, data: bytes) -> tuple[list[bytes], bytes]:
        lines, rest = nmea.split_stream(data)
        return [line + b"\n" for line in lines if nmea.decode(line) is not None], rest

    def _described(self, message: bytes) -> tuple[str, str]:
        sentence = nmea.decode(message)
        assert sentence is not None
        return sentence.kind, ",".join((sentence.talker, *sentence.fields))


class UbxReceiver(StreamReceiver):
    """UBX frames."""

    suffix: ClassVar[str] = ".ubx"

    def _split(self, data: bytes) -> tuple[list[bytes], bytes]:
        return ubx.split_stream(data)

    def _described(self, message: bytes) -> tuple[str, str]:
        frame = ubx.decode(message)
        assert frame is not None
        fields = {**frame.fields, "satellites": len(frame.fields.get("satellites", ()))}
        return frame.name, line_of(fields if "satellites" in frame.fields else frame.fields)


class VectorNavReceiver(StreamReceiver):
    """VectorNav messages, binary of group 1, or VNIMU."""

    suffix: ClassVar[str] = ".vn"

    def _split(self, data: bytes) -> tuple[list[bytes], bytes]:
        return vectornav.split_stream(data)

    def _described(self, message: bytes) -> tuple[str, str]:
        imu = vectornav.decode_vnimu(message)
        if imu is not None:
            return "VNIMU", line_of(imu._asdict())
        return "binary 1", line_of(vectornav.decode(message) or {})


class XsensReceiver(StreamReceiver):
    """Xsens messages MTData2."""

    suffix: ClassVar[str] = ".xbus"

    def _split(self, data: bytes) -> tuple[list[bytes], bytes]:
        return xsens.split_stream(data)

    def _described(self, message: bytes) -> tuple[str, str]:
        return "MTData2", line_of(xsens.decode(message) or {})


def line_of(fields: dict[str, Any]) -> str:
    """Fields in one line."""
    return ", ".join(f"{name} {_text(value)}" for name, value in fields.items())


def _text(value: Any) -> str:
    if isinstance(value, tuple):
        return "(" + ", ".join(_text(one) for one in value) + ")"
    return f"{value:.6g}" if isinstance(value, float) else str(value)


@contextmanager
def _raw_file(path: Path) -> Iterator[Callable[[Received], None]]:
    try:
        with path.open("wb") as file:

            def write(received: Received) -> None:
                file.write(received.payload)
                file.flush()

            yield write
    except OSError as error:
        raise RecordError(f"{str(path)!r} cannot be written: {error.strerror}") from None
