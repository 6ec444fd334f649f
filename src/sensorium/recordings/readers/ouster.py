"""Ouster packets and their metadata as a recording of columns, and samples of the IMU."""

import math
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.core.units import STANDARD_GRAVITY
from sensorium.files.plain_files import read_json
from sensorium.recordings.packets import ouster
from sensorium.recordings.readers.calibration import Beams
from sensorium.recordings.readers.columns import refuse_two_heads
from sensorium.recordings.readers.datagrams import Datagrams
from sensorium.recordings.scans import FULL_TURN, LidarRecording


class Metadata(NamedTuple):
    """What the metadata of a sensor say of its packets.

    Attributes:
        device: Product line, as "OS-1-128".
        profile: Profile of its packets, a key of `ouster.PROFILES`.
        channels: Pixels of a column.
        columns_per_packet: Columns of a packet.
        columns_per_turn: Columns of a turn.
        beams: Angles of the channels.
    """

    device: str
    profile: str
    channels: int
    columns_per_packet: int
    columns_per_turn: int
    beams: Beams

    def packet_type(self) -> np.dtype[np.void]:
        """Fields of a packet."""
        return ouster.packet_type(self.profile, self.channels, self.columns_per_packet)


class ImuSamples(NamedTuple):
    """Samples of the IMU in the lidar, n of them.

    Attributes:
        time_ns: Time of the sample [ns], shape (n,).
        acceleration: Specific force [m/s^2], shape (n, 3).
        angular_velocity: Rate of rotation [rad/s], shape (n, 3).
    """

    time_ns: NDArray[np.int64]
    acceleration: NDArray[np.float64]
    angular_velocity: NDArray[np.float64]


def read_metadata(path: str | PathLike[str]) -> Metadata:
    """The JSON metadata of a sensor, flat as old firmware writes them, or in groups."""
    found = read_json(path)
    try:
        return metadata_of(found)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        if isinstance(error, SpecError):
            raise SpecError(f"{str(path)!r}: {error}") from None
        raise SpecError(f"{str(path)!r} is no metadata of an Ouster sensor: {type(error).__name__} {error}") from None


def metadata_of(found: dict[str, Any]) -> Metadata:
    """Metadata of a JSON object."""
    groups = ("sensor_info", "beam_intrinsics", "lidar_data_format", "config_params")
    flat = {**found, **{key: value for group in groups for key, value in found.get(group, {}).items()}}
    form = found.get("data_format", found.get("lidar_data_format", {}))
    elevation = np.radians(np.asarray(flat["beam_altitude_angles"], np.float64)).reshape(-1)
    azimuth = np.radians(np.asarray(flat["beam_azimuth_angles"], np.float64)).reshape(-1)
    channels = int(form.get("pixels_per_column", len(elevation)))
    turn = int(form.get("columns_per_frame", 0) or str(flat.get("lidar_mode", "0x0")).split("x")[0])
    if not 1 <= turn <= ouster.MOST_COLUMNS:
        raise SpecError(f"columns_per_frame is {turn}; it must be from 1 to {ouster.MOST_COLUMNS}")
    if elevation.shape != (channels,) or azimuth.shape != (channels,):
        raise SpecError(f"{len(elevation)} altitudes and {len(azimuth)} azimuths are given for {channels} pixels")
    if not (np.isfinite(elevation).all() and np.isfinite(azimuth).all()):
        raise SpecError("beam angles must be finite")
    return Metadata(
        device=str(flat.get("prod_line", "Ouster")),
        profile=str(form.get("udp_profile_lidar") or flat.get("udp_profile_lidar") or ouster.LEGACY),
        channels=channels,
        columns_per_packet=int(form.get("columns_per_packet", 16)),
        columns_per_turn=turn,
        beams=Beams(elevation, azimuth, np.zeros(channels)),
    )


def metadata_file(path: Path) -> Path | None:
    """The JSON beside a recording: of the same name, else the one whose name the recording's begins with."""
    same = path.with_suffix(".json")
    if same.is_file():
        return same
    begins = [each for each in path.parent.glob("*.json") if path.stem.startswith(each.stem)]
    return max(begins, key=lambda each: len(each.stem), default=None)


def ouster_recording(
    packets: NDArray[np.void], metadata: Metadata, source: str, *, remarks: tuple[str, ...] = ()
) -> LidarRecording:
    """Columns of packets of one sensor; columns that are marked invalid are left out.

    Args:
        packets: In the order of time, shape (n,) of the metadata's packet type.
        metadata: Of the sensor.
        source: Name of the file.
        remarks: What was left out before.
    """
    columns = packets["columns"].reshape(-1)
    if metadata.profile == ouster.LEGACY:
        frame, valid = columns["frame"], columns["status"] == 0xFFFFFFFF
    else:
        frame = np.repeat(packets["header"]["frame"], metadata.columns_per_packet)
        valid = (columns["status"] & ouster.VALID_COLUMN).astype(bool)
    valid &= columns["column"] < metadata.columns_per_turn
    if not valid.any():
        raise SpecError(f"{source!r} has no valid column of {metadata.device}")
    columns, frame = columns[valid], frame[valid]
    order = np.argsort(columns["time_ns"], kind="stable")
    columns, frame = columns[order], frame[order]
    azimuth = columns["column"] * (FULL_TURN / metadata.columns_per_turn)
    refuse_two_heads(azimuth, np.ones(len(columns), np.bool_), metadata.device, source)
    words = columns["pixels"]
    ends = ("", "_2") if "range_mm_2" in ouster.PROFILES[metadata.profile] else ("",)

    def stacked(name: str) -> NDArray[np.uint32]:
        return np.stack([ouster.field_of(words, metadata.profile, name + end) for end in ends], axis=-1)

    fields = ouster.PROFILES[metadata.profile]
    has_signal = "signal" in fields
    turns = np.cumsum(np.diff(frame.astype(np.int64), prepend=int(frame[0])) != 0, dtype=np.int32)
    return LidarRecording(
        device=metadata.device,
        source=source,
        is_clockwise=True,
        time_ns=columns["time_ns"].astype(np.int64),
        is_stamped=np.ones(len(columns), np.bool_),
        azimuth=azimuth,
        turn=turns,
        range_m=stacked("range_mm").astype(np.float32) * np.float32(1e-3),
        reflectivity=stacked("reflectivity").astype(np.uint8),
        signal=stacked("signal").astype(np.uint16) if has_signal else None,
        background=ouster.field_of(words, metadata.profile, "background").astype(np.uint16),
        returns=("strongest", "second")[: len(ends)],
        range_unit_m=1e-3 * (1 << fields["range_mm"].dropped),
        elevation=metadata.beams.elevation,
        azimuth_offset=metadata.beams.azimuth_offset,
        channel_time_s=metadata.beams.time_s,
        columns_per_turn=metadata.columns_per_turn,
        remarks=remarks,
    )


def imu_samples(datagrams: Datagrams) -> ImuSamples:
    """Samples of the IMU packets (48 bytes) of a capture."""
    found = [payload for payload in datagrams.payloads if len(payload) == ouster.IMU_PACKET.itemsize]
    packets = np.frombuffer(b"".join(found), ouster.IMU_PACKET)
    acceleration = packets["acceleration_g"].astype(np.float64) * STANDARD_GRAVITY
    rate = packets["rate_deg_s"].astype(np.float64) * (math.pi / 180.0)
    finite = np.isfinite(acceleration).all(1) & np.isfinite(rate).all(1)
    return ImuSamples(packets["accelerometer_ns"].astype(np.int64)[finite], acceleration[finite], rate[finite])
