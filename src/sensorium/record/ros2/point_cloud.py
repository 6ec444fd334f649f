"""sensor_msgs/PointCloud2: the returns of a lidar."""

import numpy as np
from numpy.typing import NDArray

from sensorium.record.ros2.message import Message, header
from sensorium.record.ros2.source import Source
from sensorium.sensors.scan import Scan

_POINT_FIELD_TYPES = {"u1": 2, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}


def point_rows(scan: Scan, rows: int) -> list[NDArray[np.void]]:
    """The returns of each of so many sensors as packed records, in the order of `Scan.flat()`.

    Fields: x, y, z [m] as the scan has them, intensity, t: time after the first firing by the sensor's clock [ns] (a
    sweep of 4.29 s or more has `time` [s] as float64 instead), label, ring (channel), cause, and which return of its
    ray it is.
    """
    valid = scan.valid.reshape(rows, -1)
    offset_ns = _offsets_ns(scan)
    is_long = bool(offset_ns.size) and int(offset_ns.max()) >= 2**32
    kind = np.dtype(
        [
            *((axis, scan.points.dtype.newbyteorder("<")) for axis in "xyz"),
            ("intensity", "<f4"),
            ("time", "<f8") if is_long else ("t", "<u4"),
            ("label", "<i4"),
            ("ring", "<u2"),
            ("cause", "u1"),
            ("return", "u1"),
        ]
    )
    channels, columns = scan.range_m.shape[-2:]
    rays, per_row = channels * columns, scan.range_m.size // rows
    points = scan.points.reshape(rows, per_row, 3)
    intensity, label, cause = (a.reshape(rows, per_row) for a in (scan.intensity, scan.label, scan.cause))
    line = np.arange(per_row // columns)
    clouds = []
    for row in range(rows):
        # Gathered by number, which is several times as fast as by mask; lines are channels, return after return
        at = np.flatnonzero(valid[row])
        of_line = np.count_nonzero(valid[row].reshape(-1, columns), axis=1)
        cloud = np.empty(len(at), kind)
        xyz = points[row].take(at, axis=0)
        for k, axis in enumerate("xyz"):
            cloud[axis] = xyz[:, k]
        t_ns = offset_ns.ravel().take(at if per_row == rays else at % rays)
        cloud["intensity"] = intensity[row].take(at)
        cloud["time" if is_long else "t"] = t_ns * 1e-9 if is_long else t_ns
        cloud["label"] = label[row].take(at)
        cloud["ring"] = np.repeat((line % channels).astype(np.uint16), of_line)
        cloud["cause"] = cause[row].take(at)
        cloud["return"] = np.repeat((line // channels).astype(np.uint8), of_line)
        clouds.append(cloud)
    return clouds


def point_cloud(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """One message a row: row, end of the topic, message. The stamp is the sweep's start by the sensor's clock."""
    stamp_ns = _on_clock(scan, scan.start_ns)
    messages = []
    for row, cloud in enumerate(point_rows(scan, len(source.frames))):
        frame = source.roots[row] if scan.frame == "world" else source.frames[row]
        messages.append((row, "points", cloud_message(cloud, stamp_ns, frame)))
    return messages


def cloud_message(cloud: NDArray[np.void], stamp_ns: int, frame_id: str) -> Message:
    """A message with these records as its points."""
    kind = cloud.dtype
    assert kind.fields is not None
    assert kind.names is not None
    fields = [
        {"name": name, "offset": offset, "datatype": _POINT_FIELD_TYPES[field.str[1:]], "count": 1}
        for name, (field, offset) in ((name, kind.fields[name][:2]) for name in kind.names)
    ]
    return Message(
        "sensor_msgs/msg/PointCloud2",
        stamp_ns,
        {
            "header": header(stamp_ns, frame_id),
            "height": 1,
            "width": len(cloud),
            "fields": fields,
            "is_bigendian": False,
            "point_step": kind.itemsize,
            "row_step": kind.itemsize * len(cloud),
            "data": cloud.view(np.uint8),
            "is_dense": True,
        },
    )


def _on_clock(scan: Scan, time_ns: int) -> int:
    """What the sensor's clock showed at a true time [ns]."""
    return time_ns + scan.clock_offset_ns + round(time_ns * scan.clock_skew)


def _offsets_ns(scan: Scan) -> NDArray[np.int64]:
    """Firing times after the stamp by the sensor's clock [ns], shape (channels, columns)."""
    if not scan.clock_skew:
        return scan.offset_ns
    true_ns = scan.start_ns + scan.offset_ns
    return scan.offset_ns + np.rint(true_ns * scan.clock_skew).astype(np.int64) - round(scan.start_ns * scan.clock_skew)
