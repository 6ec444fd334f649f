"""Captures of network traffic: UDP datagrams of pcap and pcapng files, of both byte orders.

Read by hand; the formats are defined in libpcap's savefile page, the pcapng draft, RFC 791, 768 and 8200. Fragments of
IPv4 and IPv6 datagrams are joined; frames of other protocols are skipped. Memory is in proportion to the file: each
fragment is kept once, and nothing is read beyond the file's end.
"""

import ipaddress
import struct
from collections.abc import Iterator
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.files.plain_files import read_whole
from sensorium.recordings.readers.datagrams import MOST_BYTES, Datagrams

_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
_PCAPNG, _ORDER = b"\x0a\x0d\x0d\x0a", 0x1A2B3C4D
_INTERFACE, _OLD_PACKET, _SIMPLE_PACKET, _PACKET = 1, 2, 3, 6
_UDP, _FRAGMENT = 17, 44
_NULL, _ETHERNET, _RAW, _LINUX, _LINUX_2 = (0, 108), 1, (12, 14, 101, 228, 229), 113, 276
_LINKS = (*_NULL, _ETHERNET, *_RAW, _LINUX, _LINUX_2)
_VLAN, _IPV4, _IPV6 = (0x8100, 0x88A8, 0x9100), 0x0800, 0x86DD


class Frame(NamedTuple):
    """One captured frame.

    Attributes:
        time_ns: When [ns].
        link: Number of the link layer.
        data: Its bytes.
        length: How many it had on the wire; more than were captured if a capture limit cut it.
    """

    time_ns: int
    link: int
    data: memoryview
    length: int


def is_capture(start: bytes) -> bool:
    """Whether a file that begins with these bytes is a pcap or pcapng file."""
    return start[:4] in _PCAP or start[:4] == _PCAPNG


def read_pcap(path: str | PathLike[str]) -> Datagrams:
    """UDP datagrams of a pcap or pcapng file; the name of a stream is "ADDRESS:PORT to PORT".

    A last record that the end of the file cuts off is left out, with a remark.
    """
    path = Path(path)
    content = read_whole(path, MOST_BYTES, "a capture")
    view, remarks = memoryview(content), list[str]()
    if not is_capture(content[:4]):
        raise SpecError(f"{str(path)!r} is no pcap or pcapng file; it begins with {content[:4].hex()}")
    frames = (
        _pcap_frames(view, remarks, path.name) if content[:4] in _PCAP else _pcapng_frames(view, remarks, path.name)
    )
    times, numbers, payloads = list[int](), list[int](), list[bytes | memoryview]()
    streams: dict[tuple[bytes, int, int], int] = {}
    joiner = _Joiner()
    for frame in frames:
        datagram = _udp(frame, joiner, path.name)
        if datagram is None:
            continue
        source, source_port, port, payload = datagram
        times.append(frame.time_ns)
        numbers.append(streams.setdefault((source, source_port, port), len(streams)))
        payloads.append(payload)
    names = tuple(f"{ipaddress.ip_address(address)}:{sent} to {port}" for address, sent, port in streams)
    if joiner.waiting:
        remarks.append(f"{len(joiner.waiting)} fragmented datagrams were left out: fragments are missing")
    return Datagrams(path.name, np.array(times, np.int64), np.array(numbers, np.int64), names, payloads, tuple(remarks))


def _pcap_frames(view: memoryview, remarks: list[str], name: str) -> Iterator[Frame]:
    order, unit_ns = _PCAP[bytes(view[:4])]
    if len(view) < 24:
        raise SpecError(f"{name!r} ends within the header of a capture")
    link = struct.unpack_from(order + "I", view, 20)[0] & 0xFFFF
    _check_link(link, name)
    record, at = struct.Struct(order + "IIII"), 24
    while at < len(view):
        if at + 16 > len(view):
            remarks.append("the capture was cut off: its last record is left out")
            return
        seconds, part, captured, length = record.unpack_from(view, at)
        at += 16
        if at + captured > len(view):
            remarks.append("the capture was cut off: its last record is left out")
            return
        yield Frame(seconds * 1_000_000_000 + part * unit_ns, link, view[at : at + captured], length)
        at += captured


def _pcapng_frames(view: memoryview, remarks: list[str], name: str) -> Iterator[Frame]:
    order, interfaces, at = "<", list[tuple[int, float]](), 0
    while at < len(view):
        if at + 12 > len(view):
            remarks.append("the capture was cut off: its last block is left out")
            return
        if bytes(view[at : at + 4]) == _PCAPNG:
            order = "<" if struct.unpack_from("<I", view, at + 8)[0] == _ORDER else ">"
            if struct.unpack_from(order + "I", view, at + 8)[0] != _ORDER:
                raise SpecError(f"{name!r} has a section without a byte order at byte {at}")
            interfaces = []
        kind, size = struct.unpack_from(order + "II", view, at)
        if size < 12 or size % 4:
            raise SpecError(f"{name!r} has a block of {size} bytes at byte {at}; it must have 12, 16, 20, ...")
        if at + size > len(view):
            remarks.append("the capture was cut off: its last block is left out")
            return
        body = view[at + 8 : at + size - 4]
        at += size
        if kind == _INTERFACE and len(body) >= 8:
            link = struct.unpack_from(order + "H", body)[0]
            _check_link(link, name)
            interfaces.append((link, _tick_ns(body[8:], order)))
        elif kind in (_PACKET, _OLD_PACKET, _SIMPLE_PACKET):
            frame = _pcapng_packet(kind, body, order, interfaces, name)
            if frame is not None:
                yield frame


def _pcapng_packet(
    kind: int, body: memoryview, order: str, interfaces: list[tuple[int, float]], name: str
) -> Frame | None:
    head = 4 if kind == _SIMPLE_PACKET else 20
    if len(body) < head:
        raise SpecError(f"{name!r} has a packet block of {len(body)} bytes; it must have {head}")
    if kind == _SIMPLE_PACKET:
        number, high, low, captured = 0, 0, 0, len(body) - 4
        length = struct.unpack_from(order + "I", body)[0]
        captured = min(captured, length)
    elif kind == _PACKET:
        number, high, low, captured, length = struct.unpack_from(order + "5I", body)
    else:
        number, _, high, low, captured, length = struct.unpack_from(order + "HHIIII", body)
    if number >= len(interfaces):
        raise SpecError(f"{name!r} has a packet of interface {number}; {len(interfaces)} are described")
    if head + captured > len(body):
        raise SpecError(f"{name!r} has a packet of {captured} bytes in a block of {len(body)}")
    link, tick_ns = interfaces[number]
    ticks = high << 32 | low
    time_ns = ticks * int(tick_ns) if tick_ns >= 1.0 else int(ticks * tick_ns)
    return Frame(min(time_ns, 2**63 - 1), link, body[head : head + captured], length)


def _tick_ns(options: memoryview, order: str) -> float:
    """Unit of an interface's time stamps [ns]: option 9, a power of ten or of two; microseconds without it."""
    at = 0
    while at + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, at)
        if code == 0:
            break
        if code == 9 and length >= 1 and at + 4 < len(options):
            power = options[at + 4]
            return 1e9 * 2.0 ** -(power & 0x7F) if power & 0x80 else 10.0 ** (9 - power)
        at += 4 + (length + 3) // 4 * 4
    return 1000.0


def _check_link(link: int, name: str) -> None:
    if link not in _LINKS:
        raise SpecError(f"{name!r} was captured on a link of type {link}; Ethernet, raw IP and loopback are read")


def _ip_packet(frame: Frame) -> memoryview | None:
    """The IP packet of a frame, without its link layer."""
    data = frame.data
    if frame.link in _RAW:
        return data
    if frame.link in _NULL:
        return data[4:]
    at = {_ETHERNET: 12, _LINUX: 14, _LINUX_2: 0}[frame.link]
    start = {_ETHERNET: 14, _LINUX: 16, _LINUX_2: 20}[frame.link]
    if len(data) < start:
        return None
    kind = data[at] << 8 | data[at + 1]
    while frame.link == _ETHERNET and kind in _VLAN and len(data) >= start + 4:
        kind, start = data[start + 2] << 8 | data[start + 3], start + 4
    return data[start:] if kind in (_IPV4, _IPV6) else None


def _udp(frame: Frame, joiner: "_Joiner", name: str) -> tuple[bytes, int, int, bytes | memoryview] | None:
    """Address and port of the sender, port of the receiver and payload; None for frames that hold no whole datagram."""
    packet = _ip_packet(frame)
    if packet is None or len(packet) < 20:
        return None
    if packet[0] >> 4 == 4:
        found = _ipv4(packet, joiner)
    elif packet[0] >> 4 == 6:
        found = _ipv6(packet, joiner)
    else:
        return None
    if found is None:
        return None
    source, body = found
    if len(body) < 8:
        return None
    sent, port, length = body[0] << 8 | body[1], body[2] << 8 | body[3], body[4] << 8 | body[5]
    if len(frame.data) < frame.length and length > len(body):
        raise SpecError(
            f"{name!r} has {len(frame.data)} of {frame.length} bytes of a frame; capture whole packets (snap length 0)"
        )
    return source, sent, port, body[8:length] if 8 <= length <= len(body) else body[8:]


def _ipv4(packet: memoryview, joiner: "_Joiner") -> tuple[bytes, bytes | memoryview] | None:
    head, total = 4 * (packet[0] & 15), packet[2] << 8 | packet[3]
    if packet[9] != _UDP or head < 20 or len(packet) < head:
        return None
    body = packet[head:total] if head <= total <= len(packet) else packet[head:]
    source, mark = bytes(packet[12:16]), packet[6] << 8 | packet[7]
    if not mark & 0x3FFF:
        return source, body
    key = bytes(packet[12:20]) + bytes(packet[4:6])
    joined = joiner.add(key, 8 * (mark & 0x1FFF), body, is_last=not mark & 0x2000)
    return None if joined is None else (source, joined)


def _ipv6(packet: memoryview, joiner: "_Joiner") -> tuple[bytes, bytes | memoryview] | None:
    if len(packet) < 40:
        return None
    source, following, total = bytes(packet[8:24]), packet[6], 40 + (packet[4] << 8 | packet[5])
    body = packet[40:total] if total <= len(packet) else packet[40:]
    if following == _UDP:
        return source, body
    if following != _FRAGMENT or len(body) < 8 or body[0] != _UDP:
        return None
    mark = body[2] << 8 | body[3]
    joined = joiner.add(bytes(packet[8:40]) + bytes(body[4:8]), mark & 0xFFF8, body[8:], is_last=not mark & 1)
    return None if joined is None else (source, joined)


class _Joiner:
    """Fragments that wait for the others of their datagram."""

    def __init__(self) -> None:
        self.waiting: dict[bytes, _Parts] = {}

    def add(self, key: bytes, offset: int, part: memoryview, *, is_last: bool) -> bytes | None:
        """The whole datagram once all its fragments are there; they may come in any order."""
        waiting = self.waiting.setdefault(key, _Parts({}, 0, None))
        if offset in waiting.by_offset:  # the key is used again: an older datagram was never completed
            waiting = _Parts({}, 0, None)
        waiting.by_offset[offset] = part
        end = offset + len(part) if is_last else waiting.end
        waiting = waiting._replace(received=waiting.received + len(part), end=end)
        self.waiting[key] = waiting
        if waiting.received != waiting.end:
            return None
        del self.waiting[key]
        at = 0
        for start in sorted(waiting.by_offset):
            if start != at:
                return None
            at += len(waiting.by_offset[start])
        return b"".join(waiting.by_offset[start] for start in sorted(waiting.by_offset))


class _Parts(NamedTuple):
    """Fragments of one datagram, how many bytes came, and where it ends if the last fragment is there."""

    by_offset: dict[int, memoryview]
    received: int
    end: int | None
