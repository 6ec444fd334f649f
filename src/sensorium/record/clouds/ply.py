"""Point clouds as binary little-endian PLY, which every point-cloud tool opens."""

from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sensorium.core.errors import SpecError
from sensorium.files.atomic import checked_path, replacing
from sensorium.record.clouds.cloud import columns_of
from sensorium.sensors.lidar.scan import Scan

_PLY_NAMES = {
    "i1": "char",
    "u1": "uchar",
    "i2": "short",
    "u2": "ushort",
    "i4": "int",
    "u4": "uint",
    "f4": "float",
    "f8": "double",
}

# Names of normals in programs that open PLY
_NORMALS = {"normal_x": "nx", "normal_y": "ny", "normal_z": "nz"}


def save_ply_points(path: str | PathLike[str], points: ArrayLike, **properties: ArrayLike) -> None:
    """Write points and one number of each property for every point.

    The file appears whole or not at all: it is written beside its place and then moved there.

    Args:
        path: File to write; one that exists is replaced.
        points: Positions [m], shape (n, 3), finite; float32 is stored as float, other types as double.
        properties: Arrays by name, shape (n,), of a type that PLY has: integers up to 32 bits, float32 or
            float64; bool is stored as 0 and 1. They need not be finite.

    Raises:
        SpecError: A shape, type or name that a PLY file cannot hold, a point that is not finite, or a folder
            that does not exist.
    """
    path = checked_path(path, before="points")
    xyz = _checked_points(points)
    columns = {name: _checked_property(name, values, len(xyz)) for name, values in properties.items()}

    # One packed row for each point
    fields = [(axis, xyz.dtype.newbyteorder("<")) for axis in "xyz"]
    fields += [(name, column.dtype.newbyteorder("<")) for name, column in columns.items()]
    rows = np.zeros(len(xyz), dtype=fields)
    for k, axis in enumerate("xyz"):
        rows[axis] = xyz[:, k]
    for name, column in columns.items():
        rows[name] = column

    header = ["ply", "format binary_little_endian 1.0", f"element vertex {len(rows)}"]
    header += [f"property {_PLY_NAMES[kind.str[1:]]} {name}" for name, kind in fields]
    with replacing(path) as file:
        file.write("\n".join([*header, "end_header", ""]).encode("ascii"))
        file.write(rows.tobytes())


def save_ply(path: str | PathLike[str], scan: Scan) -> None:
    """Write the returns of a scan: x y z [m], its other fields of `Scan.FIELDS`, t, ring and return.

    Times t are after the start [ns, double]; normals are nx ny nz.

    Args:
        path: File to write; one that exists is replaced.
        scan: Of one sensor in one world.
    """
    columns, path = columns_of(scan), checked_path(path, before="scan")
    points = np.stack([columns.pop(axis) for axis in "xyz"], axis=-1)
    columns["t"] = columns["t"].astype(np.float64)
    save_ply_points(path, points, **{_NORMALS.get(name, name): column for name, column in columns.items()})


def _checked_points(points: ArrayLike) -> NDArray[Any]:
    """Points as float32 or float64, shape (n, 3), finite."""
    array = np.asarray(points)
    if array.ndim != 2 or array.shape[1] != 3 or array.dtype.kind not in "iuf":
        raise SpecError(f"points have shape {array.shape} and type {array.dtype}; it must be (n, 3) numbers")
    if array.dtype != np.float32:
        array = array.astype(np.float64)
    if not np.isfinite(array).all():
        row = int(np.argmax(~np.isfinite(array).all(axis=1)))
        raise SpecError(f"point {row} is {array[row].tolist()}; every point must be finite")
    return array


def _checked_property(name: str, values: ArrayLike, count: int) -> NDArray[Any]:
    """One property as an array (count,) of a type that PLY has."""
    if not (name.isascii() and name.isidentifier()) or name in ("x", "y", "z"):
        raise SpecError(f"property name {name!r} cannot be used; it must be a plain word other than x, y, z")
    array = np.asarray(values)
    if array.shape != (count,):
        raise SpecError(f"property {name!r} has shape {array.shape}; there are {count} points")
    if array.dtype == np.bool_:
        array = array.astype(np.uint8)
    if array.dtype.str[1:] not in _PLY_NAMES:
        raise SpecError(
            f"property {name!r} has type {array.dtype}, which PLY lacks; give integers of 32 bits or floats"
        )
    return array
