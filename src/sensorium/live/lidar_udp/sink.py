"""The sink `udp`: packets of lidars leave at their firing times, a constant latency later."""

import socket
import time
from collections.abc import Iterable
from typing import Any

from sensorium.core.errors import SpecError
from sensorium.environment import Environment
from sensorium.live.lidar_udp.addresses import connected_socket, host_and_port, ip_address, is_loopback
from sensorium.live.lidar_udp.options import OusterUdp, UdpOptions
from sensorium.live.lidar_udp.ouster_http import OusterHttp
from sensorium.live.lidar_udp.sender import PacketSender
from sensorium.live.lidar_udp.senders import LidarSender, Work, lidar_senders, ouster_metadata, step_work
from sensorium.live.lidar_udp.wire_clock import WireClock
from sensorium.live.sink import Item, QueuedSink, SinkState
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock

# When the sink is closed, the last packets have this long to leave [s]
_LAST_S = 0.8


class UdpSink(QueuedSink):
    """Sends the packets of lidars; `sn.live.open_sink("udp", sensors={...})`.

    A packet leaves `latency_s` of simulated time after its last firing, by the pace of the run; without a pace all
    packets leave at once. Packets are made on the sink's thread, and sent from another that waits for each one's time.
    """

    name = "udp"

    def __init__(self, options: UdpOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__()
        self._options = options
        self._lidars: list[LidarSender] = []
        self._sockets: dict[tuple[str, str], list[int]] = {}
        self._all: list[socket.socket] = []
        self._servers: list[OusterHttp] = []
        self._last_ns: dict[tuple[str, str], int] = {}
        self.sender: PacketSender | None = None
        """Counts and deviations, once the sink is open."""

    @property
    def http_addresses(self) -> list[tuple[str, int]]:
        """Where metadata are answered, in the order of the lidars that ask for it."""
        return [server.address for server in self._servers]

    def state(self) -> SinkState:
        """Counts of packets so far; readings that did not fit into the queue count as one each."""
        found, sender = super().state(), self.sender
        if sender is None:
            return found
        counts = sender.counts()
        lost = sum(network.dropped for lidar in self._lidars for network in lidar.networks.values())
        late = f"{counts.late:,} packets were late: they were due before their sweep was known" if counts.late else None
        return SinkState(
            self.name, counts.sent, found.dropped + counts.dropped + lost, found.receivers, found.error or late
        )

    def _open(self, env: Environment, clock: RunClock) -> None:
        self._lidars, self._clock = lidar_senders(env, self._options), clock
        self._wire = WireClock(max(lidar.latency_ns for lidar in self._lidars))
        for lidar in self._lidars:
            source = None if lidar.options.source is None else ip_address(lidar.options.source, "source")
            for channel in lidar.ports:
                made = [connected_socket(to, source) for to in lidar.destinations(channel)]
                self._sockets[lidar.name, channel] = list(range(len(self._all), len(self._all) + len(made)))
                self._all += made
        self.sender = PacketSender(self._all)
        for lidar in self._lidars:
            if isinstance(lidar.options, OusterUdp) and lidar.options.http is not None:
                self._serve(env, lidar, host_and_port(lidar.options.http, "http"))

    def _serve(self, env: Environment, lidar: LidarSender, address: tuple[str, int]) -> None:
        metadata = ouster_metadata(env, lidar)

        def configure(given: dict[str, Any]) -> None:
            config = metadata["config_params"]
            wanted = {**config, **given}
            for key in given:
                if key not in config:
                    raise SpecError(f"{key} is not simulated")
                if wanted[key] != config[key] and key not in ("udp_dest", "udp_port_lidar", "udp_port_imu"):
                    raise SpecError(f"{key} is {config[key]!r} for this run and cannot be changed to {wanted[key]!r}")
            to = ip_address(str(wanted["udp_dest"]), "udp_dest")
            if to not in lidar.options.to and not is_loopback(to):
                raise SpecError(f"udp_dest is {to!r}; addresses other than loopback must be named in `to` of the run")
            for channel, key in (("lidar", "udp_port_lidar"), ("imu", "udp_port_imu")):
                port = wanted[key]
                if isinstance(port, bool) or not isinstance(port, int) or not 1 <= port <= 65535:
                    raise SpecError(f"{key} is {port!r}; it must be from 1 to 65535")
                self._all[self._sockets[lidar.name, channel][0]].connect((to, port))
            config.update(wanted)

        self._servers.append(OusterHttp(address, lambda: metadata, configure))

    def _prepare(self, step: LiveStep) -> Iterable[Item]:
        self._wire.observe(step.time_ns, time.monotonic_ns(), self._clock.speed)
        return [Item(work) for work in step_work(step.env, self._lidars)]

    def _deliver(self, payload: Work) -> int:
        assert self.sender is not None
        lidar = payload.lidar
        for batch in lidar.batches(payload):
            simulated_ns = batch.fired_ns + lidar.latency_ns
            channel = lidar.name, batch.channel
            last_ns = self._last_ns.get(channel, 0)
            leave_ns = self._wire.spread_ns(simulated_ns, now_ns=time.monotonic_ns(), last_ns=last_ns)
            if len(leave_ns):
                self._last_ns[channel] = int(leave_ns.max())
            due_ns = self._wire.due_ns(simulated_ns)
            for number in self._sockets[channel]:
                self.sender.submit(batch.payload, due_ns, number, leave_ns=leave_ns)
        return 0

    def _close(self) -> None:
        try:
            if self.sender is not None:
                end_ns = time.monotonic_ns() + round(1e9 * _LAST_S)
                while (until_ns := self.sender.pending_until_ns()) is not None and time.monotonic_ns() < end_ns:
                    time.sleep(1e-9 * max(min(until_ns, end_ns) - time.monotonic_ns(), 1_000_000))
                self.sender.close()
        finally:
            for server in self._servers:
                server.close()
            for one in self._all:
                one.close()

    def _receivers(self) -> int | None:
        """Sockets that are not refused, where all receivers are on this machine; elsewhere nothing tells."""
        if self.sender is None or not all(is_loopback(to) for lidar in self._lidars for to in lidar.options.to):
            return None
        return self.sender.reachable()
