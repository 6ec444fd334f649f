"""sensor_msgs/PointCloud2: the returns of a lidar; sensor_msgs/Range: a lidar of one ray, which is a rangefinder."""

import math
from functools import cached_property, partial

import numpy as np
from numpy.typing import NDArray

from sensorium.record.clouds.cloud import cloud_fields
from sensorium.record.ros2.message import DeferredBytes, Message, Source, header
from sensorium.sensors.lidar.lidar import Lidar
from sensorium.sensors.lidar.scan import Scan, ScanField

Words = NDArray[np.uint32]

# Fields that every message has, at places of their own
_IN_ALL = ("points", "intensity", "label", "cause")

_POINT_FIELD_TYPES = {"u1": 2, "u2": 4, "i4": 5, "u4": 6, "f4": 7, "f8": 8}


def point_kind(scan: Scan) -> np.dtype[np.void]:
    """The record of one return.

    Fields: x, y, z [m] as in the scan, intensity, t: time after the first firing by the sensor's clock [ns] (a sweep of
    4.29 s or more has `time` [s] as float64 instead), label, the other fields of `Scan.FIELDS` that are for messages,
    such as ambient [W] and width [s], ring (channel), cause, and the return number of its ray.
    """
    return np.dtype(
        [
            *((axis, scan.points.dtype.newbyteorder("<")) for axis in "xyz"),
            ("intensity", "<f4"),
            ("time", "<f8") if _is_long(scan) else ("t", "<u4"),
            ("label", "<i4"),
            *((name, _word(field)) for field in _extra_fields(scan) for name in field.columns),
            ("ring", "<u2"),
            ("cause", "u1"),
            ("return", "u1"),
        ]
    )


def point_cloud(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """One message a row: row, end of the topic, message. The stamp is the sweep's start by the sensor's clock.

    Points are in the order of `Scan.flat()`. They are counted now and packed when they are written.
    """
    stamp_ns, kind, rows = scan.time_ns, point_kind(scan), len(source.frames)
    valid = scan.valid.reshape(rows, -1)
    packer = _Packer(scan, valid)
    messages = []
    for row in range(rows):
        frame = source.roots[row] if scan.frame == "world" else source.frames[row]
        count = int(np.count_nonzero(valid[row]))
        data = DeferredBytes(count * kind.itemsize, partial(packer.pack, row))
        messages.append((row, "points", cloud_message(kind, count, data, stamp_ns, frame)))
    return messages


def cloud_message(kind: np.dtype[np.void], count: int, data: DeferredBytes, stamp_ns: int, frame_id: str) -> Message:
    """A message with this many records of a kind as its points."""
    assert kind.fields is not None
    assert kind.names is not None
    fields = [
        {
            "name": name,
            "offset": offset,
            "datatype": _POINT_FIELD_TYPES[field.base.str[1:]],
            "count": math.prod(field.shape),
        }
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
    """Packs the returns of a scan; data common to all rows are computed once, when the first is packed."""

    def __init__(self, scan: Scan, valid: NDArray[np.bool_]) -> None:
        self._scan, self._valid = scan, valid

    def pack(self, row: int, out: NDArray[np.uint8]) -> None:
        """Write the records of one row."""
        # Compiled functions take a second to load, and not every recording has clouds
        from sensorium.record.ros2.pack_points import ReturnWords, pack_points

        points, intensity, label, cause = self._arrays
        words = points.shape[-1] + self._time.shape[-1] + 3 + self._extra.shape[-1]
        returns = ReturnWords(points[row], intensity[row], label[row], self._extra[row], cause[row])
        records, columns = out.view(np.uint32).reshape(-1, words), self._scan.range_m.shape[-1]
        pack_points(records, self._valid[row], returns, self._time, columns)

    @cached_property
    def _time(self) -> Words:
        """Firing times as words, shape (rays, 1 or 2)."""
        t_ns = offsets_ns(self._scan).reshape(-1, 1)
        return (t_ns * 1e-9 if _is_long(self._scan) else t_ns.astype(np.uint32)).view(np.uint32)

    @cached_property
    def _extra(self) -> Words:
        """Fields that only some scans have as words, shape (rows, returns, words), or no words where there are none."""
        fields = [(np.asarray(getattr(self._scan, f.name)), _word(f)) for f in _extra_fields(self._scan)]
        words = [array.astype(word).reshape(*self._valid.shape, -1).view(np.uint32) for array, word in fields]
        return np.concatenate([np.zeros((*self._valid.shape, 0), np.uint32), *words], axis=-1)

    @cached_property
    def _arrays(self) -> tuple[Words, Words, Words, NDArray[np.uint8]]:
        """Points, intensities and labels as words, and causes, each with an axis of rows first."""
        scan, shape = self._scan, self._valid.shape
        points = np.ascontiguousarray(scan.points).reshape(*shape, 3).view(np.uint32)
        intensity = np.ascontiguousarray(scan.intensity, np.float32).reshape(shape).view(np.uint32)
        label = np.ascontiguousarray(scan.label).reshape(shape).view(np.uint32)
        return points, intensity, label, np.ascontiguousarray(scan.cause).reshape(shape)


def _extra_fields(scan: Scan) -> list[ScanField]:
    """Fields of messages that are not in every one."""
    return [field for field in cloud_fields(scan) if field.in_messages and field.name not in _IN_ALL]


def _word(field: ScanField) -> str:
    """A number of a field in 32 bits."""
    return f"<{np.dtype(field.dtype).kind}4"


def _is_long(scan: Scan) -> bool:
    """Whether nanoseconds of 32 bits cannot hold all firing times; the last ray is the last by any clock."""
    last_ns = int(scan.offset_ns.max(initial=0))
    return (
        last_ns + round((scan.start_ns + last_ns) * scan.clock_skew) - round(scan.start_ns * scan.clock_skew) >= 2**32
    )


def offsets_ns(scan: Scan) -> NDArray[np.int64]:
    """Firing times after the stamp by the sensor's clock [ns], shape (channels, columns)."""
    if not scan.clock_skew:
        return scan.offset_ns
    true_ns = scan.start_ns + scan.offset_ns
    return scan.offset_ns + np.rint(true_ns * scan.clock_skew).astype(np.int64) - round(scan.start_ns * scan.clock_skew)


_INFRARED = 1


def single_range(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """One message a row where the scan has one ray; none for any other.

    The range is that of the first return [m], and +inf where nothing returned (REP 117). The field of view is the
    beam's full angle where the lidar models light, and 0 for a geometric ray. The stamp is the time of firing by the
    sensor's clock.
    """
    if scan.range_m.shape[-2:] != (1, 1):
        return []
    spec = source.spec
    assert isinstance(spec, Lidar)
    rows = len(source.frames)
    ranges, valid = scan.range_m.reshape(rows, -1)[:, 0], scan.valid.reshape(rows, -1)[:, 0]
    stamp_ns = int(scan.ray_time_ns.flat[0])
    messages = []
    for row in range(rows):
        fields = {
            "header": header(stamp_ns, source.frames[row]),
            "radiation_type": _INFRARED,
            "field_of_view": 0.0 if spec.mode == "geometric" else 2.0 * spec.beam.widest_rad,
            "min_range": spec.min_range_m,
            "max_range": spec.max_range_m,
            "range": float(ranges[row]) if valid[row] else np.inf,
        }
        messages.append((row, "range", Message("sensor_msgs/msg/Range", stamp_ns, fields)))
    return messages
