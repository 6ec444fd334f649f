"""Which lidar sent the packets of a recording, and its columns."""

from collections import Counter
from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.files.plain_files import first_bytes
from sensorium.recordings.packets import hesai, velodyne
from sensorium.recordings.readers.datagrams import Datagrams, joined, listed
from sensorium.recordings.readers.hesai import hesai_recording
from sensorium.recordings.readers.osf import is_osf, read_osf
from sensorium.recordings.readers.ouster import Metadata, metadata_file, ouster_recording, read_metadata
from sensorium.recordings.readers.pcap import is_capture, read_pcap
from sensorium.recordings.readers.rosbags import bag_files, is_bag, read_bag_packets
from sensorium.recordings.readers.velodyne import velodyne_recording
from sensorium.recordings.scans import LidarRecording

# Packets of another device up to this share are strays, which are left out with a remark
_STRAYS = 0.01

# What its packets are of, before the metadata name the model
_OUSTER = "Ouster"


class _Found(NamedTuple):
    """Packets of one device in one stream."""

    stream: str
    device: str
    packets: NDArray[np.void]


def is_lidar_container(path: Path, start: bytes) -> bool:
    """Whether a file that begins with these bytes, or a folder of bags, may hold packets of a lidar."""
    return is_capture(start) or is_bag(start) or is_osf(start) or bool(bag_files(path))


def read_lidar(
    path: str | PathLike[str], *, calibration: str | PathLike[str] | None = None, stream: str | None = None
) -> LidarRecording:
    """Columns of a lidar in a capture, a rosbag or an OSF file.

    Args:
        path: A pcap, pcapng, rosbag1, rosbag2 (SQLite or MCAP) or OSF file, or the folder of a rosbag2.
        calibration: The unit's own angles: Hesai's CSV, Velodyne's YAML; for Ouster the metadata (JSON), which are
            looked for beside the file without it.
        stream: Part of the name of the stream to read (address, port or topic), where there are several.
    """
    path = Path(path)
    files = bag_files(path)
    start = b"" if files else first_bytes(path, 16)
    if is_osf(start):
        for option, value in (("calibration", calibration), ("stream", stream)):
            if value is not None:
                raise SpecError(f"{option} is {str(value)!r}; an OSF file has its own metadata and one sensor")
        return read_osf(path)
    if files:
        datagrams = joined([read_bag_packets(file) for file in files], path.name).chosen(stream)
    else:
        datagrams = (read_pcap(path) if is_capture(start) else read_bag_packets(path)).chosen(stream)
    given = None if calibration is None else Path(calibration)
    beside = (
        given if given is not None and given.suffix.lower() == ".json" else metadata_file(files[0] if files else path)
    )
    metadata = None if beside is None else _metadata(beside, given)
    found = lidar_of(datagrams, metadata=metadata, calibration=None if given == beside else given)
    if given is not None and given == beside and not found.columns_per_turn:
        raise SpecError(f"calibration is {str(given)!r}, metadata of an Ouster; the packets are of a {found.device}")
    return found


def _metadata(beside: Path, given: Path | None) -> Metadata | None:
    """Metadata of the sensor; a JSON that happens to be beside a recording may be of anything."""
    try:
        return read_metadata(beside)
    except SpecError:
        if beside == given:
            raise
        return None


def lidar_of(datagrams: Datagrams, *, metadata: Metadata | None, calibration: Path | None) -> LidarRecording:
    """Columns of the one lidar that sent these datagrams; several, or none, raise SpecError."""
    source, found, others = datagrams.source, list[_Found](), Counter[int]()
    sizes = np.array([len(payload) for payload in datagrams.payloads], np.int64)
    for number, name in enumerate(datagrams.streams):
        in_stream = datagrams.stream == number
        for size in np.unique(sizes[in_stream]).tolist():
            chosen = np.flatnonzero(in_stream & (sizes == size))
            data = b"".join([datagrams.payloads[k] for k in chosen])
            known = _known(data, size, name, metadata)
            found += known
            others[size] += len(chosen) - sum(len(each.packets) for each in known)
    if not found:
        shown = ", ".join(f"{size} bytes ({count} times)" for size, count in others.most_common(5)) or "no packets"
        hint = "; packets of an Ouster need its metadata (JSON)" if metadata is None else ""
        raise SpecError(f"{source!r} has no packets of a lidar that is known here: {shown}{hint}")
    most = max(found, key=lambda each: len(each.packets))
    strays = [each for each in found if each is not most]
    for each in strays:
        if len(each.packets) > _STRAYS * len(most.packets):
            if each.stream == most.stream:
                what = f"{most.device} ({len(most.packets)} packets) and {each.device} ({len(each.packets)})"
                raise SpecError(f"{source!r} has packets of two devices in one stream, {each.stream!r}: {what}")
            names = [f"{one.stream}: {one.device}" for one in found]
            raise SpecError(f"{source!r} has several lidars, {listed(names)}; choose one by its stream")
    remarks = list(datagrams.remarks)
    if strays:
        remarks.append(f"{sum(len(each.packets) for each in strays)} packets of other devices were left out")
    if calibration is not None and most.device == _OUSTER:
        raise SpecError(f"calibration is {str(calibration)!r}; for {most.device} it must be its metadata (JSON)")
    return _recording(most, source, metadata, calibration, tuple(remarks))


def _known(data: bytes, size: int, stream: str, metadata: Metadata | None) -> list[_Found]:
    """Packets of each device among packets of one size."""
    found = []
    if size == velodyne.BYTES:
        packets = velodyne.decode(data)
        marked = (packets["blocks"]["flag"][:, 0] == velodyne.FLAGS[0]) & np.isin(packets["mode"], [*velodyne.RETURNS])
        for product, model in velodyne.MODELS.items():
            chosen = marked & (packets["product"] == product)
            found.append(_Found(stream, model.name, packets[chosen]))
    elif size in hesai.LAYOUTS:
        layout = hesai.LAYOUTS[size]
        packets = hesai.decode(data, layout)
        found.append(_Found(stream, layout.name, packets[hesai.is_marked(packets, layout)]))
    elif metadata is not None and size == metadata.packet_type().itemsize:
        packets = np.frombuffer(data, metadata.packet_type())
        if "header" in (packets.dtype.names or ()):
            packets = packets[packets["header"]["kind"] == 1]
        found.append(_Found(stream, _OUSTER, packets))
    return [each for each in found if len(each.packets)]


def _recording(
    found: _Found, source: str, metadata: Metadata | None, calibration: Path | None, remarks: tuple[str, ...]
) -> LidarRecording:
    if found.device == _OUSTER:
        assert metadata is not None
        return ouster_recording(found.packets, metadata, source, remarks=remarks)
    if found.packets.dtype == velodyne.PACKET:
        return velodyne_recording(found.packets, source, calibration=calibration, remarks=remarks)
    layout = hesai.LAYOUTS[found.packets.dtype.itemsize]
    return hesai_recording(found.packets, layout, source, calibration=calibration, remarks=remarks)
