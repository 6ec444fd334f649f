"""Messages as bytes: CDR, with the definitions of ROS 2 Humble that the package rosbags carries."""

from collections.abc import Mapping
from functools import cache
from threading import local
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sensorium.core.errors import SpecError, in_one_line
from sensorium.record.ros2.message import DeferredBytes, Message

# Types that end with an array of bytes called `data`, and how many bytes come after it
_BYTES_AFTER_DATA = {"sensor_msgs/msg/PointCloud2": 1, "sensor_msgs/msg/Image": 0}
_LENGTH_BYTES = 4


_memory, _NONE = local(), np.zeros(0, np.uint8)

# Types that were added, with their texts
_added: dict[str, str] = {}


@cache
def _store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_HUMBLE)


def add_types(definitions: Mapping[str, str]) -> None:
    """Let messages of further types be encoded.

    Args:
        definitions: Text of each type, as in a .msg file, by its full name: acme_msgs/msg/Sonar.
    """
    if new := {kind: text for kind, text in definitions.items() if _added.get(kind) != text}:
        from rosbags.typesys import TypesysError, get_types_from_msg

        try:
            _store().register({kind: get_types_from_msg(text, kind)[kind] for kind, text in new.items()})
        except (TypesysError, KeyError, ValueError) as error:
            raise SpecError(f"message types {', '.join(new)} cannot be used: {in_one_line(error)}") from None
        _added.update(new)


def encoded(message: Message) -> bytes:
    """The message as little-endian CDR."""
    if isinstance(message.fields.get("data"), DeferredBytes):
        head, data, tail = parts(message)
        out = _packed(data.length)
        data.write_to(out)
        return b"".join([head, out.data, tail])
    return bytes(_store().serialize_cdr(_built(message.kind, message.fields), message.kind))


def _packed(length: int) -> NDArray[np.uint8]:
    """Memory of this thread for packed bytes, used again and again: new memory costs more than packing into it."""
    if getattr(_memory, "packed", _NONE).size < length:
        _memory.packed = np.zeros(length, np.uint8)
    packed: NDArray[np.uint8] = _memory.packed[:length]
    return packed


def long_bytes(message: Message) -> int:
    """Number of bytes of its `data`, for types that end with such an array; else 0."""
    if message.kind not in _BYTES_AFTER_DATA:
        return 0
    data: DeferredBytes | NDArray[np.uint8] = message.fields["data"]
    return data.length if isinstance(data, DeferredBytes) else data.size


def parts(message: Message) -> tuple[bytes, DeferredBytes, bytes]:
    """A message of a type that ends with `data`, as CDR: the bytes before `data`, `data` itself, the bytes after.

    Nothing is copied: the rest is encoded without `data`, and the length of `data` is corrected.
    """
    data = message.fields["data"]
    if not isinstance(data, DeferredBytes):
        plain = np.ascontiguousarray(data).view(np.uint8).reshape(-1)
        data = DeferredBytes(plain.size, lambda out: np.copyto(out, plain))
    without = Message(message.kind, message.stamp_ns, {**message.fields, "data": np.zeros(0, np.uint8)})
    short = encoded(without)
    split = len(short) - _BYTES_AFTER_DATA[message.kind]
    return short[: split - _LENGTH_BYTES] + data.length.to_bytes(_LENGTH_BYTES, "little"), data, short[split:]


def decoded(kind: str, data: bytes) -> Any:
    """A message of a known type from CDR, with its fields as attributes; bytes that are none are a SpecError."""
    if kind not in _store().types:
        raise SpecError(f"message type {kind!r} is not known")
    try:
        return _store().deserialize_cdr(data, kind)
    except Exception as error:  # rosbags raises whatever its generated code runs into
        raise SpecError(f"{len(data)} bytes are no {kind}: {in_one_line(error)}") from None


@cache
def definition(kind: str) -> bytes:
    """Definition of a message type and of all nested types, as MCAP's `ros2msg` requires."""
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
