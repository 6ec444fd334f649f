"""Point clouds as LAS and LAZ, the formats of laser surveying; needs laspy (the extra `las`)."""

from os import PathLike
from typing import Any

import numpy as np

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.files.atomic import checked_path, replacing
from sensorium.record.clouds.cloud import checked_scan, cloud_fields, columns_of
from sensorium.record.clouds.las_waves import describe, wave_packets
from sensorium.sensors.lidar.scan import Scan

# Coordinates are whole multiples of this [m]: 32 bits reach 214 km from the middle, and a lidar is not that fine
_SCALE_M = 1e-4

# Most characters of an extra dimension's description
_LONGEST_WORDS = 31

# LAS 1.4 has four bits for the number of a return
_MOST_RETURNS = 15

# Columns that LAS has a place of its own for, and names of extra dimensions that differ from those of columns
_LAS_OWN = ("x", "y", "z", "t", "return")
_EXTRA_NAMES = {"intensity": "intensity_raw", "width": "width_s"}


def save_las(path: str | PathLike[str], scan: Scan) -> None:
    """Write the returns of a scan as LAS 1.4, point format 6; a name that ends in .laz is compressed.

    Coordinates are rounded to 0.1 mm. `gps_time` is the firing time by the sensor's clock [s], the return number counts
    from 1. Intensity is kept in full as an extra dimension (`intensity_raw`, float32), since LAS has 16 bits for it;
    there it is scaled so that the strongest return is 65535. Every other field of `Scan.FIELDS` in the scan is an extra
    dimension by its name in clouds (`label`, `cause`, `object_id`, ...; `width_s` [s]), and so is `ring`.

    If the scan keeps the samples of its pulses, points have format 9, and the samples are wave packets in a second file
    of the same name with .wdp, which is written first: see `record.las_waves`.

    Args:
        path: File to write, .las or .laz; one that exists is replaced.
        scan: Of one sensor in one world.
    """
    scan, path = checked_scan(scan), checked_path(path, before="scan")
    if path.suffix.lower() not in (".las", ".laz"):
        raise SpecError(f"path is {str(path)!r}; it must end in .las or .laz")
    laspy = require_laspy()
    columns = columns_of(scan)
    xyz = np.stack([columns[axis] for axis in "xyz"], axis=-1).astype(np.float64)
    intensity = columns["intensity"]

    packets = wave_packets(scan)
    header = laspy.LasHeader(version="1.4", point_format=6 if packets is None else 9)
    header.generating_software = "Sensorium"
    header.scales = np.full(3, _SCALE_M)
    header.offsets = np.floor(xyz.mean(axis=0)) if len(xyz) else np.zeros(3)
    extra = {_EXTRA_NAMES.get(name, name): column for name, column in columns.items() if name not in _LAS_OWN}
    descriptions = {name: f"{field.doc} [{field.unit}]" for field in cloud_fields(scan) for name in field.columns}
    descriptions = {_EXTRA_NAMES.get(name, name): words[:_LONGEST_WORDS] for name, words in descriptions.items()}
    header.add_extra_dims(
        [laspy.ExtraBytesParams(name, column.dtype, descriptions.get(name, "")) for name, column in extra.items()]
    )

    if packets is not None:
        describe(header, packets)
    cloud = laspy.LasData(header)
    cloud.x, cloud.y, cloud.z = xyz.T
    strongest = float(intensity.max(initial=0.0))
    cloud.intensity = np.rint(intensity * (65535.0 / strongest if strongest > 0.0 else 0.0)).astype(np.uint16)
    cloud.gps_time = scan.ray_time_ns[scan.valid] * 1e-9
    if "return" in columns:
        returns = columns["return"]
        cloud.return_number = np.minimum(returns + 1, _MOST_RETURNS)
        cloud.number_of_returns = np.minimum(_returns_of_each(scan), _MOST_RETURNS)
    for name, column in (extra | ({} if packets is None else packets.of_points)).items():
        cloud[name] = column
    if packets is not None:
        packets.write(path.with_suffix(".wdp"))
    with replacing(path) as file:
        cloud.write(file, do_compress=path.suffix.lower() == ".laz")


def _returns_of_each(scan: Scan) -> Any:
    """For each return the number of returns of its ray."""
    valid = scan.valid.reshape(-1, *scan.range_m.shape[-2:])
    return np.broadcast_to(valid.sum(axis=0), valid.shape)[valid]


def require_laspy() -> Any:
    """The package, or the error that says how to get it."""
    try:
        import laspy
    except ImportError:
        raise MissingExtraError("LAS files need laspy; pip install 'sensorium[las]'") from None
    return laspy
