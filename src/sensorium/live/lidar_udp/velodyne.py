"""Velodyne: data packets of sweeps, and position packets of GNSS fixes."""

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.firings import FiringQueue, is_dual
from sensorium.live.lidar_udp.packets import PacketBatch, rows_of
from sensorium.live.lidar_udp.position_packet import position_packet
from sensorium.recordings.packets import velodyne
from sensorium.sensors.gnss import GnssReading
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan

_MODES = {"strongest": velodyne.STRONGEST, "last": velodyne.LAST}


class VelodynePackets:
    """Makes the packets of one lidar.

    Azimuths of packets count clockwise from the sensor's x axis, so that points as the ROS driver and
    velodyne-decoder compute them (x forward) are those of the scan.
    """

    def __init__(self, spec: Lidar, model: str, *, epoch_s: float, name: str) -> None:
        """Make one.

        Args:
            spec: The lidar.
            model: Name of a model of `velodyne.MODELS`.
            epoch_s: Unix time of simulated time 0 [s].
            name: Name of the lidar, for errors.
        """
        self.model = next(each for each in velodyne.MODELS.values() if each.name == model)
        if is_dual(spec):
            self.mode = velodyne.DUAL
        elif spec.mode == "geometric" or spec.returns in _MODES:
            self.mode = _MODES["strongest" if spec.mode == "geometric" else spec.returns]
        else:
            raise SpecError(f"lidar {name!r} has returns {spec.returns!r}; a Velodyne has strongest, last and dual")
        self._groups, _ = velodyne.layout_of(self.model, self.mode)
        self._per_packet = self._groups * self.model.firings_per_block
        self._queue = FiringQueue(
            spec,
            per_packet=self._per_packet,
            range_unit_m=self.model.range_unit_m,
            dual=self.mode == velodyne.DUAL,
            name=name,
        )
        channels = spec.pattern.rays(0).shape[0]
        if channels != self.model.channels:
            raise SpecError(f"lidar {name!r} has {channels} channels; a {model} must have {self.model.channels}")
        self._epoch_s = epoch_s

    def sweep(self, scan: Scan) -> list[PacketBatch]:
        """Packets that this sweep completes."""
        found = self._queue.add(scan)
        n = len(found.time_ns) // self._per_packet
        azimuth = np.rint(100.0 * found.clockwise_deg).astype(np.int64) % velodyne.COUNTS_PER_TURN
        blocks = azimuth.reshape(n, self._groups, self.model.firings_per_block)[:, :, 0]
        shape = (n, self._per_packet, self.model.channels, -1)
        firings = velodyne.Firings(
            blocks.astype(np.uint16), found.distance.reshape(shape), found.reflectivity.reshape(shape)
        )
        first_us = found.time_ns.reshape(n, -1)[:, 0] // 1000 + round(1e6 * self._epoch_s)
        packets = velodyne.packets_of(firings, first_us % velodyne.HOUR_US, self.model, self.mode)
        return [PacketBatch("lidar", rows_of(packets), found.fired_ns.reshape(n, -1)[:, -1])]

    def fix(self, reading: GnssReading, sampled_ns: int) -> list[PacketBatch]:
        """The position packet of a fix; `sampled_ns` is its true time."""
        payload = np.frombuffer(position_packet(reading, self._epoch_s), np.uint8)[None]
        return [PacketBatch("position", payload, np.array([sampled_ns]))]
