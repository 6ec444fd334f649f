"""Logs of an IMU with orientation by optical motion capture, as HDF5: the layout of the BROAD set.

Datasets `imu_gyr` [rad/s], `imu_acc` [m/s^2] and `imu_mag` [uT] of shape (n, 3), `opt_quat` (n, 4, w first, from the
IMU to a frame with z up; NaN where the cameras lost it), `movement` (n,), and the attribute `sampling_rate` [Hz].
Reading needs the package h5py, whose C library parses the file. Ref: D. Laidig et al., "BROAD - A Benchmark for Robust
Inertial Orientation Estimation", Data 6 (7), 2021.
"""

import math
import os
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import MissingExtraError, SensoriumError, SpecError, in_one_line
from sensorium.files.plain_files import open_regular

SIGNATURE = b"\x89HDF\r\n\x1a\n"

_WIDTHS = {"imu_gyr": 3, "imu_acc": 3, "imu_mag": 3, "opt_quat": 4}
_SMALL, _RATIO = 1 << 26, 100
_LARGEST = 1e6


class TruthRecording(NamedTuple):
    """Samples of an IMU, and its true orientation.

    Attributes:
        path: The file.
        rate_hz: Samples a second.
        gyroscope: [rad/s], shape (n, 3).
        accelerometer: [m/s^2], shape (n, 3).
        magnetometer: [T], shape (n, 3).
        orientation: Unit quaternions, w first, from the IMU to a frame with z up, NaN where unknown, shape (n, 4).
        moving: Whether the IMU was moved, shape (n,).
    """

    path: Path
    rate_hz: float
    gyroscope: NDArray[np.float64]
    accelerometer: NDArray[np.float64]
    magnetometer: NDArray[np.float64]
    orientation: NDArray[np.float64]
    moving: NDArray[np.bool_]


def read_imu_truth(path: str | PathLike[str]) -> TruthRecording:
    """Read a log.

    Raises:
        MissingExtraError: h5py is not installed.
        SpecError: The file is no HDF5, lacks a dataset, or has one of another shape or with other than numbers.
    """
    path = Path(path)
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("HDF5 files need h5py; pip install h5py") from None
    try:
        with open_regular(path) as file:
            size = os.fstat(file.fileno()).st_size
            if file.read(len(SIGNATURE)) != SIGNATURE:
                raise SpecError(f"{path.name!r} is no HDF5 file")
            with h5py.File(file, "r") as content:
                return _read(path, content, _SMALL + _RATIO * size)
    except SensoriumError:
        raise
    except MemoryError:
        raise
    except Exception as error:  # HDF5 may raise anything for broken bytes
        raise SpecError(f"{path.name!r} cannot be read: {in_one_line(error)}") from None


def _read(path: Path, content: Any, most_bytes: int) -> TruthRecording:
    rate_hz = float(content.attrs.get("sampling_rate", math.nan))
    if not (math.isfinite(rate_hz) and rate_hz > 0.0):
        raise SpecError(f"sampling_rate of {path.name!r} is {rate_hz}; it must be finite and positive")
    count = len(content["movement"])
    if 8 * count * (1 + sum(_WIDTHS.values())) > most_bytes:
        raise SpecError(f"{path.name!r} claims {count} samples; a file of its size may hold {most_bytes} bytes")
    arrays = {}
    for name, width in _WIDTHS.items():
        if content[name].shape != (count, width) or content[name].dtype.kind not in "fiu":
            what = f"shape {content[name].shape} and type {content[name].dtype}"
            raise SpecError(f"{name!r} of {path.name!r} has {what}; it must have {(count, width)} of numbers")
        arrays[name] = np.asarray(content[name][:], np.float64)
        values = arrays[name][np.isfinite(arrays[name]).all(axis=1)] if name == "opt_quat" else arrays[name]
        if not (np.abs(values) < _LARGEST).all():
            raise SpecError(f"{name!r} of {path.name!r} has a value that is no number below {_LARGEST:g}")
    if content["movement"].shape != (count,):
        raise SpecError(f"'movement' of {path.name!r} must have one value a sample")
    length = np.linalg.norm(arrays["opt_quat"], axis=1, keepdims=True)
    with np.errstate(invalid="ignore", divide="ignore"):
        orientation = np.where(np.abs(length - 1.0) < 0.1, arrays["opt_quat"] / length, np.nan)
    return TruthRecording(
        *(path, rate_hz, arrays["imu_gyr"], arrays["imu_acc"], arrays["imu_mag"] * 1e-6, orientation),
        np.asarray(content["movement"][:], bool),
    )
