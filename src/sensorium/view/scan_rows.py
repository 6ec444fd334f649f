"""One sensor's share of a scan, and its points in the world."""

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.sensors.rig import Rig
from sensorium.sensors.scan import Scan


def row_of(scan: Scan, row: int, rig: Rig) -> Scan:
    """The scan of one sensor of the first world alone.

    Args:
        scan: Of all worlds and sensors.
        row: Number of the sensor.
        rig: Where the sensors sit.
    """
    axes = rig.world_axis + rig.sensor_axis
    if not axes:
        return scan

    def own(array: NDArray[Any]) -> NDArray[Any]:
        return array.reshape(-1, *array.shape[axes:])[row]

    light = scan.light
    if light is not None:
        ambient = None if light.ambient is None else own(light.ambient)
        fields = {name: own(getattr(light, name)) for name in ("intensity", "cause", "depth", "mirror_id")}
        width_s = None if light.width_s is None else own(light.width_s)
        light = replace(light, **fields, ambient=ambient, width_s=width_s)
    waveform = scan.waveform
    if waveform is not None:
        waveform = replace(waveform, samples=own(waveform.samples))
    return replace(
        scan,
        range_m=own(scan.range_m),
        points=own(scan.points),
        object_id=own(scan.object_id),
        face_id=own(scan.face_id),
        label=own(scan.label),
        X_WS=scan.X_WS[:, :1, row : row + 1],
        light=light,
        waveform=waveform,
        normals=None if scan.normals is None else own(scan.normals),
    )


def world_points(flat: Scan, at: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float64]:
    """Points of a flat scan of one sensor in the world [m], shape (n, 3); each from where its ray was fired.

    Args:
        flat: What `Scan.flat()` gave.
        at: Which of them.
    """
    points = flat.points[at]
    if flat.frame == "world":
        return points.astype(np.float64)
    return flat.pose(flat.start_ns + flat.offset_ns[at]).apply(points)
