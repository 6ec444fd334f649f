"""The returns of a scan as columns, for the formats that hold one number of each kind for every point."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError
from sensorium.sensors.lidar.scan import Scan, ScanField


def checked_scan(scan: Scan) -> Scan:
    """A scan to write, distinguished from the path that comes after it."""
    if not isinstance(scan, Scan):
        given = f" {str(scan)!r}" if isinstance(scan, str | PathLike) else ""
        raise SpecError(f"scan is a {type(scan).__name__}{given}; it must be a sn.Scan, and come after the path")
    return scan


def columns_of(scan: Scan) -> dict[str, NDArray[Any]]:
    """Every array of `Scan.FIELDS` that the scan has, by its names in clouds, then t [ns], ring and return.

    Times t are after the start. Only returns, in the order of `Scan.flat()`; of one sensor in one world. Returns of a
    ray are numbered from 0. A scan that is already flat has no rings and return numbers.
    """
    if checked_scan(scan).X_WS.shape[1:] != (1, 1):
        raise SpecError(f"the scan has {scan.X_WS.shape[1:]} worlds and sensors; a cloud must be of one of each")
    flat = scan.flat()
    columns: dict[str, NDArray[Any]] = {}
    for field in cloud_fields(scan):
        array = np.asarray(getattr(flat, field.name), field.dtype)
        columns |= (
            {name: array[:, k] for k, name in enumerate(field.columns)} if field.tail else {field.columns[0]: array}
        )
    columns["t"] = flat.offset_ns
    if scan.range_m.ndim > 1:
        at = np.flatnonzero(scan.valid)
        rays = scan.range_m.shape[-2] * scan.range_m.shape[-1]
        columns["ring"] = (at % rays // scan.range_m.shape[-1]).astype(np.uint16)
        columns["return"] = (at // rays).astype(np.uint8)
    return columns


def cloud_fields(scan: Scan) -> list[ScanField]:
    """Fields that clouds of a scan have: those that it has, and of light's those that every cloud has."""
    fields = [f for f in scan.FIELDS if scan.light is not None or not f.of_light or f.in_every_cloud]
    return [field for field in fields if getattr(scan, field.name) is not None]
