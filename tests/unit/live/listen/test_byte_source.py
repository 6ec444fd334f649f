"""Sources of bytes: terminals, datagrams, connections that end and begin again."""

import os
import socket

import pytest

from sensorium.core.errors import SpecError
from sensorium.live.listen.byte_source import ByteSource
from sensorium.live.talkers.ports import PtyPort, TcpPort


def read_until(source, size):
    data = b""
    for _ in range(100):
        data += source.read(0.1)
        if len(data) >= size:
            break
    return data


def test_a_terminal_that_ends_and_begins_again(tmp_path):
    source = ByteSource(os.fspath(tmp_path / "gps"))
    with pytest.raises(SpecError, match=r"gps'; it cannot be opened: No such file"):
        source.open()
    for word in (b"first", b"second\r\n"):
        port = PtyPort(tmp_path / "gps")
        port.open()
        port.write(word)
        assert read_until(source, len(word)) == word
        port.close()
        assert source.read(0.1) == b""
    source.close()
    source.close()


def test_a_connection_that_ends_and_begins_again():
    port = TcpPort("127.0.0.1", 0)
    port.open()
    source = ByteSource(f"tcp:{port.port}")
    source.open()
    for word in (b"first", b"second"):
        port.wait(2.0)
        port.write(word)
        assert read_until(source, len(word)) == word
        port.close()
        assert source.read(0.5) == b""
        port.open()
        source.read(0.4)
    source.close()
    port.close()


def test_datagrams():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        number = free.getsockname()[1]
    source = ByteSource(f"udp:{number}")
    source.open()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(b"", ("127.0.0.1", number))
        sender.sendto(b"one", ("127.0.0.1", number))
    assert source.read(1.0) == b""
    assert source.read(1.0) == b"one"
    assert source.read(0.01) == b""
    source.close()
