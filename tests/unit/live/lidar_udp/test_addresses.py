"""Addresses, and the sentences of those that cannot be used."""

import errno
import socket

import pytest

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.addresses import bind_error, connected_socket, host_and_port, ip_address, is_loopback


def test_addresses_are_numbers():
    assert host_and_port("127.0.0.2:80", "http") == ("127.0.0.2", 80)
    assert ip_address("localhost", "to") == "127.0.0.1"
    assert is_loopback("127.9.9.9")
    assert not is_loopback("192.168.1.2")
    for wrong in ("127.0.0.1", "127.0.0.1:", ":80", "127.0.0.1:70000"):
        with pytest.raises(SpecError, match=f"http is {wrong!r}"):
            host_and_port(wrong, "http")
    with pytest.raises(SpecError, match=r"to is 'sensor\.local'; it must be an IPv4 address"):
        ip_address("sensor.local", "to")


def test_errors_name_address_port_and_rule():
    assert "CAP_NET_BIND_SERVICE" in str(bind_error("127.0.0.2", 80, OSError(errno.EACCES, "Permission denied")))
    assert "another program listens" in str(bind_error("127.0.0.2", 80, OSError(errno.EADDRINUSE, "in use")))
    assert "http is '10.9.9.9:80'; this machine has no such address" in str(
        bind_error("10.9.9.9", 80, OSError(errno.EADDRNOTAVAIL, "not available"))
    )
    with pytest.raises(SpecError, match=r"packets to 127\.0\.0\.1:9 from 10\.255\.255\.1 cannot be sent"):
        connected_socket(("127.0.0.1", 9), "10.255.255.1")


def test_packets_leave_from_the_given_address():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
        here.bind(("127.0.0.1", 0))
        here.settimeout(5.0)
        with connected_socket(here.getsockname(), "127.0.0.3") as out:
            out.send(b"x")
        assert here.recvfrom(10)[1][0] == "127.0.0.3"
