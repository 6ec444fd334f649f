"""Bytes of a serial port, of UDP datagrams or of a TCP connection, as they come."""

import os
import select
import socket
import time

from sensorium.core.errors import SpecError
from sensorium.live.talkers.ports import TcpPort, UdpPort, port_of

_CHUNK = 65536
_RETRY_S = 0.3


class ByteSource:
    """Reads bytes; a connection that was lost, or a terminal that was closed, is opened again."""

    def __init__(self, text: str) -> None:
        """Name it.

        Args:
            text: Path of a serial port; udp:[HOST:]PORT to listen at; tcp:[HOST:]PORT to connect to.
        """
        is_network = text.startswith(("udp:", "tcp:"))
        self._port = port_of(text) if is_network else None
        self.name = text
        self._file: socket.socket | int | None = None

    def open(self) -> None:
        """Open it; an error names it."""
        try:
            self._file = self._opened()
        except OSError as error:
            raise SpecError(f"source is {self.name!r}; it cannot be opened: {error.strerror or error}") from None

    def read(self, timeout_s: float) -> bytes:
        """Bytes that came, or none in this time; of UDP one datagram."""
        if self._file is None:
            time.sleep(min(timeout_s, _RETRY_S))
            try:
                self._file = self._opened()
            except OSError:
                return b""
        if not select.select([self._file], [], [], timeout_s)[0]:
            return b""
        try:
            data = os.read(self._file, _CHUNK) if isinstance(self._file, int) else self._file.recv(_CHUNK)
        except BlockingIOError:
            return b""
        except OSError:
            data = b""
        if not data and not isinstance(self._port, UdpPort):
            self.close()  # the other side ended
        return data

    def close(self) -> None:
        """Close it; also twice."""
        if isinstance(self._file, int):
            os.close(self._file)
        elif self._file is not None:
            self._file.close()
        self._file = None

    def _opened(self) -> socket.socket | int:
        if isinstance(self._port, UdpPort):
            family = socket.AF_INET6 if ":" in self._port.host else socket.AF_INET
            bound = socket.socket(family, socket.SOCK_DGRAM)
            try:
                bound.bind((self._port.host, self._port.port))
            except OSError:
                bound.close()
                raise
            return bound
        if isinstance(self._port, TcpPort):
            return socket.create_connection((self._port.host, self._port.port), timeout=2.0)
        file = os.open(self.name, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        if os.isatty(file):
            import termios  # which only Unix has
            import tty

            tty.setraw(file, termios.TCSANOW)  # which keeps what waits
        return file
