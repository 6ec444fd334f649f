"""sensor_msgs/PointCloud2 of the samples that a waveform lidar keeps: one record a pulse."""

import math
from functools import partial

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.record.ros2.message import DeferredBytes, Message, Source
from sensorium.record.ros2.point_cloud import cloud_message, offsets_ns
from sensorium.sensors.lidar.scan import Scan

# Lengths in a message have 32 bits
_MOST_BYTES = 2**32 - 1


def pulse_kind(bins: int) -> np.dtype[np.void]:
    """The record of one pulse with this many samples.

    Fields: time of firing after the stamp by the sensor's clock [s], when the first bin begins after the pulse has left
    and how long a bin is [s], the refractive index by which times become ranges, ring (channel), column, and all
    samples, power at the detector times the gain [W], of which sample b is of the range
    c (start_s + (b + 1/2) resolution_s) / (2 index).
    """
    return np.dtype(
        [
            ("time", "<f8"),
            ("start_s", "<f8"),
            ("resolution_s", "<f8"),
            ("index", "<f8"),
            ("ring", "<u4"),
            ("column", "<u4"),
            ("samples", "<f4", (bins,)),
        ]
    )


def waveforms(scan: Scan, source: Source) -> list[tuple[int, str, Message]]:
    """One message a row with the samples of all its pulses, channel by channel; none where they are not kept."""
    if scan.waveform is None:
        return []
    samples, rows = scan.waveform.samples, len(source.frames)
    kind, pulses = pulse_kind(samples.shape[-1]), math.prod(scan.range_m.shape[-2:])
    length = pulses * kind.itemsize
    if length > _MOST_BYTES:
        raise SpecError(
            f"samples of {pulses} pulses take {length / 1e9:.3g} GB; a message must have less than 4.29 GB: keep a "
            "shorter window (waveform.start_s, stop_s), or record the scan as NPZ"
        )
    messages = []
    for row, frame in enumerate(source.frames):
        data = DeferredBytes(length, partial(_pack, scan, samples.reshape(rows, pulses, -1)[row]))
        messages.append((row, "waveforms", cloud_message(kind, pulses, data, scan.time_ns, frame)))
    return messages


def _pack(scan: Scan, samples: NDArray[np.float32], out: NDArray[np.uint8]) -> None:
    """Write the records of one row."""
    assert scan.waveform is not None
    records, columns = out.view(pulse_kind(samples.shape[1])), scan.range_m.shape[-1]
    number = np.arange(len(samples))
    records["time"] = offsets_ns(scan).reshape(-1) * 1e-9
    for name in ("start_s", "resolution_s", "index"):
        records[name] = getattr(scan.waveform, name)
    records["ring"], records["column"] = number // columns, number % columns
    records["samples"] = samples
