"""Where beams of a lidar point and when they fire: from data sheets of the library, or from a calibration file."""

import csv
import io
import math
import re
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, in_one_line
from sensorium.devices import describe
from sensorium.files.plain_files import read_whole

_MOST_BYTES = 1 << 20
_ITEM = re.compile(r"^[ \t]*-[ \t]", re.MULTILINE)
_NUMBER = re.compile(r"\b(laser_id|vert_correction|rot_correction)[ \t]*:[ \t]*([-+0-9.eE]+)")


class Beams(NamedTuple):
    """Beams of a lidar, in the order of its packets, shape (c,) each.

    Attributes:
        elevation: Elevation [rad]; None where it is not known.
        azimuth_offset: Azimuth from the encoder's, in the direction of rotation [rad].
        time_s: Time from the column's [s].
    """

    elevation: NDArray[np.float64] | None
    azimuth_offset: NDArray[np.float64]
    time_s: NDArray[np.float64]


def beams_of_sheet(name: str) -> Beams:
    """Beams of a device of the library that turns clockwise."""
    pattern = describe(name).specification()["pattern"]
    elevation = np.radians(np.asarray(pattern["elevation_deg"], np.float64))
    # Specifications count azimuth counterclockwise
    offset = -np.radians(_filled(pattern.get("azimuth_offset_deg"), len(elevation)))
    return Beams(elevation, offset, _filled(pattern.get("time_offset_s"), len(elevation)))


def _filled(values: Any, count: int) -> NDArray[np.float64]:
    return np.zeros(count) if values is None else np.broadcast_to(np.asarray(values, np.float64), (count,)).copy()


def read_angles(path: str | PathLike[str], channels: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Elevations and azimuth offsets (clockwise) of a calibration file [rad], shape (channels,) each.

    Args:
        path: Hesai's CSV (columns number, elevation, azimuth [deg]), or Velodyne's YAML (`lasers`, with
            `vert_correction` and `rot_correction` [rad]).
        channels: How many channels the device has.
    """
    path = Path(path)
    content = read_whole(path, _MOST_BYTES, "a calibration")
    try:
        text = content.decode("utf-8-sig")
        rows = _yaml_rows(text) if path.suffix.lower() in (".yaml", ".yml") else _csv_rows(text)
    except Exception as error:  # csv and the numbers in it raise several kinds
        raise SpecError(f"calibration is {str(path)!r}, which has no table of angles: {in_one_line(error)}") from None
    if sorted(rows) != list(range(channels)):
        raise SpecError(f"calibration is {str(path)!r} with {len(rows)} channels; the recording has {channels}")
    table = np.array([rows[k] for k in range(channels)])
    if not np.isfinite(table).all() or np.abs(table).max() > 2.0 * math.pi:
        raise SpecError(f"calibration is {str(path)!r}; its angles must be finite and at most a full turn")
    return table[:, 0], table[:, 1]


def _csv_rows(text: str) -> dict[int, tuple[float, float]]:
    found = {}
    for row in csv.reader(io.StringIO(text)):
        if len(row) >= 3 and row[0].strip().isdigit():
            found[int(row[0]) - 1] = (math.radians(float(row[1])), math.radians(float(row[2])))
    return found


def _yaml_rows(text: str) -> dict[int, tuple[float, float]]:
    """Items of the list `lasers`, of which three numbers are needed; a parser of YAML could be stalled by a file."""
    found = {}
    for item in _ITEM.split(text)[1:]:
        numbers = dict(_NUMBER.findall(item))
        # Velodyne subtracts the correction from an azimuth that runs clockwise
        angles = float(numbers["vert_correction"]), -float(numbers["rot_correction"])
        found[int(numbers["laser_id"])] = angles
    return found
