"""Logs as MCAP: messages of ROS 2 (CDR) or JSON with angular rates, accelerations or magnetic fields."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sensorium.analysis.signal_log import RawLog
from sensorium.core.clock import MAX_NS
from sensorium.core.errors import SpecError
from sensorium.files.mcap_messages import Decoder, open_mcap

# Vectors that are looked for in a message, and their units by the message's definition
_VECTORS = {"angular_velocity": "rad/s", "linear_acceleration": "m/s^2", "magnetic_field": "T"}
_AXES = ("x", "y", "z")
_REPORT_EVERY = 2000


def read_mcap(
    path: Path,
    *,
    topic: str | None = None,
    fields: Sequence[str] | None = None,
    progress: Callable[[float], None] | None = None,
) -> RawLog:
    """Read one topic of a recording.

    Times are those of the messages' headers, or where these have none the times of logging.

    Args:
        path: The file.
        topic: Whose messages; None where one topic alone has inertial or magnetic readings.
        fields: `angular_velocity` for its three axes, `angular_velocity.x` for one, or any other number of the message
            by its path; None takes the vectors of angular velocity, acceleration and magnetic field that there are.
        progress: Called with the part that is read, 0 to 1.
    """
    with open_mcap(path) as file:
        chosen = _topic(path, topic, file.channels)
        messages = ((message.log_ns, message.data) for message in file.messages([chosen]))
        return _rows(path, chosen, messages, file.decoder(chosen), fields, file.count(chosen), progress)


def _topic(path: Path, topic: str | None, channels: dict[str, Any]) -> str:
    """The requested topic, or the only one that fits."""
    if topic is not None:
        if topic not in channels:
            raise SpecError(f"topic is {topic!r}; {path.name!r} has {', '.join(sorted(channels)) or 'none'}")
        return topic
    meant = [
        name
        for name, (_, schema) in channels.items()
        if schema is not None and any(vector.encode() in schema.data for vector in _VECTORS)
    ] or [name for name, (_, schema) in channels.items() if schema is None or not schema.data]
    if len(meant) != 1:
        rule = f"a topic must be named (--topic); there are {', '.join(sorted(meant or channels)) or 'none'}"
        raise SpecError(f"{path.name!r} has {len(meant)} topics with inertial or magnetic readings; {rule}")
    return meant[0]


def _rows(
    path: Path,
    topic: str,
    messages: Iterator[tuple[int, bytes]],
    decode: Decoder,
    fields: Sequence[str] | None,
    total: int,
    progress: Callable[[float], None] | None,
) -> RawLog:
    """Every message as a row."""
    names: tuple[str, ...] = ()
    logged, stamps, rows = [], [], []
    for number, (log_time, data) in enumerate(messages):
        message = decode(data)
        names = names or _names(topic, message, fields)
        logged.append(log_time)
        stamps.append(_stamp(message))
        rows.append([_number(topic, number, message, name) for name in names])
        if progress is not None and number % _REPORT_EVERY == 0 and total:
            progress(number / total)
    if not rows:
        raise SpecError(f"topic {topic!r} of {path.name!r} has no messages")
    times = logged if 0 in stamps else stamps
    late = next((number for number, time_ns in enumerate(times) if abs(time_ns) > MAX_NS), None)
    if late is not None:
        raise SpecError(f"message {late} of {topic!r} is of {times[late]} ns; times must be within 2^63 ns")
    time_ns = np.array(times, np.int64)
    return RawLog(
        values=np.array(rows, np.float64),
        names=names,
        units=tuple(_VECTORS.get(name.rpartition(".")[0], "") for name in names),
        time_s=(time_ns - time_ns[0]) * 1e-9,
        row="message",
        first=0,
    )


def _names(topic: str, message: Any, fields: Sequence[str] | None) -> tuple[str, ...]:
    """Paths of the numbers to take from each message."""
    wanted = [name for name in _VECTORS if _get(message, name) is not None] if fields is None else list(fields)
    names: list[str] = []
    for field in wanted:
        value = _at(message, field)
        if value is None:
            raise SpecError(f"field is {field!r}; messages of {topic!r} have no such field")
        is_vector = all(_get(value, axis) is not None for axis in _AXES)
        names += [f"{field}.{axis}" for axis in _AXES] if is_vector else [field]
    if not names:
        rule = f"fields must be named (--columns), or be one of {', '.join(_VECTORS)}"
        raise SpecError(f"messages of {topic!r} hold no reading that is known; {rule}")
    if len(set(names)) != len(names):
        raise SpecError(f"fields are {', '.join(fields or ())}; each must be named once")
    return tuple(names)


def _number(topic: str, number: int, message: Any, name: str) -> float:
    value = _at(message, name)
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        raise SpecError(f"{name!r} is {value!r} in message {number} of {topic!r}; it must be a number")
    return float(value)


def _stamp(message: Any) -> int:
    """Time in a message's header [ns], 0 if there is none."""
    for name in ("header.stamp", "timestamp"):
        stamp = _at(message, name)
        if stamp is not None:
            part = next((_get(stamp, key) for key in ("nanosec", "nsec") if _get(stamp, key) is not None), 0)
            try:
                return int(_get(stamp, "sec") or 0) * 1_000_000_000 + int(part or 0)
            except (TypeError, ValueError, OverflowError):
                shown = f"{_get(stamp, 'sec')!r} s and {part!r} ns"[:80]
                raise SpecError(f"{name} of a message is {shown}; it must be two numbers") from None
    return 0


def _at(message: Any, path: str) -> Any:
    """The value at a path of field names, or None."""
    for name in path.split("."):
        message = _get(message, name)
    return message


def _get(message: Any, name: str) -> Any:
    """A field of a message, which is a mapping (JSON) or an object (ROS 2); None if it is missing."""
    return message.get(name) if isinstance(message, dict) else getattr(message, name, None)
