"""Types of ROS 2 messages for Cyclone DDS, made from the definitions that messages are encoded with."""

from functools import cache
from typing import Any

from sensorium.core.errors import SpecError
from sensorium.live.ros2.graph_names import dds_type_name
from sensorium.record.ros2 import cdr

# Names of rosbags -> names in cyclonedds.idl.types; text and bool are Python's own
_NUMBERS = {
    **{name: name for name in ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")},
    **{"float32": "float32", "float64": "float64", "byte": "uint8", "octet": "uint8", "char": "uint8"},
}

# No structure of IDL may be empty
_EMPTY = "structure_needs_at_least_one_member"


class ReadyBytes:
    """A received message as CDR with its header of 4 bytes, not decoded."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.sample_info: Any = None  # which the reader sets


@cache
def topic_type(kind: str) -> Any:
    """The class of a message type for topics; a reader of it gives `ReadyBytes`."""
    made = _struct(kind, f"{kind.rpartition('/')[2]}_")
    made.deserialize = classmethod(lambda _, data, *args, **options: ReadyBytes(data))
    return made


@cache
def _nested_type(kind: str) -> Any:
    return _struct(kind, f"{kind.rpartition('/')[2]}_")


def _struct(kind: str, name: str) -> Any:
    from cyclonedds.idl import annotations, make_idl_struct, types

    if not cdr.is_known(kind):
        raise SpecError(f"message type {kind!r} is not known; it cannot be sent over DDS")
    fields = {field: _type(described) for field, described in cdr.field_kinds(kind)}
    return annotations.final(make_idl_struct(name, dds_type_name(kind), fields or {_EMPTY: types.uint8}))


def _type(described: Any) -> Any:
    """Type of a field, from its description by rosbags."""
    import cyclonedds.idl.types
    from rosbags.interfaces import Nodetype

    types: Any = cyclonedds.idl.types
    node, inner = described
    if node == Nodetype.NAME:
        return _nested_type(inner)
    if node == Nodetype.ARRAY:
        return types.array[_type(inner[0]), inner[1]]
    if node == Nodetype.SEQUENCE:
        item = _type(inner[0])
        return types.sequence[item, inner[1]] if inner[1] else types.sequence[item]
    name, bound = inner
    if name == "string":
        return types.bounded_str[bound] if bound else str
    if name == "bool":
        return bool
    return getattr(types, _NUMBERS[name])
