"""sensor_msgs/Image: pictures and maps of depth."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.record.ros2.message import Message, header
from sensorium.sensors.lidar.scan import Scan

# Encoding -> type of a number and how many a pixel has
ENCODINGS = {
    "mono8": ("u1", 1),
    "rgb8": ("u1", 3),
    "rgb16": ("<u2", 3),
    **{f"bayer_{order}8": ("u1", 1) for order in ("rggb", "bggr", "grbg", "gbrg")},
    **{f"bayer_{order}16": ("<u2", 1) for order in ("rggb", "bggr", "grbg", "gbrg")},
    "mono16": ("<u2", 1),
    "16UC1": ("<u2", 1),
    "32FC1": ("<f4", 1),
    "32FC2": ("<f4", 2),
    "32FC3": ("<f4", 3),
    "16SC1": ("<i2", 1),
    "32SC1": ("<i4", 1),
}


def image(pixels: NDArray[Any], encoding: str, *, stamp_ns: int, frame_id: str) -> Message:
    """A picture without conversion, row by row from the top.

    Args:
        pixels: Shape (height, width), or (height, width, n) for encodings of n numbers, of the encoding's own type.
        encoding: mono8 or mono16 (brightness), rgb8 or rgb16, bayer_rggb8 and the like, 16UC1 (depth [mm], as depth
            cameras give it), 32FC1 (depth [m], REP 118), 32FC2 and 32FC3 (vectors), 16SC1 or 32SC1 (labels).
        stamp_ns: When it was taken, by the sensor's clock [ns].
        frame_id: Frame of the camera: z forward, x right, y down.
    """
    if encoding not in ENCODINGS:
        raise SpecError(f"encoding is {encoding!r}; it must be one of {', '.join(ENCODINGS)}")
    kind, numbers = ENCODINGS[encoding]
    array = np.asarray(pixels)
    wanted = np.dtype(kind)
    shape_is_right = array.ndim == 2 if numbers == 1 else array.ndim == 3 and array.shape[2] == numbers
    if not shape_is_right or array.dtype != wanted:
        rule = f"{encoding} must be (height, width{f', {numbers}' if numbers > 1 else ''}) of {wanted.name}"
        raise SpecError(f"pixels have shape {array.shape} and type {array.dtype}; {rule}")
    height, width = array.shape[:2]
    fields = {
        "header": header(stamp_ns, frame_id),
        "height": height,
        "width": width,
        "encoding": encoding,
        "is_bigendian": 0,
        "step": width * numbers * wanted.itemsize,
        "data": np.ascontiguousarray(array, wanted).view(np.uint8).reshape(-1),
    }
    return Message("sensor_msgs/msg/Image", stamp_ns, fields)


def range_image(scan: Scan, *, frame_id: str) -> Message:
    """The ranges of a scan [m] as a picture of channels by columns, 32FC1.

    Pixels without a return are NaN; of a scan with a range image they are infinity, and minus infinity if too near (REP
    118), in meters even if that image is normalized. Of several returns of a ray, the first; the rows are in the order
    of the pattern's channels. The stamp is the sweep's start by the sensor's clock.

    Args:
        scan: Of one sensor in one world, organized.
        frame_id: Frame of the lidar.
    """
    if scan.X_WS.shape[1:] != (1, 1) or scan.range_m.ndim < 2:
        raise SpecError(
            f"the scan has shape {scan.range_m.shape}; a picture must be of one organized scan, channels by columns"
        )
    shape = (-1, *scan.range_m.shape[-2:])
    ranges_m = np.where(scan.valid, scan.range_m, np.float32(np.nan))
    if scan.range_image is not None:
        ranges_m = scan.range_image.in_meters()
    return image(ranges_m.reshape(shape)[0], "32FC1", stamp_ns=scan.time_ns, frame_id=frame_id)
