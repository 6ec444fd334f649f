"""Addresses of receivers and of servers: loopback unless another is named, and errors that name the rule."""

import errno
import ipaddress
import socket

from sensorium.core.errors import SpecError


def host_and_port(text: str, field: str) -> tuple[str, int]:
    """Address and port of "ADDRESS:PORT"."""
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal() or not 0 <= int(port) <= 65535:
        raise SpecError(f"{field} is {text!r}; it must be ADDRESS:PORT, such as 127.0.0.2:80")
    return ip_address(host, field), int(port)


def ip_address(text: str, field: str) -> str:
    """An IPv4 address; names are not looked up."""
    try:
        return str(ipaddress.IPv4Address("127.0.0.1" if text == "localhost" else text))
    except ValueError:
        raise SpecError(f"{field} is {text!r}; it must be an IPv4 address, such as 127.0.0.1") from None


def is_loopback(address: str) -> bool:
    """Whether packets to it stay on this machine."""
    return ipaddress.IPv4Address(address).is_loopback


def connected_socket(to: tuple[str, int], source: str | None) -> socket.socket:
    """A UDP socket that sends to an address and port.

    Args:
        to: Receiver.
        source: Own address; None leaves it to the system.
    """
    made = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        made.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        if source is not None:
            made.bind((source, 0))
        made.connect(to)
    except OSError as error:
        made.close()
        raise SpecError(
            f"packets to {to[0]}:{to[1]} from {source or 'any address'} cannot be sent: {_why(error)}"
        ) from None
    return made


def bind_error(address: str, port: int, error: OSError) -> SpecError:
    """Why a server cannot listen there, and the rule."""
    if error.errno == errno.EACCES:
        rule = (
            "ports below 1024 need root, the capability CAP_NET_BIND_SERVICE, or a lower sysctl "
            "net.ipv4.ip_unprivileged_port_start"
        )
    elif error.errno == errno.EADDRINUSE:
        rule = "another program listens there; choose another address (all of 127.0.0.0/8 is loopback) or port"
    else:
        rule = _why(error)
    return SpecError(f"http is '{address}:{port}'; {rule}")


def _why(error: OSError) -> str:
    if error.errno == errno.EADDRNOTAVAIL:
        return "this machine has no such address"
    return error.strerror or str(error)
