"""Recorded poses and joints as a CSV file: a row for each time and body, a column for each joint."""

import csv
import math
import os
from collections import Counter
from collections.abc import Iterator, Mapping
from decimal import Decimal, DecimalException, InvalidOperation
from pathlib import Path

import numpy as np

from sensorium.core.clock import NS_PER_S
from sensorium.core.errors import SpecError
from sensorium.core.frames import Pose
from sensorium.worlds.replay.track import JointTrack, Track

_POSE = ("x", "y", "z", "qw", "qx", "qy", "qz")
_VELOCITY = ("vx", "vy", "vz")
_TURNING = ("wx", "wy", "wz")
_TIMES = {"time_s": NS_PER_S, "time_ns": 1}
_KNOWN = (*_TIMES, "body", *_POSE, *_VELOCITY, *_TURNING)

# Columns of joints begin with these, and end with the joint's name
_JOINT, _JOINT_VELOCITY = "joint:", "joint_velocity:"

# Quaternions written with three digits are still unit to this
_LENGTH_TOLERANCE = 0.01

_MAX_BYTES = 2**31


def read_tracks(path: "str | os.PathLike[str]") -> tuple[dict[str, Track], dict[str, JointTrack]]:
    """Tracks of all bodies and joints, in the order they first appear; `Replay.from_csv` states the file's rules."""
    path = Path(path)
    if not path.is_file():
        raise SpecError(f"{path}: there is no such file")
    if path.stat().st_size > _MAX_BYTES:
        raise SpecError(f"{path}: it has {path.stat().st_size} bytes; it may have {_MAX_BYTES}")
    times: dict[str, list[int]] = {}
    numbers: dict[str, list[list[float]]] = {}
    joints: dict[str, dict[int, tuple[float, ...]]] = {}
    columns: tuple[str, ...] = ()
    for line, row in _rows(path):
        try:
            if not columns:
                columns = tuple(key for key in (*_POSE, *_VELOCITY, *_TURNING) if key in row)
            time_ns = _time_ns(row)
            _add_joints(joints, row, time_ns)

            # A row may have joints only
            body = row.get("body", "")
            if not body and joints and not any(row[key] for key in columns):
                continue
            if not body:
                raise SpecError("body is empty; it must be a name")
            before = times.setdefault(body, [])
            if before and time_ns <= before[-1]:
                raise SpecError(f"time of {body!r} is {time_ns} ns after {before[-1]} ns; it must increase")
            before.append(time_ns)
            numbers.setdefault(body, []).append([_number(key, row[key]) for key in columns])
            _check_quaternion(numbers[body][-1][3:7])
        except SpecError as error:
            raise SpecError(f"{path}, line {line}: {error}") from None
    if not times and not joints:
        raise SpecError(f"{path}: it has no rows; it must have one or more")

    # Whole nanoseconds since the earliest row keep their digits as seconds, which epoch times would lose
    first_ns = min(next(iter(each)) for each in (*times.values(), *joints.values()))
    return (
        {body: _track([time_ns - first_ns for time_ns in times[body]], numbers[body], columns) for body in times},
        {joint: _joint_track(rows, first_ns) for joint, rows in joints.items()},
    )


def _add_joints(joints: dict[str, dict[int, tuple[float, ...]]], row: Mapping[str, str], time_ns: int) -> None:
    """Add the joints of a row; an empty field is skipped, and rows of one time must agree."""
    for key, text in row.items():
        if not key.startswith(_JOINT) or not text:
            continue
        joint = key.removeprefix(_JOINT)
        speed = f"{_JOINT_VELOCITY}{joint}"
        values = tuple(_number(name, row[name]) for name in (key, speed) if name in row)
        rows = joints.setdefault(joint, {})
        last_ns = next(reversed(rows), time_ns)
        if time_ns < last_ns or rows.get(time_ns, values) != values:
            raise SpecError(
                f"joint {joint!r} is {values[0]} at {time_ns} ns after {rows[last_ns][0]} at {last_ns} ns; "
                "its time must increase, and rows of one time must tell the same"
            )
        rows[time_ns] = values


def _joint_track(rows: dict[int, tuple[float, ...]], first_ns: int) -> JointTrack:
    times_s = (np.array(list(rows)) - first_ns) / NS_PER_S
    return JointTrack(times_s, *np.array(list(rows.values())).T)


def _track(times_ns: list[int], rows: list[list[float]], columns: tuple[str, ...]) -> Track:
    values = np.array(rows)
    v_WB = values[:, [columns.index(key) for key in _VELOCITY]] if "vx" in columns else None
    w_WB = values[:, [columns.index(key) for key in _TURNING]] if "wx" in columns else None
    return Track(np.array(times_ns) / NS_PER_S, Pose(values[:, :3], values[:, 3:7]), v_WB, w_WB)


def _rows(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """Line number and fields of each row, by the names of the header."""
    line = 1
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            _check_header(path, header)
            for fields in reader:
                line = reader.line_num
                if not fields or (len(fields) == 1 and not fields[0].strip()):
                    continue
                if len(fields) != len(header):
                    raise SpecError(f"{path}, line {line}: it has {len(fields)} fields; it must have {len(header)}")
                yield line, dict(zip(header, (field.strip() for field in fields), strict=True))
    except UnicodeDecodeError:
        raise SpecError(f"{path}: it is not text in UTF-8, as a CSV file must be") from None
    except csv.Error as error:
        raise SpecError(f"{path}, line {line}: {error}; it must be a CSV file") from None


def _check_header(path: Path, header: list[str]) -> None:
    """Check that all columns are known and unique, and that no group of columns is incomplete."""
    shown = ", ".join(header)[:200]
    joints = [name for name in header if name.startswith(_JOINT) and name != _JOINT]
    speeds = [_JOINT_VELOCITY + name.removeprefix(_JOINT) for name in joints]
    may_be, count = {*_KNOWN, *joints, *speeds}, Counter(header)
    for name in header:
        if name not in may_be:
            known = ", ".join((*_KNOWN, f"{_JOINT}NAME", f"{_JOINT_VELOCITY}NAME beside it"))
            raise SpecError(f"{path}, line 1: column is {name[:80]!r}; it must be one of {known}")
        if count[name] > 1:
            raise SpecError(f"{path}, line 1: column {name[:80]!r} is there twice; each must be there once")
    if len(set(header) & set(_TIMES)) != 1:
        raise SpecError(f"{path}, line 1: columns are {shown}; one of time_s and time_ns must be there")
    required = ["body", *_POSE] if not joints or set(header) & {"body", *_POSE} else []
    for together in (_VELOCITY, _TURNING):
        required += together if set(header) & set(together) else ()
    for name in required:
        if name not in header:
            raise SpecError(f"{path}, line 1: columns are {shown}; {name!r} must be there too")


def _time_ns(row: Mapping[str, str]) -> int:
    """Time to the nearest nanosecond, from its decimal digits."""
    key = "time_s" if "time_s" in row else "time_ns"
    try:
        told = Decimal(row[key])
        time_ns = told * _TIMES[key] if abs(told) < 2**63 else told
        if not time_ns.is_finite() or abs(time_ns) >= 2**63:
            raise InvalidOperation
    except DecimalException:
        raise SpecError(f"{key} is {row[key][:80]!r}; it must be a finite number, within 2^63 ns") from None
    return round(time_ns)


def _number(key: str, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise SpecError(f"{key} is {text[:80]!r}; it must be a finite number")
    return value


def _check_quaternion(quaternion: list[float]) -> None:
    length = math.hypot(*quaternion)
    if abs(length - 1.0) > _LENGTH_TOLERANCE:
        raise SpecError(f"the quaternion {quaternion} has length {length:.4g}; it must have length 1 within 1 %")
