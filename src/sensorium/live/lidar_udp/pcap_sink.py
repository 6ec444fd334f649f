"""The sink `pcap`: the packets of lidars in a capture file, with the metadata of an Ouster beside it."""

import json
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from sensorium.core.clock import seconds_to_ns
from sensorium.environment import Environment
from sensorium.files.atomic import replacing
from sensorium.live.lidar_udp.options import OusterUdp, PcapOptions
from sensorium.live.lidar_udp.pcap_file import PcapFile
from sensorium.live.lidar_udp.senders import LidarSender, lidar_senders, ouster_metadata, step_work
from sensorium.live.sink import SinkState
from sensorium.live.step import LiveStep
from sensorium.pacing import RunClock


class PcapSink:
    """Writes packets on the thread of the run, in the order of their times; it drops none but those of `faults`."""

    name = "pcap"

    def __init__(self, options: PcapOptions) -> None:
        """Make one; nothing is opened yet."""
        self._options = options
        self._lidars: list[LidarSender] = []
        self._file: PcapFile | None = None
        self._waiting: list[tuple[int, NDArray[np.uint8], tuple[str, int], tuple[str, int]]] = []
        self._written = 0

    def open(self, env: Environment, clock: RunClock) -> None:
        """Begin the file, and write the metadata."""
        self._lidars = lidar_senders(env, self._options)
        late_ns = max(seconds_to_ns(lidar.options.faults.late_s) for lidar in self._lidars)
        self._horizon_ns = max(lidar.duration_ns for lidar in self._lidars) + late_ns
        path = Path(self._options.path)
        self._file = PcapFile(path)
        ousters = [lidar for lidar in self._lidars if isinstance(lidar.options, OusterUdp)]
        for lidar in ousters:
            beside = (
                path.with_suffix(".json") if len(ousters) == 1 else path.with_name(f"{path.stem}_{lidar.name}.json")
            )
            with replacing(beside) as file:
                file.write(json.dumps(ouster_metadata(env, lidar), indent=2).encode())

    def send(self, step: LiveStep) -> None:
        """Write what no later sweep can precede."""
        for work in step_work(step.env, self._lidars):
            lidar = work.lidar
            for batch in lidar.batches(work):
                to, port = lidar.destinations(batch.channel)[0], lidar.ports[batch.channel]
                source = (lidar.options.source or "127.0.0.1", port)
                for fired_ns, payload in zip(batch.fired_ns.tolist(), batch.payload, strict=True):
                    self._waiting.append((fired_ns, payload, source, to))
        self._write(step.time_ns - self._horizon_ns)

    def close(self) -> None:
        """Write the rest and end the file."""
        if self._file is not None:
            self._write(None)
            self._file.close()
            self._file = None

    def state(self) -> SinkState:
        """Packets written so far."""
        lost = sum(network.dropped for lidar in self._lidars for network in lidar.networks.values())
        return SinkState(self.name, self._written, lost)

    def _write(self, upto_ns: int | None) -> None:
        """Write what waits, up to a time; None for all."""
        assert self._file is not None
        self._waiting.sort(key=lambda each: each[0])
        count = len(self._waiting)
        if upto_ns is not None:
            count = next((k for k, each in enumerate(self._waiting) if each[0] > upto_ns), count)
        epoch_ns = seconds_to_ns(self._options.epoch_s)
        for fired_ns, payload, source, to in self._waiting[:count]:
            self._file.write(epoch_ns + fired_ns, payload, source, to)
        self._written += count
        del self._waiting[:count]
