"""Ouster: packets of a sweep and of IMU samples."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.units import STANDARD_GRAVITY
from sensorium.live.lidar_udp.options import OusterUdp
from sensorium.live.lidar_udp.packets import PacketBatch, Returns, by_strength, counts_of, returns_of, rows_of
from sensorium.patterns.spinning import Spinning
from sensorium.recordings.packets import ouster
from sensorium.recordings.packets.crc64 import crc64
from sensorium.sensors.inertial.reading import InertialReading
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan

COLUMNS_PER_PACKET = 16
MODES = ("512x10", "512x20", "1024x10", "1024x20", "2048x10", "4096x5")
_SINGLE = "RNG19_RFL8_SIG16_NIR16"
_LEGACY_VALID = 0xFFFFFFFF
_ENCODER_COUNTS = 90112
_DUAL_FIELDS = ("range_mm", "reflectivity", "signal")


class OusterPackets:
    """Makes the packets of one lidar.

    The lidar's frame is Ouster's lidar frame: columns count clockwise from x. Ouster's sensor frame, in which its
    drivers may publish, is turned by 180 degrees about z (`lidar_to_sensor_transform` of the metadata). Ranges count
    from the lidar's axis, so the radius of the beams' origin is added to ours.
    """

    def __init__(self, spec: Lidar, options: OusterUdp, *, name: str) -> None:
        self.pattern, self.mode = _checked(spec, name)
        self._spec, self._options = spec, options
        dual = spec.mode != "geometric" and spec.returns in ("dual", "all")
        self.profile: str = options.profile or (_SINGLE + "_DUAL" if dual else _SINGLE)
        self._ends = ("", "_2") if "range_mm_2" in ouster.PROFILES[self.profile] else ("",)
        if len(self._ends) == 2 and not dual:
            raise SpecError(f"profile is {self.profile}; lidar {name!r} has one return, it must have returns 'all'")
        if options.near_ir_full_scale_w is not None and spec.mode not in ("radiometric", "waveform"):
            raise SpecError(
                f"near_ir_full_scale_w is {options.near_ir_full_scale_w}; lidar {name!r} has mode {spec.mode!r}, which "
                "measures no ambient light"
            )
        self.channels, self.columns = len(self.pattern.elevation_deg), self.pattern.columns
        self.origin_m = self.pattern.origin_offset_m[0][0] if self.pattern.origin_offset_m else 0.0
        self._first = _first_column(self.pattern, name)
        self._dtype = ouster.packet_type(self.profile, self.channels, COLUMNS_PER_PACKET)
        self._blank = self._blank_packets()
        crc64(rows_of(self._blank)[:, :-8])  # compiled or loaded before the first sweep

    def _blank_packets(self) -> NDArray[np.void]:
        """Packets of a sweep with all that is the same in every sweep."""
        packets = np.zeros(self.columns // COLUMNS_PER_PACKET, self._dtype)
        numbers = (self._first + np.arange(self.columns)) % self.columns
        columns = packets["columns"]
        columns["column"] = numbers.reshape(columns.shape)
        if self.profile == ouster.LEGACY:
            columns["status"] = _LEGACY_VALID
            columns["encoder"] = columns["column"].astype(np.int64) * _ENCODER_COUNTS // self.columns
            return packets
        columns["status"] = ouster.VALID_COLUMN
        packets["header"]["kind"] = ouster.LIDAR_KIND
        identity = session_of(self._options).to_bytes(3, "little") + self._options.serial.to_bytes(5, "little")
        packets["header"]["session_and_serial"] = np.frombuffer(identity, np.uint8)
        return packets

    def sweep(self, scan: Scan) -> list[PacketBatch]:
        """Packets of a sweep, shape (columns / 16,)."""
        packets = self._blank.copy()
        columns = packets["columns"]
        columns["time_ns"] = scan.ray_time_ns[..., 0, :].reshape(-1, self.columns)[0].reshape(columns.shape)
        turned = self._blank["columns"]["column"][:, 0] < self._first
        frame = (round(scan.start_ns * self.pattern.rate_hz * 1e-9) + turned) & 0xFFFF
        words = ouster.words_of(self._fields(scan), self.profile)
        columns["pixels"] = words.swapaxes(0, 1).reshape(columns["pixels"].shape)
        if self.profile == ouster.LEGACY:
            columns["frame"] = frame[:, None]
        else:
            packets["header"]["frame"] = frame
            packets["footer"]["crc"] = crc64(rows_of(packets)[:, :-8])
        fired_ns = scan.start_ns + scan.offset_ns[0].reshape(-1, COLUMNS_PER_PACKET).max(axis=1)
        return [PacketBatch("lidar", rows_of(packets), fired_ns)]

    def sample(self, reading: InertialReading, sampled_ns: int) -> list[PacketBatch]:
        """The packet of an IMU sample; `sampled_ns` is its true time."""
        packet = np.zeros(1, ouster.IMU_PACKET)
        for name in ("time_ns", "accelerometer_ns", "gyroscope_ns"):
            packet[name] = reading.time_ns
        packet["acceleration_g"] = reading.acceleration / STANDARD_GRAVITY
        packet["rate_deg_s"] = np.degrees(reading.angular_velocity)
        return [PacketBatch("imu", rows_of(packet), np.array([sampled_ns]))]

    def _fields(self, scan: Scan) -> dict[str, NDArray[np.uint32]]:
        """Fields of the pixels, each of shape (channels, columns)."""
        layout, returns = ouster.PROFILES[self.profile], returns_of(scan, self._spec)
        if len(returns.range_m) > 1:
            returns = by_strength(returns)
        bits = layout["range_mm"]
        unit_m = 1e-3 * (1 << bits.dropped)
        made: dict[str, Any] = {"range_mm": counts_of(returns.range_m, unit_m, self.origin_m, bits.length)}
        made["range_mm"] <<= np.uint32(bits.dropped)
        made["reflectivity"] = returns.reflectivity
        if "signal" in layout:
            made["signal"] = self._signal(returns)
        fields = {
            name + end: made[name][k] for k, end in enumerate(self._ends) for name in _DUAL_FIELDS if name in made
        }
        if self._options.near_ir_full_scale_w is not None and scan.ambient is not None:
            ambient = scan.ambient.reshape(-1, *scan.offset_ns.shape)[0]
            counts = ambient * np.float32(65535.0 / self._options.near_ir_full_scale_w)
            if layout["background"].length == 8:
                counts *= np.float32(4095.0 / 65535.0)
            fields["background"] = np.minimum(np.rint(counts), 65535).astype(np.uint32)
        return fields

    def _signal(self, returns: Returns) -> NDArray[np.uint32]:
        """Photons of the signal: reflectance over the square of range, as the reflectivity is calibrated by it."""
        reflectance, range_m = _REFLECTANCE[returns.reflectivity], returns.range_m
        scale = np.float32(100.0 * self._options.signal_at_10_m)
        signal = np.divide(scale * reflectance, range_m * range_m, out=np.zeros_like(range_m), where=range_m > 0.0)
        return np.minimum(np.rint(signal), 65535).astype(np.uint32)


# Reflectance of each byte: per cent, and above 100 logarithmic up to a thousand times white (IntensityScale)
_REFLECTANCE = np.where(
    np.arange(256) <= 100, np.arange(256) / 100.0, 1000.0 ** ((np.arange(256) - 100.0) / 155.0)
).astype(np.float32)


def session_of(options: OusterUdp) -> int:
    """The initialization id of 24 bits, a function of the serial number."""
    return (options.serial * 2_654_435_761) & 0xFFFFFF


def _checked(spec: Lidar, name: str) -> tuple[Spinning, str]:
    """The pattern and its mode; refuses what an Ouster's packets cannot tell."""
    pattern = spec.pattern
    if not isinstance(pattern, Spinning):
        raise SpecError(f"lidar {name!r} has pattern {pattern.kind!r}; an Ouster's must be 'spinning'")
    mode = f"{pattern.columns}x{pattern.rate_hz:g}"
    if mode not in MODES or pattern.azimuth_min_deg is not None:
        raise SpecError(f"lidar {name!r} has {mode} columns and Hz; an Ouster's full turn must be {', '.join(MODES)}")
    if pattern.direction != "clockwise":
        raise SpecError(f"lidar {name!r} turns {pattern.direction}; an Ouster must turn clockwise")
    if pattern.time_offset_s is not None and any(pattern.time_offset_s):
        raise SpecError(f"lidar {name!r} has time_offset_s; the channels of an Ouster's column must fire at once")
    origins = pattern.origin_offset_m or ((0.0, 0.0, 0.0),)
    if any(origin != origins[0] for origin in origins) or any(origins[0][1:]):
        raise SpecError(f"lidar {name!r} has several beam origins; an Ouster's must be one radius, ((r, 0, 0),)")
    if len(pattern.elevation_deg) > ouster.MOST_CHANNELS:
        raise SpecError(f"lidar {name!r} has {len(pattern.elevation_deg)} channels; at most {ouster.MOST_CHANNELS} fit")
    return pattern, mode


def _first_column(pattern: Spinning, name: str) -> int:
    """Measurement id of the sweep's first column, by the azimuth at which it begins."""
    first = -(pattern.start_azimuth_deg or 0.0) / 360.0 * pattern.columns
    if abs(first - round(first)) > 1e-6 or round(first) % COLUMNS_PER_PACKET:
        step = 360.0 * COLUMNS_PER_PACKET / pattern.columns
        raise SpecError(
            f"lidar {name!r} has start_azimuth_deg {pattern.start_azimuth_deg}; it must be a multiple of a packet's "
            f"{step} degrees"
        )
    return round(first) % pattern.columns
