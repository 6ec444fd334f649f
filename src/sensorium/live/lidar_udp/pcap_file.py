"""Writes UDP datagrams as a capture file (pcap with nanoseconds, Ethernet), which captures of real devices are too."""

import ipaddress
import struct
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError

_MAGIC_NS, _ETHERNET, _MOST_BYTES = 0xA1B23C4D, 1, 65535
_IPV4, _UDP = 0x0800, 17
_HEADERS = 14 + 20 + 8


class PcapFile:
    """A capture that grows datagram by datagram; it is readable at any time, up to the last whole one."""

    def __init__(self, path: str | PathLike[str]) -> None:
        """Begin a file, over one of the same name."""
        self.path = Path(path)
        try:
            self._file = self.path.open("wb")
        except OSError as error:
            raise SpecError(f"path is {str(path)!r}; it cannot be written: {error.strerror}") from None
        self._file.write(struct.pack("<IHHiIII", _MAGIC_NS, 2, 4, 0, 0, _MOST_BYTES, _ETHERNET))

    def write(self, time_ns: int, payload: NDArray[np.uint8], source: tuple[str, int], to: tuple[str, int]) -> None:
        """Append a datagram.

        Args:
            time_ns: Unix time [ns].
            payload: Its bytes, shape (n,).
            source: Address and port that it comes from.
            to: Address and port that it goes to.
        """
        length = _HEADERS + len(payload)
        self._file.write(struct.pack("<IIII", *divmod(time_ns, 1_000_000_000), length, length))
        self._file.write(_headers(len(payload), source, to))
        self._file.write(payload.tobytes())

    def close(self) -> None:
        """End the file."""
        self._file.close()


def _headers(size: int, source: tuple[str, int], to: tuple[str, int]) -> bytes:
    """Ethernet, IPv4 (with its checksum) and UDP (without one, which IPv4 allows)."""
    addresses = ipaddress.IPv4Address(source[0]).packed + ipaddress.IPv4Address(to[0]).packed
    head = struct.pack(">BBHHHBBH", 0x45, 0, 28 + size, 0, 0x4000, 64, _UDP, 0) + addresses
    total = sum(struct.unpack(">10H", head))
    total = (total & 0xFFFF) + (total >> 16)
    checksum = ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF
    ip = head[:10] + struct.pack(">H", checksum) + head[12:]
    return bytes(12) + struct.pack(">H", _IPV4) + ip + struct.pack(">HHHH", source[1], to[1], 8 + size, 0)
