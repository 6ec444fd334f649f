"""Point clouds as binary PCD, the format of the Point Cloud Library, and as KITTI writes them."""

from os import PathLike

import numpy as np

from sensorium.files.atomic import replacing
from sensorium.record.clouds.cloud import columns_of
from sensorium.sensors.lidar.scan import Scan

_LETTERS = {"f": "F", "i": "I", "u": "U"}


def save_pcd(path: str | PathLike[str], scan: Scan) -> None:
    """Write the returns of a scan as PCD 0.7, binary.

    Fields: x y z [m] (float or double as in the scan), every other field of `Scan.FIELDS` in the scan, t [ns after the
    start, 32 bits, or double if a sweep is longer than they hold], ring and return number. The viewpoint is the
    sensor's pose at the start of the sweep if points are in the world, and none if they are in the sensor's frame.

    Args:
        path: File to write; one that exists is replaced.
        scan: Of one sensor in one world.
    """
    columns = columns_of(scan)
    is_long = bool(columns["t"].size) and int(columns["t"].max()) >= 2**32
    columns["t"] = columns["t"].astype(np.float64 if is_long else np.uint32)
    kinds = [(name, column.dtype.newbyteorder("<")) for name, column in columns.items()]
    rows = np.empty(len(columns["x"]), kinds)
    for name, column in columns.items():
        rows[name] = column

    viewpoint = "0 0 0 1 0 0 0"
    if scan.frame == "world":
        X_WS = scan.X_WS[0, 0, 0]
        viewpoint = " ".join(repr(float(v)) for v in (*X_WS.position, *X_WS.quaternion))
    lines = [
        "# .PCD v0.7 - Point Cloud Data file format",
        "VERSION 0.7",
        "FIELDS " + " ".join(name for name, _ in kinds),
        "SIZE " + " ".join(str(kind.itemsize) for _, kind in kinds),
        "TYPE " + " ".join(_LETTERS[kind.kind] for _, kind in kinds),
        "COUNT " + " ".join("1" for _ in kinds),
        f"WIDTH {len(rows)}",
        "HEIGHT 1",
        f"VIEWPOINT {viewpoint}",
        f"POINTS {len(rows)}",
        "DATA binary",
        "",
    ]
    with replacing(path) as file:
        file.write("\n".join(lines).encode("ascii"))
        file.write(rows.tobytes())


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
