"""Point clouds as KITTI's .bin: x, y, z and reflectance, four float32 a point and nothing else."""

from os import PathLike

import numpy as np

from sensorium.files.atomic import replacing
from sensorium.record.clouds.cloud import columns_of
from sensorium.sensors.lidar.scan import Scan


def save_kitti(path: str | PathLike[str], scan: Scan) -> None:
    """Write the returns of a scan as KITTI does: little-endian float32, shape (n, 4), without a header.

    Intensities are written as they are; KITTI's own are between 0 and 1. Times, rings and labels are lost.

    Args:
        path: File to write; one that exists is replaced.
        scan: Of one sensor in one world; KITTI's points are in the sensor's frame.
    """
    columns = columns_of(scan)
    rows = np.stack([columns[name] for name in ("x", "y", "z", "intensity")], axis=-1)
    with replacing(path) as file:
        file.write(rows.astype("<f4").tobytes())
