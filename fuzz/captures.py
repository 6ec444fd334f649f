"""Captures and bags written byte by byte, as tests and the fuzzer need them."""

import ipaddress
import sqlite3
import struct
from pathlib import Path


def udp(payload: bytes, *, source="192.168.1.201", ports=(2368, 2368)) -> bytes:
    """A UDP datagram in an IPv4 packet, not fragmented."""
    return ipv4(udp_datagram(payload, ports), source=source)


def udp_datagram(payload: bytes, ports=(2368, 2368)) -> bytes:
    return struct.pack(">HHHH", *ports, 8 + len(payload), 0) + payload


def ipv4(body: bytes, *, source="192.168.1.201", number=0, offset=0, more=False) -> bytes:
    mark = offset // 8 | (0x2000 if more else 0)
    head = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(body), number, mark, 64, 17, 0)
    return head + ipaddress.ip_address(source).packed + bytes([192, 168, 1, 77]) + body


def fragments(payload: bytes, size: int, *, number: int) -> list[bytes]:
    """IPv4 packets of a datagram in parts of at most `size` bytes, a multiple of eight."""
    body = udp_datagram(payload)
    starts = range(0, len(body), size)
    return [ipv4(body[k : k + size], number=number, offset=k, more=k + size < len(body)) for k in starts]


def ipv6(body: bytes, *, fragment: tuple[int, int, bool] | None = None) -> bytes:
    """An IPv6 packet; a fragment is number, offset and whether more follow."""
    following = 17
    if fragment is not None:
        number, offset, more = fragment
        body, following = struct.pack(">BBHI", 17, 0, offset | int(more), number) + body, 44
    head = struct.pack(">IHBB", 6 << 28, len(body), following, 64)
    return head + ipaddress.ip_address("fe80::1").packed + ipaddress.ip_address("fe80::2").packed + body


def ethernet(packet: bytes, *, vlan=False) -> bytes:
    kind = 0x0800 if packet[0] >> 4 == 4 else 0x86DD
    return bytes(12) + (struct.pack(">HH", 0x8100, 5) if vlan else b"") + struct.pack(">H", kind) + packet


def pcap(frames: list[bytes], *, order="<", link=1, nano=False, start_s=1_700_000_000) -> bytes:
    """Frames a millisecond apart."""
    magic = 0xA1B23C4D if nano else 0xA1B2C3D4
    data = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 262144, link)
    unit = 1_000_000 if nano else 1000
    for k, frame in enumerate(frames):
        data += struct.pack(order + "IIII", start_s, k * unit, len(frame), len(frame)) + frame
    return data


def pcapng(frames: list[bytes], *, order="<", link=1, resolution=9, simple=False) -> bytes:
    def block(kind: int, body: bytes) -> bytes:
        body += bytes(-len(body) % 4)
        size = 12 + len(body)
        return struct.pack(order + "II", kind, size) + body + struct.pack(order + "I", size)

    data = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    option = struct.pack(order + "HHB3xHH", 9, 1, resolution, 0, 0)
    data += block(1, struct.pack(order + "HHI", link, 0, 0) + option)
    data += block(0x0BAD, b"a block of another kind")
    for k, frame in enumerate(frames):
        ticks = (1_700_000_000_000 + k) * 10 ** (resolution - 3)
        head = struct.pack(order + "IIIII", 0, ticks >> 32, ticks & 0xFFFFFFFF, len(frame), len(frame))
        data += block(3, struct.pack(order + "I", len(frame)) + frame) if simple else block(6, head + frame)
    return data


def scan_message(kind: str, packets: list[bytes], *, is_ros1=False) -> bytes:
    """A message of a turn in CDR, or as ROS 1 serializes it."""
    data = b"" if is_ros1 else b"\0\1\0\0"

    def align() -> bytes:
        return b"" if is_ros1 else bytes(-(len(data) - 4) % 4)

    data += struct.pack("<III", 7, 1700, 5) if is_ros1 else struct.pack("<II", 1700, 5)
    name = b"velodyne" if is_ros1 else b"velodyne\0"
    data += struct.pack("<I", len(name)) + name
    data += align() + struct.pack("<I", len(packets))
    for k, packet in enumerate(packets):
        data += align() + struct.pack("<II", 1700, 1000 * k)
        if "Velodyne" in kind:
            data += packet
        elif "Pandar" in kind:
            data += packet.ljust(1500, b"\0")
            data += align() + struct.pack("<I", len(packet))
        else:
            data += struct.pack("<I", len(packet)) + packet
    return data


def sqlite_bag(path: Path, kind: str, messages: list[bytes], *, topic="/packets") -> Path:
    base = sqlite3.connect(path)
    base.execute("PRAGMA synchronous = OFF")
    base.execute("CREATE TABLE topics(id INTEGER PRIMARY KEY, name TEXT, type TEXT, serialization_format TEXT)")
    base.execute("CREATE TABLE messages(id INTEGER PRIMARY KEY, topic_id INTEGER, timestamp INTEGER, data BLOB)")
    base.execute("INSERT INTO topics VALUES (1, ?, ?, 'cdr')", (topic, kind))
    for k, data in enumerate(messages):
        base.execute("INSERT INTO messages VALUES (?, 1, ?, ?)", (k + 1, 10**18 + k * 10**8, data))
    base.commit()
    base.close()
    return path


def rosbag1(kind: str, messages: list[bytes], *, packing="none", topic="/packets") -> bytes:
    """A bag of one chunk."""
    import bz2

    def record(fields: dict[str, bytes], data: bytes) -> bytes:
        head = b"".join(struct.pack("<I", len(k) + 1 + len(v)) + k.encode() + b"=" + v for k, v in fields.items())
        return struct.pack("<I", len(head)) + head + struct.pack("<I", len(data)) + data

    def fields(values: dict[str, str]) -> bytes:
        return b"".join(struct.pack("<I", len(k) + 1 + len(v)) + f"{k}={v}".encode() for k, v in values.items())

    number = struct.pack("<I", 3)
    inner = record({"op": b"\7", "conn": number, "topic": topic.encode()}, fields({"topic": topic, "type": kind}))
    for k, data in enumerate(messages):
        inner += record({"op": b"\2", "conn": number, "time": struct.pack("<II", 1700, k)}, data)
    if packing == "lz4":
        import lz4.frame

        packed = lz4.frame.compress(inner)
    else:
        packed = bz2.compress(inner) if packing == "bz2" else inner
    head = {"op": b"\3", "index_pos": struct.pack("<Q", 0), "conn_count": number, "chunk_count": number}
    chunk = {"op": b"\5", "compression": packing.encode(), "size": struct.pack("<I", len(inner))}
    return b"#ROSBAG V2.0\n" + record(head, b" " * 40) + record(chunk, packed)
