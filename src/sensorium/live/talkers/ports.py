"""Where a talker's bytes go: a pseudo-terminal, UDP, or the clients of a TCP server.

A port is used by one thread and never blocks it. What a slow or absent reader does not take is dropped as whole
messages and counted; memory is bounded by `_CLIENT_BYTES` for each TCP client and by the kernel's buffers otherwise.
"""

import contextlib
import errno
import ipaddress
import os
import select
import socket
import struct
from collections import deque
from pathlib import Path
from typing import Any, Protocol

from sensorium.core.errors import SpecError

LOOPBACK = "127.0.0.1"

# A terminal's line discipline holds 4096 bytes for its reader; less, so that a message always fits
_TERMINAL_BYTES = 4000
_CLIENT_BYTES = 1 << 18
_MOST_CLIENTS = 16
_CHUNK = 65536


class Port(Protocol):
    """A way out of the run."""

    address: str
    """Where a reader finds it, once open: the path of a serial port, or udp://host:port, or tcp://host:port."""
    dropped: int
    """Messages that no reader took in time."""

    @property
    def readers(self) -> int | None:
        """How many readers there are; None where that cannot be known."""

    def open(self) -> None:
        """Open it; an error names the address."""

    def write(self, message: bytes) -> None:
        """Send one message, or drop it."""

    def read(self) -> list[bytes]:
        """Bytes that readers sent back, as chunks; nothing while there are none."""

    def wait(self, timeout_s: float) -> None:
        """Wait until there is something to read, at most this long [s]."""

    def close(self) -> None:
        """Close it; also twice."""


class PtyPort:
    """A pseudo-terminal in raw mode, which a driver opens as it opens a serial port.

    Bytes that are not read are discarded once 4000 of them wait, oldest included, as on a real line without a receiver;
    a reader that comes later starts with recent data.
    """

    readers = None

    def __init__(self, link: str | os.PathLike[str] | None = None) -> None:
        """Name it.

        Args:
            link: Symbolic link to make to the terminal's path; removed at the end. A link that is there already is
                replaced, any other file refused.
        """
        self._link = None if link is None else Path(link)
        self.address = "pty" if link is None else os.fspath(link)
        self.dropped = 0
        self._near = self._far = -1
        self._unread: deque[int] = deque()

    def open(self) -> None:
        """Open the terminal, and link to it."""
        if self._link is not None and self._link.exists() and not self._link.is_symlink():
            raise SpecError(f"the link of the pseudo-terminal is {self._link}, a file; it must be new, or a link")
        import tty  # which only Unix has

        self._near, self._far = os.openpty()
        try:
            tty.setraw(self._far)
            os.set_blocking(self._near, False)
            os.set_blocking(self._far, False)
            self.path = os.ttyname(self._far)
            if self._link is not None:
                self._link.unlink(missing_ok=True)
                self._link.symlink_to(self.path)
        except OSError as error:
            self.close()
            raise SpecError(f"the pseudo-terminal at {self.address} cannot be opened: {error.strerror}") from error
        self.address = self.path if self._link is None else f"{self._link} ({self.path})"

    def write(self, message: bytes) -> None:
        """Send one message to the reader of the terminal."""
        import fcntl
        import termios

        waiting = struct.unpack("i", fcntl.ioctl(self._far, termios.FIONREAD, b"\0\0\0\0"))[0]
        while self._unread and sum(self._unread) - self._unread[0] >= waiting:
            self._unread.popleft()
        if waiting + len(message) > _TERMINAL_BYTES:
            # There is no reader. What waits is read here: `tcflush` would leave what the kernel has not passed on yet
            self.dropped += len(self._unread)
            self._unread.clear()
            _drained(self._far)
        try:
            is_whole = os.write(self._near, message) == len(message)
        except BlockingIOError:
            is_whole = False
        if is_whole:
            self._unread.append(len(message))
        else:
            self.dropped += 1

    def read(self) -> list[bytes]:
        """What the reader wrote, such as commands to the device."""
        return [] if self._near < 0 else _drained(self._near)

    def wait(self, timeout_s: float) -> None:
        """Wait for something to read."""
        select.select([self._near], [], [], timeout_s)

    def close(self) -> None:
        """Close the terminal; its reader sees the end. The link goes if it still leads here."""
        if self._link is not None and self._far >= 0:
            with contextlib.suppress(OSError):
                if os.readlink(self._link) == os.ttyname(self._far):
                    self._link.unlink()
        for descriptor in (self._near, self._far):
            if descriptor >= 0:
                os.close(descriptor)
        self._near = self._far = -1


class _UdpSocket:
    """A socket for datagrams at or for one address."""

    def __init__(self, host: str, port: int) -> None:
        self.host, self.port = host, port
        self.address = f"udp://{host}:{port}"
        self.dropped = 0
        self._socket: socket.socket | None = None

    def wait(self, timeout_s: float) -> None:
        """Wait for something to read."""
        select.select([] if self._socket is None else [self._socket], [], [], timeout_s)

    def close(self) -> None:
        """Close the socket."""
        if self._socket is not None:
            self._socket.close()
        self._socket = None


class UdpPort(_UdpSocket):
    """Datagrams to one address, one message each; answers to them are read.

    A datagram without a receiver is lost without notice, as always with UDP.
    """

    readers = None

    def open(self) -> None:
        """Open the socket."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._socket = socket.socket(family, socket.SOCK_DGRAM)
        self._socket.setblocking(False)

    def write(self, message: bytes) -> None:
        """Send one datagram."""
        assert self._socket is not None
        try:
            self._socket.sendto(message, (self.host, self.port))
        except OSError:
            self.dropped += 1

    def read(self) -> list[bytes]:
        """Datagrams that came back."""
        return [data for data, _ in _datagrams(self._socket)]


class UdpAnswerPort(_UdpSocket):
    """Listens for datagrams, and sends to the one that spoke last; before that, messages go nowhere."""

    def __init__(self, host: str, port: int) -> None:
        """Name the address to listen at; port 0 takes a free one."""
        super().__init__(host, port)
        self._peer: Any = None

    @property
    def readers(self) -> int | None:
        """1 once a datagram has come."""
        return int(self._peer is not None)

    def open(self) -> None:
        """Listen."""
        self._socket = _bound(socket.SOCK_DGRAM, self.host, self.port, self.address)
        self.port = self._socket.getsockname()[1]
        self.address = f"udp://{self.host}:{self.port}"

    def write(self, message: bytes) -> None:
        """Answer with one datagram."""
        if self._socket is not None and self._peer is not None:
            try:
                self._socket.sendto(message, self._peer)
            except OSError:
                self.dropped += 1

    def read(self) -> list[bytes]:
        """Datagrams that came."""
        found = _datagrams(self._socket)
        if found:
            self._peer = found[-1][1]
        return [data for data, _ in found]


class TcpPort:
    """A server whose clients all receive every message from the time they connect.

    A client that takes nothing while 256 KiB wait for it misses whole messages, which are counted; others do not
    notice. Clients come and go.
    """

    def __init__(self, host: str, port: int) -> None:
        """Name the address to listen at; port 0 takes a free one."""
        self.host, self.port = host, port
        self.address = f"tcp://{host}:{port}"
        self.dropped = 0
        self._listener: socket.socket | None = None
        self._clients: dict[socket.socket, bytearray] = {}

    @property
    def readers(self) -> int | None:
        """Number of clients that are connected."""
        return len(self._clients)

    def open(self) -> None:
        """Listen."""
        self._listener = _bound(socket.SOCK_STREAM, self.host, self.port, self.address)
        self._listener.listen(_MOST_CLIENTS)
        self.port = self._listener.getsockname()[1]
        self.address = f"tcp://{self.host}:{self.port}"

    def write(self, message: bytes) -> None:
        """Send one message to all clients."""
        self._accept()
        for client, waiting in list(self._clients.items()):
            if len(waiting) + len(message) > _CLIENT_BYTES:
                self.dropped += 1
            else:
                waiting += message
            try:
                del waiting[: client.send(waiting)]
            except BlockingIOError:
                pass
            except OSError:
                self._forget(client)

    def read(self) -> list[bytes]:
        """What the clients sent."""
        self._accept()
        chunks = []
        for client in list(self._clients):
            try:
                while chunk := client.recv(_CHUNK):
                    chunks.append(chunk)
                self._forget(client)  # it ended
            except BlockingIOError:
                pass
            except OSError:
                self._forget(client)
        return chunks

    def wait(self, timeout_s: float) -> None:
        """Wait for a client, or something to read."""
        listener = [] if self._listener is None else [self._listener]
        select.select([*listener, *self._clients], [], [], timeout_s)

    def close(self) -> None:
        """Close the server and its connections."""
        for client in list(self._clients):
            self._forget(client)
        if self._listener is not None:
            self._listener.close()
        self._listener = None

    def _accept(self) -> None:
        assert self._listener is not None
        with contextlib.suppress(BlockingIOError, ConnectionError):
            while True:
                client, _ = self._listener.accept()
                client.setblocking(False)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if len(self._clients) < _MOST_CLIENTS:
                    self._clients[client] = bytearray()
                else:
                    client.close()

    def _forget(self, client: socket.socket) -> None:
        del self._clients[client]
        client.close()


def port_of(text: str) -> Port:
    """The port of a text: pty, pty:LINK, udp:PORT, udp:HOST:PORT, tcp:PORT or tcp:HOST:PORT; the host is loopback."""
    kind, _, rest = text.partition(":")
    if kind == "pty":
        return PtyPort(rest or None)
    if kind not in ("udp", "tcp"):
        raise SpecError(f"port is {text!r}; it must be pty, pty:LINK, udp:[HOST:]PORT or tcp:[HOST:]PORT")
    host, _, number = rest.removeprefix("//").rpartition(":")
    if not number.isdecimal() or not (0 if kind == "tcp" else 1) <= int(number) <= 65535:
        raise SpecError(f"port is {text!r}; it must end with the number of a port, up to 65535")
    return (UdpPort if kind == "udp" else TcpPort)(checked_host(host.strip("[]") or LOOPBACK), int(number))


def checked_host(host: str) -> str:
    """An address of the internet protocol, or localhost."""
    if host == "localhost":
        return LOOPBACK
    try:
        return str(ipaddress.ip_address(host))
    except ValueError:
        raise SpecError(f"host is {host!r}; it must be an address such as {LOOPBACK}") from None


def _drained(descriptor: int) -> list[bytes]:
    """What can be read of a terminal's end now."""
    chunks: list[bytes] = []
    with contextlib.suppress(OSError):
        while chunk := os.read(descriptor, _CHUNK):
            chunks.append(chunk)
    return chunks


def _bound(kind: int, host: str, port: int, address: str) -> socket.socket:
    """A socket at an address, which does not block."""
    bound = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, kind)
    try:
        if kind == socket.SOCK_STREAM:
            bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        bound.bind((host, port))
    except OSError as error:
        bound.close()
        raise SpecError(f"the address is {address}; nothing can listen there: {error.strerror}") from error
    bound.setblocking(False)
    return bound


def _datagrams(source: socket.socket | None) -> list[tuple[bytes, Any]]:
    """Datagrams that wait, with their senders."""
    found: list[tuple[bytes, Any]] = []
    while source is not None:
        try:
            found.append(source.recvfrom(_CHUNK))
        except OSError as error:
            if error.errno != errno.ECONNREFUSED:  # an earlier datagram had no receiver
                break
    return found
