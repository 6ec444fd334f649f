"""The returns of a scan as columns, for the formats that hold one number of each kind for every point."""

from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.errors import SpecError
from sensorium.sensors.scan import Light, Scan


def checked_scan(scan: Scan) -> Scan:
    """A scan to write, told apart from the path that comes after it."""
    if not isinstance(scan, Scan):
        given = f" {str(scan)!r}" if isinstance(scan, str | PathLike) else ""
        raise SpecError(f"scan is a {type(scan).__name__}{given}; it must be a sn.Scan, and come before the path")
    return scan


def one_of(scan: Scan, row: int) -> Scan:
    """The scan of one of several worlds and sensors, which are counted world by world."""
    worlds, sensors = scan.X_WS.shape[1:]
    rows = worlds * sensors
    rays = scan.range_m.shape[-2:]
    returns = scan.range_m.size // (rows * rays[0] * rays[1])

    def own(array: NDArray[Any], *tail: int) -> NDArray[Any]:
        shape = rays if returns == 1 else (returns, *rays)
        return array.reshape(rows, *shape, *tail)[row]

    light = scan.light
    if light is not None:
        ambient = None if light.ambient is None else own(light.ambient)
        of_light = (own(light.intensity), own(light.cause), own(light.depth), own(light.mirror_id))
        light = Light(*of_light, ambient)
    return replace(
        scan,
        range_m=own(scan.range_m),
        points=own(scan.points, 3),
        object_id=own(scan.object_id),
        face_id=own(scan.face_id),
        label=own(scan.label),
        X_WS=scan.X_WS[:, row // sensors, row % sensors].reshape((-1, 1, 1)),
        light=light,
        normals=None if scan.normals is None else own(scan.normals, 3),
    )


def columns_of(scan: Scan) -> dict[str, NDArray[Any]]:
    """x, y, z [m] as the scan has them, intensity, t [ns after the start], label, ring, cause, return, and width.

    Returns of a ray are numbered from 0; their widths [s] are there where a waveform lidar found them.

    Only what returned, in the order of `Scan.flat()`; of one sensor in one world. A scan that is flat already has
    forgotten rings and return numbers; they are then missing.
    """
    if checked_scan(scan).X_WS.shape[1:] != (1, 1):
        raise SpecError(f"the scan has {scan.X_WS.shape[1:]} worlds and sensors; a cloud must be of one of each")
    flat = scan.flat()
    columns: dict[str, NDArray[Any]] = {axis: flat.points[:, k] for k, axis in enumerate("xyz")}
    columns |= {"intensity": np.asarray(flat.intensity), "t": flat.offset_ns, "label": flat.label}
    columns["cause"] = flat.cause
    if flat.width_s is not None:
        columns["width"] = flat.width_s
    if scan.range_m.ndim > 1:
        at = np.flatnonzero(scan.valid)
        rays = scan.range_m.shape[-2] * scan.range_m.shape[-1]
        columns["ring"] = (at % rays // scan.range_m.shape[-1]).astype(np.uint16)
        columns["return"] = (at // rays).astype(np.uint8)
    return columns
