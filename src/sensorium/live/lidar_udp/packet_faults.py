"""Packets that the network loses, delays or doubles."""

import numpy as np

from sensorium.core.clock import seconds_to_ns
from sensorium.live.lidar_udp.options import PacketFaults
from sensorium.live.lidar_udp.packets import PacketBatch
from sensorium.random import Stream

_DROPPED, _DOUBLED, _LATE = 0, 1, 2


class FaultyNetwork:
    """Changes the packets of one channel; the draws are a function of seed, sensor, channel and packet number."""

    def __init__(self, faults: PacketFaults, *, seed: int, name: str) -> None:
        self._faults, self._stream = faults, Stream(seed, f"{name}/packets")
        self._count = 0
        self.dropped = 0
        """Packets that were lost on purpose."""

    def carried(self, batch: PacketBatch) -> PacketBatch:
        """The packets that arrive of a batch; a doubled one follows itself."""
        n, first = len(batch.fired_ns), self._count
        self._count += n
        faults = self._faults
        if not (faults.dropped or faults.doubled or faults.late) or not n:
            return batch
        dropped, doubled, late = (
            self._stream.uniform(stage, 0, 0, elements=n, first_element=first)[0]
            for stage in (_DROPPED, _DOUBLED, _LATE)
        )
        copies = np.where(dropped < faults.dropped, 0, 1 + (doubled < faults.doubled))
        fired_ns = batch.fired_ns + np.where(late < faults.late, seconds_to_ns(faults.late_s), 0)
        self.dropped += int(np.count_nonzero(copies == 0))
        number = np.repeat(np.arange(n), copies)
        return PacketBatch(batch.channel, batch.payload[number], fired_ns[number])
