"""Ports: bytes arrive, absent and slow readers block nothing, and everything ends at close."""

import fcntl
import os
import socket
import stat
import struct
import termios
import time
import tty

import pytest

from sensorium.core.errors import SpecError
from sensorium.live.talkers.ports import PtyPort, TcpPort, UdpAnswerPort, UdpPort, port_of


@pytest.fixture(autouse=True)
def _no_descriptor_is_left():
    before = set(os.listdir("/proc/self/fd"))
    yield
    assert set(os.listdir("/proc/self/fd")) <= before


def read_some(descriptor: int, size: int) -> bytes:
    """At least this many bytes; they pass through a queue of the kernel."""
    data, until_s = b"", time.monotonic() + 5.0
    while len(data) < size and time.monotonic() < until_s:
        try:
            data += os.read(descriptor, 65536)
        except BlockingIOError:
            time.sleep(0.001)
    return data


def waiting(descriptor: int) -> int:
    """Number of bytes that wait for a reader."""
    return struct.unpack("i", fcntl.ioctl(descriptor, termios.FIONREAD, b"\0\0\0\0"))[0]


def opened(path: str) -> int:
    return os.open(path, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)


def test_a_terminal_carries_every_byte_unchanged_and_back():
    port = PtyPort()
    port.open()
    reader = opened(port.path)
    every = bytes(range(256))
    port.write(every)
    assert read_some(reader, 256) == every
    os.write(reader, b"\r\n\x03\x1a?")
    port.wait(1.0)
    assert b"".join(port.read()) == b"\r\n\x03\x1a?"
    os.close(reader)
    port.close()
    port.close()


def test_a_terminal_without_a_reader_keeps_recent_messages_only():
    port = PtyPort()
    port.open()
    reader = opened(port.path)
    for k in range(200):
        port.write(b"%099d\n" % k)
        until_s = time.monotonic() + 5.0
        while waiting(reader) != 100 * (k % 40 + 1) and time.monotonic() < until_s:
            time.sleep(0.0002)  # the kernel passes bytes on by a thread of its own
    assert port.dropped == 160  # four times what 4000 bytes hold
    port.write(b"%099d\n" % 200)
    lines = read_some(reader, 100 * (201 - port.dropped)).split()
    assert [int(line) for line in lines] == list(range(port.dropped, 201))
    os.close(reader)
    port.close()


def test_a_reader_that_ends_and_comes_again_finds_new_bytes():
    port = PtyPort()
    port.open()
    for word in (b"first", b"second"):
        reader = opened(port.path)
        tty.setraw(reader)
        port.write(word)
        assert read_some(reader, len(word)) == word
        os.close(reader)
    port.close()


def test_a_link_leads_to_the_terminal_and_goes_with_it(tmp_path):
    link = tmp_path / "gps"
    link.symlink_to("nowhere")
    port = PtyPort(link)
    port.open()
    assert os.readlink(link) == port.path
    assert stat.S_ISCHR(os.stat(link).st_mode)
    port.close()
    assert not link.is_symlink()


def test_a_file_is_not_replaced_by_a_link(tmp_path):
    (tmp_path / "gps").write_text("mine")
    with pytest.raises(SpecError, match="gps, a file; it must be new, or a link"):
        PtyPort(tmp_path / "gps").open()
    assert (tmp_path / "gps").read_text() == "mine"


def test_tcp_clients_come_go_and_do_not_wait_for_each_other():
    port = TcpPort("127.0.0.1", 0)
    port.open()
    with socket.create_connection(("127.0.0.1", port.port)) as first:
        port.wait(1.0)
        port.write(b"one")
        assert first.recv(10) == b"one"
        with socket.create_connection(("127.0.0.1", port.port)) as second:
            port.wait(1.0)
            port.write(b"two")
            assert (first.recv(10), second.recv(10)) == (b"two", b"two")
            assert port.readers == 2
            second.sendall(b"back")
            port.wait(1.0)
            assert port.read() == [b"back"]
    port.wait(1.0)
    assert port.read() == []
    assert port.readers == 0
    port.write(b"nobody")
    port.close()
    port.close()


def test_a_tcp_client_that_reads_nothing_misses_whole_messages():
    port = TcpPort("127.0.0.1", 0)
    port.open()
    with socket.create_connection(("127.0.0.1", port.port)) as client:
        port.wait(1.0)
        count = 0
        while port.dropped < 100:
            port.write(b"%09d\n" % count * 1000)
            count += 1
        client.settimeout(5.0)
        data = b""
        while data.count(b"\n") < 1000 * (count - port.dropped):
            port.write(b"")
            data += client.recv(1 << 20)
        numbers = [int(line) for line in data.split()]
        assert numbers == sorted(numbers)
        assert all(numbers.count(k) == 1000 for k in {numbers[0], numbers[-1]})
    port.close()


def test_a_port_that_is_taken_is_named():
    first, second = TcpPort("127.0.0.1", 0), None
    first.open()
    second = TcpPort("127.0.0.1", first.port)
    with pytest.raises(SpecError, match=f"the address is tcp://127.0.0.1:{first.port}; nothing can listen there"):
        second.open()
    first.close()


def test_datagrams_out_and_back():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as receiver:
        receiver.bind(("127.0.0.1", 0))
        port = UdpPort("127.0.0.1", receiver.getsockname()[1])
        port.open()
        port.write(b"there")
        data, sender = receiver.recvfrom(100)
        receiver.sendto(b"back", sender)
        port.wait(1.0)
        assert (data, port.read()) == (b"there", [b"back"])
        port.close()
    nobody = UdpPort("127.0.0.1", 9)
    nobody.open()
    for _ in range(10):
        nobody.write(b"lost")
    assert nobody.read() == []
    nobody.close()


def test_an_answering_port_speaks_to_whom_it_heard_last():
    port = UdpAnswerPort("127.0.0.1", 0)
    port.open()
    port.write(b"to nobody")
    assert port.readers == 0
    for _ in range(2):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as peer:
            peer.sendto(b"hello", ("127.0.0.1", port.port))
            port.wait(1.0)
            assert port.read() == [b"hello"]
            port.write(b"answer")
            peer.settimeout(5.0)
            assert peer.recv(100) == b"answer"
    port.close()


@pytest.mark.parametrize(
    ("text", "kind", "address"),
    [
        ("pty", PtyPort, "pty"),
        ("pty:/run/gps", PtyPort, "/run/gps"),
        ("udp:2000", UdpPort, "udp://127.0.0.1:2000"),
        ("udp:10.0.0.7:2000", UdpPort, "udp://10.0.0.7:2000"),
        ("tcp:0", TcpPort, "tcp://127.0.0.1:0"),
        ("tcp://0.0.0.0:4560", TcpPort, "tcp://0.0.0.0:4560"),
        ("tcp:localhost:4560", TcpPort, "tcp://127.0.0.1:4560"),
    ],
)
def test_texts_of_ports(text, kind, address):
    port = port_of(text)
    assert (type(port), port.address) == (kind, address)


@pytest.mark.parametrize("text", ["", "com1", "udp", "udp:", "udp:0", "tcp:70000", "tcp:host.example:1", "udp:a:b"])
def test_texts_that_are_no_port(text):
    with pytest.raises(SpecError, match="must"):
        port_of(text)
