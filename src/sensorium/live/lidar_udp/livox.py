"""Livox: point packets of sweeps, and IMU packets."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.units import STANDARD_GRAVITY
from sensorium.live.lidar_udp.leftover import Leftover
from sensorium.live.lidar_udp.packets import PacketBatch, returns_of, rows_of
from sensorium.recordings.packets import livox
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan


class _Pulses(NamedTuple):
    """Pulses in the order of time: own and true time [ns], points [mm] (p, returns, 3), reflectivity (p, returns)."""

    time_ns: NDArray[np.int64]
    fired_ns: NDArray[np.int64]
    xyz_mm: NDArray[np.int32]
    reflectivity: NDArray[np.uint8]


class LivoxPackets:
    """Makes the packets of one lidar; points are in its own frame, those of the scan in whole millimeters."""

    def __init__(self, spec: Lidar, model: str, *, name: str) -> None:
        """Make one.

        Args:
            spec: The lidar.
            model: A key of `livox.MODELS`.
            name: Name of the lidar, for errors.
        """
        if spec.frame != "sensor":
            raise SpecError(f"lidar {name!r} has frame {spec.frame!r}; points of packets are in frame 'sensor'")
        self.model, self._spec = livox.MODELS[model], spec
        returns = 1 if spec.mode == "geometric" else {"dual": 2, "all": spec.max_returns}.get(spec.returns, 1)
        if returns > len(self.model.kinds):
            raise SpecError(f"lidar {name!r} has {returns} returns; packets of a {model} have {len(self.model.kinds)}")
        self._layout = livox.LAYOUTS[self.model.protocol, self.model.kinds[returns - 1]]
        self._leftover = Leftover[_Pulses](self._layout.points)
        self._sent = self._sampled = 0

    def sweep(self, scan: Scan) -> list[PacketBatch]:
        """Packets that this sweep completes."""
        found, points = self._leftover.whole(self._pulses(scan), scan), self._layout.points
        n = len(found.time_ns) // points
        packets = livox.blank(self._layout, n)
        data, shape = packets["data"], packets["data"].shape
        for axis, field in enumerate(("x_mm", "y_mm", "z_mm")):
            data[field] = found.xyz_mm[..., axis].reshape(shape)
        data["reflectivity"] = found.reflectivity.reshape(shape)
        times = found.time_ns.reshape(n, points)
        packets["head"]["time_ns"] = times[:, 0]
        if self._layout.protocol == 2:
            head = packets["head"]
            head["duration_100ns"] = np.rint((times[:, -1] - times[:, 0]) * (points / (points - 1) / 100.0))
            head["count"] = (self._sent + np.arange(n)) & 0xFFFF
            livox.sign(packets)
        self._sent += n
        return [PacketBatch("lidar", rows_of(packets), found.fired_ns.reshape(n, points)[:, -1])]

    def sample(self, reading: InertialReading, sampled_ns: int) -> list[PacketBatch]:
        """The packet of an IMU sample; `sampled_ns` is its true time."""
        if self.model.imu_kind is None:
            raise SpecError(f"imu is given; packets of a {self.model.name} have no IMU")
        layout = livox.LAYOUTS[self.model.protocol, self.model.imu_kind]
        packet = livox.blank(layout, 1)
        packet["head"]["time_ns"] = reading.time_ns
        packet["data"]["rate_rad_s"] = reading.angular_velocity
        packet["data"]["acceleration_g"] = reading.acceleration / STANDARD_GRAVITY
        if layout.protocol == 2:
            packet["head"]["count"] = self._sampled & 0xFFFF
            livox.sign(packet)
        self._sampled += 1
        return [PacketBatch("imu", rows_of(packet), np.array([sampled_ns]))]

    def _pulses(self, scan: Scan) -> _Pulses:
        """All pulses of a sweep, shot by shot; the beams of one shot follow each other."""
        rays = scan.offset_ns.shape
        returns = returns_of(scan, self._spec)
        points = scan.points.reshape(-1, *rays, 3)
        xyz_mm = np.where(returns.range_m[..., None] > 0.0, np.rint(1e3 * points), 0.0).astype(np.int32)
        count = len(returns.range_m)
        offset_ns = scan.offset_ns.T.reshape(-1)
        order = np.argsort(offset_ns, kind="stable")
        own_ns = scan.ray_time_ns.reshape(-1, *rays)[0].T.reshape(-1)
        return _Pulses(
            own_ns[order],
            scan.start_ns + offset_ns[order],
            xyz_mm.transpose(2, 1, 0, 3).reshape(-1, count, 3)[order],
            returns.reflectivity.transpose(2, 1, 0).reshape(-1, count)[order],
        )
