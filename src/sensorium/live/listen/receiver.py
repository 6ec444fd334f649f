"""The base of receivers, and what they receive."""

import abc
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Received:
    """One message or packet.

    Attributes:
        source: Where it came from: a topic, or a port.
        kind: Type of the message or packet.
        payload: Its bytes.
        time_ns: Time that the sender gave it, or of its arrival by this machine's clock [ns].
        line: What it says, in one line.
    """

    source: str
    kind: str
    payload: bytes
    time_ns: int
    line: str


class Receiver(abc.ABC):
    """Receives what a live sink, or a real device, sends; closed by `with`. Its constructor takes its options."""

    suffix: ClassVar[str]
    """End of the name of a file that it records, such as ".mcap"."""

    @abc.abstractmethod
    def __enter__(self) -> "Receiver":
        """Open sockets; an error names address, port and rule."""

    @abc.abstractmethod
    def __exit__(self, *error: object) -> None:
        """Close them."""

    @abc.abstractmethod
    def receive(self, timeout_s: float) -> Received | None:
        """The next message or packet; None if none came in this time. A lost connection is tried again."""

    @abc.abstractmethod
    def recorder(self, path: Path) -> AbstractContextManager[Callable[[Received], None]]:
        """A file that what is received can be written to."""
