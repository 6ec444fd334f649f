"""Names by which ROS 2 over Zenoh (rmw_zenoh) finds topics, nodes, publishers and services.

A message goes to the key `DOMAIN/TOPIC/TYPE/HASH`. A liveliness token for the node and for each of its endpoints makes
them visible in the graph; it is a key too, in which `%` replaces the slashes of a name. An attachment with each message
names the publisher, numbers the message and says when it was sent. Formats follow rmw_zenoh's design document and
sources, as of ROS 2 Jazzy; Kilted and Humble have the same.
"""

import hashlib
import re
import struct
from dataclasses import dataclass
from typing import Annotated, Literal

from pydantic import ConfigDict, Field

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec

NODE, PUBLISHER, SUBSCRIPTION, SERVICE = "NN", "MP", "MS", "SS"
"""Kinds of entities in tokens."""

_TOKENS = "@ros2_lv"
_ATTACHMENT = struct.Struct("<qqB16s")
_GID_BYTES = 16
_DEFAULT_DEPTH = 42  # of rmw_zenoh, where a token has none
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(/[A-Za-z_][A-Za-z0-9_]*)*")


class Qos(Spec):
    """Quality of service of an endpoint."""

    model_config = ConfigDict(frozen=True)

    reliability: Literal["reliable", "best_effort"] = "reliable"
    """Whether what was lost is sent again."""
    durability: Literal["volatile", "transient_local"] = "volatile"
    """transient_local gives late subscribers the last messages, as of /tf_static."""
    depth: Annotated[int, Field(ge=1, le=100_000)] = 10
    """Messages that are kept for a subscriber."""

    @property
    def latched(self) -> bool:
        """Whether late subscribers get the last messages."""
        return self.durability == "transient_local"

    @property
    def key(self) -> str:
        """Its form in a token: reliability, durability, history and depth, deadline, lifespan, liveliness.

        A default is left out (reliable, volatile, keep last, no deadline, infinite lifespan, automatic liveliness). The
        depth is always written, since its default differs between implementations.
        """
        reliability = "" if self.reliability == "reliable" else "2"
        durability = "1" if self.latched else ""
        return f"{reliability}:{durability}:,{self.depth}:,:,:,,"

    @classmethod
    def from_key(cls, key: str) -> "Qos":
        """That of a token."""
        reliability, durability, history = key.split(":")[:3]
        depth = history.partition(",")[2]
        return cls(
            reliability="best_effort" if reliability == "2" else "reliable",
            durability="transient_local" if durability == "1" else "volatile",
            depth=max(1, int(depth)) if depth else _DEFAULT_DEPTH,
        )


LATCHED = Qos(durability="transient_local", depth=1)


@dataclass(frozen=True)
class Node:
    """A node of the graph.

    Attributes:
        domain: Number of the ROS domain.
        session: Id of the Zenoh session, in hexadecimal.
        name: Its name.
        namespace: Its namespace without slashes at the ends; empty for none.
    """

    domain: int
    session: str
    name: str
    namespace: str = ""

    @property
    def token(self) -> str:
        """Its liveliness token."""
        return f"{self._prefix(0)}/{NODE}/{self._suffix}"

    def endpoint_token(self, number: int, kind: str, name: str, type_name: str, type_hash: str, qos: Qos) -> str:
        """Liveliness token of a publisher, a subscription or a service.

        Args:
            number: Of the endpoint within the session; the node has 0.
            kind: PUBLISHER, SUBSCRIPTION or SERVICE.
            name: Of the topic or service, with its slashes.
            type_name: As of `dds_type_name`.
            type_hash: Of the type.
            qos: Quality of service.
        """
        endpoint = f"{_mangled(name)}/{type_name}/{type_hash}/{qos.key}"
        return f"{self._prefix(number)}/{kind}/{self._suffix}/{endpoint}"

    def _prefix(self, number: int) -> str:
        return f"{_TOKENS}/{self.domain}/{self.session}/0/{number}"

    @property
    def _suffix(self) -> str:
        """Enclave (none), namespace and name."""
        namespace = _mangled(f"/{self.namespace}") if self.namespace else "%"
        return f"%/{namespace}/{self.name}"


@dataclass(frozen=True)
class Endpoint:
    """An endpoint that another session announced.

    Attributes:
        kind: PUBLISHER, SUBSCRIPTION, SERVICE, or "SC" for a client.
        node: Name of its node.
        name: Topic or service.
        type_name: As of `dds_type_name`.
        type_hash: Of its type.
        qos: Quality of service.
    """

    kind: str
    node: str
    name: str
    type_name: str
    type_hash: str
    qos: Qos

    @classmethod
    def from_token(cls, token: str) -> "Endpoint | None":
        """That of a token; None for a node's and for what is no token."""
        parts = token.split("/")
        if len(parts) != 13 or parts[0] != _TOKENS:
            return None
        try:
            return cls(parts[5], parts[8], parts[9].replace("%", "/"), parts[10], parts[11], Qos.from_key(parts[12]))
        except (ValueError, SpecError):
            return None


def all_tokens(domain: int) -> str:
    """Key that every token of a domain matches."""
    return f"{_TOKENS}/{domain}/**"


def topic_key(domain: int, topic: str, type_name: str, type_hash: str) -> str:
    """Key of the messages of a topic, or of the requests of a service."""
    return f"{domain}/{topic.strip('/')}/{type_name}/{type_hash}"


def dds_type_name(kind: str) -> str:
    """A type such as sensor_msgs/msg/Imu by its name in the graph: sensor_msgs::msg::dds_::Imu_."""
    package, part, name = kind.split("/")
    return f"{package}::{part}::dds_::{name}_"


def ros_type_name(type_name: str) -> str:
    """The reverse of `dds_type_name`."""
    package, part, _, name = type_name.split("::")
    return f"{package}/{part}/{name.removesuffix('_')}"


def publisher_gid(token: str) -> bytes:
    """Global id of an endpoint: 16 bytes that follow from its token."""
    return hashlib.sha256(token.encode()).digest()[:_GID_BYTES]


def attachment(number: int, sent_ns: int, gid: bytes) -> bytes:
    """Attachment of a message, a request or a reply.

    Args:
        number: Of the message, from 1 on; a reply has its request's.
        sent_ns: When it was sent, since 1970 [ns].
        gid: Of the publisher; a reply has that of the client.
    """
    return _ATTACHMENT.pack(number, sent_ns, _GID_BYTES, gid)


def read_attachment(data: bytes) -> tuple[int, int, bytes]:
    """Number, time [ns] and gid of an attachment."""
    if len(data) != _ATTACHMENT.size or data[16] != _GID_BYTES:
        rule = f"of rmw_zenoh it must have {_ATTACHMENT.size}, 16 of them for the sender's id"
        raise SpecError(f"an attachment has {len(data)} bytes; {rule}")
    number, sent_ns, _, gid = _ATTACHMENT.unpack(data)
    return number, sent_ns, gid


def checked_name(what: str, name: str) -> str:
    """A namespace or node name without slashes at its ends, or an error; empty stays empty."""
    plain = name.strip("/")
    if plain and not _NAME.fullmatch(plain):
        raise SpecError(f"{what} is {name!r}; it must have letters, digits and _ between slashes, no digit first")
    return plain


def _mangled(name: str) -> str:
    return name.replace("/", "%")
