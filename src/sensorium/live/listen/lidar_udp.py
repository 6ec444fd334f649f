"""Packets of lidars on UDP ports, from a live run or from real devices."""

import select
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Annotated, ClassVar

import numpy as np
from pydantic import Field

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.live.lidar_udp.pcap_file import PcapFile
from sensorium.live.listen.receiver import Received, Receiver
from sensorium.recordings.packets import hesai, livox, ouster, velodyne
from sensorium.recordings.readers.ouster import Metadata, read_metadata

_BUFFER_BYTES, _MOST_BYTES = 8 << 20, 65535

Port = Annotated[int, Field(ge=1, le=65535)]


class LidarListening(Spec):
    """Ports that lidars send to."""

    host: str = "127.0.0.1"
    """Own address to listen on; 0.0.0.0 is all."""
    ports: tuple[Port, ...] = Field(default=(2368, 7502, 7503, 8308, 56301, 57000), min_length=1)
    """Ports; by default those of Velodyne and Hesai, Ouster, and Livox."""
    metadata: str | None = None
    """JSON of an Ouster, without which its packets are counted only."""


class LidarReceiver(Receiver):
    """Sockets on which packets arrive."""

    suffix: ClassVar[str] = ".pcap"

    def __init__(self, options: LidarListening) -> None:
        """Take the options; nothing is opened yet."""
        self._options = options
        self._metadata = None if options.metadata is None else read_metadata(options.metadata)
        self._sockets: list[socket.socket] = []
        self._last: tuple[tuple[str, int], tuple[str, int]] = (("0.0.0.0", 0), ("0.0.0.0", 0))

    def __enter__(self) -> "LidarReceiver":
        """Listen."""
        try:
            for port in self._options.ports:
                one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
                self._sockets.append(one)
                one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _BUFFER_BYTES)
                one.bind((self._options.host, port))
        except OSError as error:
            self.__exit__()
            raise SpecError(
                f"port {port} of {self._options.host} cannot be listened on: {error.strerror}; name others, as "
                "--set ports=[2368]"
            ) from None
        return self

    def __exit__(self, *error: object) -> None:
        """Close the sockets."""
        for one in self._sockets:
            one.close()
        self._sockets = []

    def receive(self, timeout_s: float) -> Received | None:
        """The next packet."""
        ready, _, _ = select.select(self._sockets, [], [], timeout_s)
        if not ready:
            return None
        payload, sender = ready[0].recvfrom(_MOST_BYTES)
        time_ns, to = time.time_ns(), ready[0].getsockname()
        self._last = sender, to
        kind, line = packet_line(payload, self._metadata)
        return Received(f"{sender[0]} to {to[1]}", kind, payload, time_ns, f"{kind} {line}".strip())

    def recorder(self, path: Path) -> AbstractContextManager[Callable[[Received], None]]:
        """A capture file, as `sensorium measure` reads it."""
        return self._capture(path)

    @contextmanager
    def _capture(self, path: Path) -> Iterator[Callable[[Received], None]]:
        file = PcapFile(path)

        def write(received: Received) -> None:
            file.write(received.time_ns, np.frombuffer(received.payload, np.uint8), *self._last)

        try:
            yield write
        finally:
            file.close()


def packet_line(payload: bytes, metadata: Metadata | None) -> tuple[str, str]:
    """Device that sent a packet, and what it says in one line.

    Args:
        payload: Bytes of the packet.
        metadata: Of an Ouster that may have sent it; None if there are none.
    """
    if metadata is not None and len(payload) == metadata.packet_type().itemsize:
        return _ouster_line(payload, metadata)
    if len(payload) == velodyne.BYTES and payload[-1] in velodyne.MODELS and payload[-2] in velodyne.RETURNS:
        packet = velodyne.decode(payload)
        fired = velodyne.firings(packet, velodyne.MODELS[payload[-1]], payload[-2])
        azimuth = f"azimuth {0.01 * int(fired.azimuth[0, 0]):.2f} deg, {1e-6 * int(packet['time_us'][0]):.6f} s"
        return velodyne.MODELS[payload[-1]].name, f"{np.count_nonzero(fired.distance)} points, {azimuth} past the hour"
    if len(payload) in hesai.LAYOUTS:
        layout = hesai.LAYOUTS[len(payload)]
        packets = hesai.decode(payload, layout)
        if hesai.is_marked(packets, layout)[0]:
            points = np.count_nonzero(packets["blocks"]["pixels"]["distance"])
            return layout.name, f"{points} points, azimuth {0.01 * int(packets['blocks']['azimuth'][0, 0]):.2f} deg"
    if (found := livox.layout_of(payload)) is not None:
        data = livox.decode(payload, found)["data"][0]
        if not found.returns:
            return "Livox IMU", "acceleration " + " ".join(f"{each:.3f}" for each in data["acceleration_g"][0]) + " g"
        return f"Livox kind {found.kind}", f"{np.count_nonzero(data['x_mm'])} points"
    if len(payload) == ouster.IMU_PACKET.itemsize:
        sample = ouster.decode(payload, ouster.IMU_PACKET)[0]
        return "Ouster IMU", "acceleration " + " ".join(f"{each:.3f}" for each in sample["acceleration_g"]) + " g"
    if len(payload) == 512 and payload[206:207] == b"$":
        return "Velodyne position", payload[206:].split(b"\r")[0].decode("ascii", "replace")
    if payload[:2] == b"\x01\x00" and len(payload) > 64:
        return "Ouster?", f"frame {int.from_bytes(payload[2:4], 'little')}; its metadata tell more, --set metadata=FILE"
    return f"{len(payload)} bytes", ""


def _ouster_line(payload: bytes, metadata: Metadata) -> tuple[str, str]:
    packet = ouster.decode(payload, metadata.packet_type())[0]
    columns = packet["columns"]
    points = np.count_nonzero(ouster.field_of(columns["pixels"], metadata.profile, "range_mm"))
    frame = columns["frame"][0] if metadata.profile == ouster.LEGACY else packet["header"]["frame"]
    first, last = int(columns["column"][0]), int(columns["column"][-1])
    return metadata.device, f"{points} points, frame {frame}, columns {first} to {last}"
