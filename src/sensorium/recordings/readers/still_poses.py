"""Logs of an IMU that was put down in many poses: accelerometer and gyroscope as text, a row for each sample.

Two files of one folder, one with `acc` and one with `gyro` in its name, each with the columns time [s], x, y, z in raw
counts or in any unit, as the sets of imu_tk have them. Rows of both files belong together by their number and must have
the same times. Text is read as by `analysis.csv_log`.
"""

from os import PathLike
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sensorium.analysis.csv_log import read_csv
from sensorium.core.errors import SpecError

STANDARD_GRAVITY_M_S2 = 9.80665

_COLUMNS = ("1", "2", "3", "4")
_LEAST_ROWS = 100
_SAME_TIME = 0.1  # of a period
_LARGEST = 1e12


class InertialRecording(NamedTuple):
    """Samples of an IMU.

    Attributes:
        path: The folder.
        time_s: Of each sample since the first [s], shape (n,).
        rate_hz: Samples a second.
        accelerometer: Raw values, shape (n, 3).
        gyroscope: Raw values, shape (n, 3).
        gravity_m_s2: Acceleration of gravity where it was recorded [m/s^2].
    """

    path: Path
    time_s: NDArray[np.float64]
    rate_hz: float
    accelerometer: NDArray[np.float64]
    gyroscope: NDArray[np.float64]
    gravity_m_s2: float = STANDARD_GRAVITY_M_S2


def is_still_poses(folder: Path) -> bool:
    """Whether a folder has one log of an accelerometer and one of a gyroscope."""
    return folder.is_dir() and all(len(_logs(folder, word)) == 1 for word in ("acc", "gyro"))


def read_still_poses(
    path: str | PathLike[str], *, gravity_m_s2: float = STANDARD_GRAVITY_M_S2
) -> InertialRecording:
    """Read both logs.

    Args:
        path: The folder, or one of the two files.
        gravity_m_s2: Acceleration of gravity where it was recorded [m/s^2], to which all scales are proportional.

    Raises:
        SpecError: A log is missing or there are several, times do not rise or differ between the two, or a value is no
            number.
    """
    if not 9.0 < gravity_m_s2 < 10.0:
        raise SpecError(f"gravity is {gravity_m_s2}; on Earth it is between 9 and 10 m/s^2")
    folder = Path(path)
    folder = folder if folder.is_dir() else folder.parent
    tables = []
    for word in ("acc", "gyro"):
        found = _logs(folder, word)
        if len(found) != 1:
            rule = "there must be one"
            raise SpecError(f"{folder.name!r} has {len(found)} files with {word!r} in their names; {rule}")
        table = read_csv(found[0], columns=_COLUMNS).values
        if len(table) < _LEAST_ROWS or not np.isfinite(table).all() or np.abs(table).max() > _LARGEST:
            rule = f"it must have at least {_LEAST_ROWS}, of finite numbers within {_LARGEST:g}"
            raise SpecError(f"{found[0].name!r} has {len(table)} rows; {rule}")
        tables.append(table)
    first, second = tables
    count = min(len(first), len(second))
    steps = np.diff(first[:, 0])
    if not (steps > 0.0).all():
        raise SpecError(f"times of {folder.name!r} do not rise at row {int(np.argmin(steps > 0.0)) + 2}; they must")
    period = float(np.median(steps))
    apart = np.abs(first[:count, 0] - second[:count, 0])
    if len(first) != len(second) or apart.max() > _SAME_TIME * period:
        raise SpecError(f"the logs of {folder.name!r} have other times; rows of both must belong together")
    time_s = first[:, 0] - first[0, 0]
    return InertialRecording(folder, time_s, 1.0 / period, first[:, 1:], second[:, 1:], gravity_m_s2)


def _logs(folder: Path, word: str) -> list[Path]:
    names = (path for path in sorted(folder.iterdir()) if word in path.name.lower())
    return [path for path in names if path.suffix.lower() in (".mat", ".txt", ".csv", ".dat")]
