"""Messages as bytes: CDR, with the definitions of ROS 2 Humble that the package rosbags carries."""

from collections.abc import Mapping
from functools import cache
from typing import Any

from sensorium.record.ros2.message import Message


@cache
def _store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def encoded(message: Message) -> memoryview | bytes:
    """The message as little-endian CDR."""
    return _store().serialize_cdr(_built(message.kind, message.fields), message.kind)


@cache
def definition(kind: str) -> bytes:
    """Text of a message type and of all it holds, as MCAP's `ros2msg` asks for it."""
    return _store().generate_msgdef(kind, ros_version=2)[0].encode()


def _built(kind: str, fields: Mapping[str, Any]) -> Any:
    """Mappings as the objects that rosbags encodes."""
    values = {name: _value(inner, fields[name]) for name, inner in _inner_kinds(kind)}
    return _store().types[kind](**values)


def _value(inner: str | None, value: Any) -> Any:
    if inner is None:
        return value
    return [_built(inner, item) for item in value] if isinstance(value, list) else _built(inner, value)


@cache
def _inner_kinds(kind: str) -> tuple[tuple[str, str | None], ...]:
    """Fields of a type, each with the type of the messages it holds, or None where it holds numbers or text."""
    return tuple((name, _message_kind(description)) for name, description in _store().fielddefs[kind][1])


def _message_kind(description: Any) -> str | None:
    """Name of the message type in a field's description: name, or array of name."""
    from rosbags.interfaces import Nodetype

    node, inner = description
    if node == Nodetype.NAME:
        return str(inner)
    return _message_kind(inner[0]) if node in (Nodetype.ARRAY, Nodetype.SEQUENCE) else None
