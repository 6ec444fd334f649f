"""Hesai: point cloud packets of sweeps of a Pandar64 or PandarXT-32."""

from datetime import UTC, datetime, timedelta

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.live.lidar_udp.firings import FiringQueue, is_dual
from sensorium.live.lidar_udp.packets import PacketBatch, rows_of
from sensorium.recordings.packets import hesai
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan

_UNIT_M = 0.004
_STRONGEST, _LAST, _DUAL = 0x37, 0x38, 0x39
_MODES = {"strongest": _STRONGEST, "last": _LAST, "first": 0x33}


class HesaiPackets:
    """Makes the packets of one lidar.

    Azimuths of packets count clockwise from Hesai's y axis. Its drivers compute x = r cos(elevation) sin(azimuth) and
    y = r cos(elevation) cos(azimuth), so that a beam along our x axis has azimuth 90 degrees, and points are those of
    the scan.
    """

    def __init__(self, spec: Lidar, model: str, *, epoch_s: float, name: str) -> None:
        """Make one.

        Args:
            spec: The lidar.
            model: Name of a layout of `hesai.LAYOUTS`.
            epoch_s: Unix time of simulated time 0 [s].
            name: Name of the lidar, for errors.
        """
        sizes = [each for each in hesai.LAYOUTS.values() if each.name == model]
        self.layout = next(each for each in sizes if "sequence" in (each.dtype.names or ()))
        dual = is_dual(spec)
        if dual:
            self.mode = _DUAL
        elif spec.mode == "geometric" or spec.returns in _MODES:
            self.mode = _STRONGEST if spec.mode == "geometric" else _MODES[spec.returns]
        self._per_packet = self.layout.blocks // len(hesai.RETURNS[self.mode])
        self._queue = FiringQueue(spec, per_packet=self._per_packet, range_unit_m=_UNIT_M, dual=dual, name=name)
        channels = spec.pattern.rays(0).shape[0]
        if channels != self.layout.channels:
            raise SpecError(f"lidar {name!r} has {channels} channels; a {model} must have {self.layout.channels}")
        self._like = hesai.blank(self.layout, self.mode)
        self._like["motor_rpm"] = round(60.0 * spec.pattern.rate_hz)
        self._epoch_s, self._sent = epoch_s, 0
        self._flipped = dual and self.layout.returns(self.mode) != hesai.RETURNS[_DUAL]
        constant_us, per_column = self.layout.first_block_us
        period_us = 1e6 / (spec.pattern.rate_hz * spec.pattern.rays(0).shape[1])
        self._stamp_after_us = -constant_us - per_column * (self._per_packet - 1) * period_us

    def sweep(self, scan: Scan) -> list[PacketBatch]:
        """Packets that this sweep completes."""
        found = self._queue.add(scan)
        n = len(found.time_ns) // self._per_packet
        azimuth = np.rint(100.0 * (found.clockwise_deg + 90.0)).astype(np.int64) % hesai.COUNTS_PER_TURN
        shape = (n, self._per_packet, self.layout.channels, -1)
        distance, reflectivity = found.distance.reshape(shape), found.reflectivity.reshape(shape)
        if self._flipped:
            distance, reflectivity = distance[..., ::-1], reflectivity[..., ::-1]
        has_confidence = "confidence" in (self.layout.dtype["blocks"].base["pixels"].base.names or ())
        firings = hesai.Firings(
            azimuth.reshape(n, self._per_packet).astype(np.uint16),
            distance,
            reflectivity,
            np.zeros(distance.shape, np.uint8) if has_confidence else None,
        )
        packets = hesai.packets_of(firings, self.layout, self.mode, self._like)
        self._stamp(packets, found.time_ns.reshape(n, -1)[:, 0])
        packets["sequence"] = (self._sent + np.arange(n)) & 0xFFFFFFFF
        self._sent += n
        return [PacketBatch("lidar", rows_of(packets), found.fired_ns.reshape(n, -1)[:, -1])]

    def _stamp(self, packets: NDArray[np.void], first_ns: NDArray[np.int64]) -> None:
        """Write date and microseconds, as the layout counts them from the first block."""
        stamps_us = np.rint(first_ns * 1e-3 + self._stamp_after_us).astype(np.int64) + round(1e6 * self._epoch_s)
        seconds, packets["time_us"] = stamps_us // 1_000_000, stamps_us % 1_000_000
        for second in np.unique(seconds).tolist():
            chosen = seconds == second
            at = datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=second)
            packets["year"][chosen] = at.year - 1900
            for name in ("month", "day", "hour", "minute", "second"):
                packets[name][chosen] = getattr(at, name)
