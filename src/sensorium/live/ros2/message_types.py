"""Types of messages and services as a distribution of ROS 2 has them: hashes, and bytes that differ from ours.

Messages are encoded with the definitions of Humble. Of the types that are sent only sensor_msgs/Range has changed
since: Iron added a variance at its end. A hash (RIHS01, REP 2016) is part of a topic's key; Humble has none.
"""

from functools import cache
from typing import Any, Literal

from sensorium.record.ros2 import cdr

Distribution = Literal["jazzy", "humble"]
"""jazzy stands for all later ones too (Kilted, Lyrical), whose types of these messages are the same."""

_NO_HASH = "TypeHashNotSupported"

# Bytes at the end of messages since Iron: a variance of 0 is one that is not known
_ADDED = {"sensor_msgs/msg/Range": bytes(4)}

TRIGGER = "std_srvs/srv/Trigger"
"""A service without arguments, that answers with success and a message."""


def type_hash(kind: str, distribution: Distribution) -> str:
    """Hash of a message type in the keys of its topics."""
    if distribution == "humble":
        return _NO_HASH
    return _hash_of(kind)


def payload(kind: str, data: bytes, distribution: Distribution) -> bytes:
    """CDR of a message as subscribers of a distribution expect it."""
    return data if distribution == "humble" or kind not in _ADDED else data + _ADDED[kind]


def as_recorded(kind: str, data: bytes, hashed: str) -> bytes:
    """The reverse of `payload`, by the hash in the key of the topic."""
    is_later = kind in _ADDED and hashed == _hash_of(kind)
    return data[: -len(_ADDED[kind])] if is_later else data


def trigger_hash(distribution: Distribution) -> str:
    """Hash of the service type `TRIGGER`."""
    if distribution == "humble":
        return _NO_HASH
    from rosbags.interfaces import Nodetype

    success, message = (Nodetype.BASE, ("bool", 0)), (Nodetype.BASE, ("string", 0))
    return service_hash(TRIGGER, [], [("success", success), ("message", message)])


def service_hash(service: str, request: list[Any], response: list[Any]) -> str:
    """Hash of a service type.

    It is that of a message of three: request, response, and the event that service introspection records.

    Args:
        service: Its full name, such as std_srvs/srv/Trigger.
        request: Fields of the request, as rosbags describes them: (name, (node type, ...)).
        response: Fields of the response.
    """
    from rosbags.interfaces import Nodetype

    def named(kind: str) -> Any:
        return (Nodetype.NAME, kind)

    def at_most_one(kind: str) -> Any:
        return (Nodetype.SEQUENCE, (named(kind), 1))

    ask, answer, event = (f"{service}_{part}" for part in ("Request", "Response", "Event"))
    info, of_info = "service_msgs/msg/ServiceEventInfo", "client_gid"
    store = _fresh_store()

    # ROS 2 hashes a char as uint8
    octets = (Nodetype.ARRAY, ((Nodetype.BASE, ("uint8", 0)), 16))
    constants, fields = store.fielddefs[info]
    store.fielddefs[info] = constants, [(name, octets if name == of_info else field) for name, field in fields]
    store.fielddefs[ask], store.fielddefs[answer] = ([], request), ([], response)
    events = [("info", named(info)), ("request", at_most_one(ask)), ("response", at_most_one(answer))]
    store.fielddefs[event] = [], events
    messages = [("request_message", ask), ("response_message", answer), ("event_message", event)]
    store.fielddefs[service] = [], [(name, named(kind)) for name, kind in messages]
    return str(store.hash_rihs01(service))


@cache
def _hash_of(kind: str) -> str:
    store = _fresh_store()
    return str(store.hash_rihs01(kind)) if kind in store.fielddefs else cdr.type_hash(kind)


def _fresh_store() -> Any:
    from rosbags.typesys import Stores, get_typestore

    return get_typestore(Stores.ROS2_JAZZY)
