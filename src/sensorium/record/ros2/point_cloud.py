"""sensor_msgs/PointCloud2: the returns of a lidar."""

import numpy as np
from numpy.typing import NDArray

from sensorium.record.ros2.message import Later, Message, header
from sensorium.record.ros2.source import Source
from sensorium.sensors.scan import Scan

_POINT_FIELD_TYPES = {"u1": 2, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}


def point_kind(scan: Scan) -> np.dtype[np.void]:
    """The record of one return.

    Fields: x, y, z [m] as the scan has them, intensity, t: time after the first firing by the sensor's clock [ns] (a
    sweep of 4.29 s or more has `time` [s] as float64 instead), label, width [s] of returns that a waveform lidar found,
    ring (channel), cause, and which return of its ray it is.
    """
    return np.dtype(
        [
            *((axis, scan.points.dtype.newbyteorder("<")) for axis in "xyz"),
            ("intensity", "<f4"),
            ("time", "<f8") if _is_long(scan) else ("t", "<u4"),
            ("label", "<i4"),
            *([] if scan.width_s is None else [("width", "<f4")]),
            ("ring", "<u2"),
            ("cause", "u1"),
            ("return", "u1"),
        ]
    )


def point_cloud(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """One message a row: row, end of the topic, message. The stamp is the sweep's start by the sensor's clock.

    Points are in the order of `Scan.flat()`. They are counted now and packed when they are written.
    """
    stamp_ns, kind, rows = _on_clock(scan, scan.start_ns), point_kind(scan), len(source.frames)
    valid = scan.valid.reshape(rows, -1)
    messages = []
    for row in range(rows):
        frame = source.roots[row] if scan.frame == "world" else source.frames[row]
        count = int(np.count_nonzero(valid[row]))
        data = Later(count * kind.itemsize, _Packer(scan, valid, row))
        messages.append((row, "points", cloud_message(kind, count, data, stamp_ns, frame)))
    return messages


def cloud_message(kind: np.dtype[np.void], count: int, data: Later, stamp_ns: int, frame_id: str) -> Message:
    """A message with so many records of a kind as its points."""
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
            "width": count,
            "fields": fields,
            "is_bigendian": False,
            "point_step": kind.itemsize,
            "row_step": kind.itemsize * count,
            "data": data,
            "is_dense": True,
        },
    )


class _Packer:
    """Packs the returns of one of several sensors of a scan."""

    def __init__(self, scan: Scan, valid: NDArray[np.bool_], row: int) -> None:
        self._scan, self._valid, self._row = scan, valid, row

    def __call__(self, out: NDArray[np.uint8]) -> None:
        # Compiled functions take a second to load, and not every recording has clouds
        from sensorium.record.ros2.pack_points import pack_points

        scan, keep = self._scan, self._valid[self._row]
        rows, per_row = self._valid.shape
        columns = scan.range_m.shape[-1]
        t_ns = _offsets_ns(scan).ravel()
        time = t_ns * 1e-9 if _is_long(scan) else t_ns.astype(np.uint32)
        points = np.ascontiguousarray(scan.points.reshape(rows, per_row, 3)[self._row])
        intensity, label, cause = (
            np.ascontiguousarray(array.reshape(rows, per_row)[self._row], kind)
            for array, kind in ((scan.intensity, np.float32), (scan.label, np.int32), (scan.cause, np.uint8))
        )
        extra = np.zeros((per_row, 0), np.uint32)
        if scan.width_s is not None:
            width = np.ascontiguousarray(scan.width_s.reshape(rows, per_row)[self._row], np.float32)
            extra = width.view(np.uint32).reshape(per_row, 1)
        words = (points.itemsize * 3 + time.itemsize) // 4 + 3 + extra.shape[1]
        pack_points(
            out.view(np.uint32).reshape(-1, words),
            keep,
            points.view(np.uint32),
            intensity.view(np.uint32),
            time.view(np.uint32).reshape(len(t_ns), -1),
            label.view(np.uint32),
            extra,
            cause,
            columns,
        )


def _is_long(scan: Scan) -> bool:
    """Whether nanoseconds of 32 bits cannot tell all firing times; the last ray is the last by any clock."""
    last_ns = int(scan.offset_ns.max(initial=0))
    return (
        last_ns + round((scan.start_ns + last_ns) * scan.clock_skew) - round(scan.start_ns * scan.clock_skew) >= 2**32
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
