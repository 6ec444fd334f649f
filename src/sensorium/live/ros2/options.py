"""Options of the ROS 2 sinks, as in `live.ros2` and `live.dds` of a scenario file."""

from typing import Annotated, Literal

from pydantic import Field, field_validator

from sensorium.core.spec import Spec
from sensorium.live.ros2.graph_names import LATCHED, Qos, checked_name
from sensorium.live.ros2.message_types import Distribution
from sensorium.record.ros2.message import check_topic

# Topics that all robots share, whatever the namespace
_GLOBAL = ("/clock", "/tf", "/tf_static", "/diagnostics")

ROOT_FRAME = "world"
"""Frame that no prefix is added to, so that several runs have one root."""


class Ros2Options(Spec):
    """What ROS 2 sees of a run, over Zenoh or over DDS."""

    domain: Annotated[int, Field(ge=0, le=232)] = 0
    """Number of the ROS domain."""
    node: str = "sensorium"
    """Name of the node; services and control topics are below it, as /sensorium/pause."""
    namespace: str = ""
    """Put before all topics and services but /clock, /tf, /tf_static and /diagnostics."""
    frame_prefix: str = ""
    """Put before all frames but `world`, such as "robot1/"."""
    qos: dict[str, Qos] = Field(default_factory=dict)
    """Quality of service by topic, without the namespace; others are reliable, volatile, depth 10."""
    distribution: Distribution = "jazzy"
    """ROS 2 of the receivers: jazzy, for all later ones too, or humble."""
    commands: bool = True
    """Whether commands, faults and control of the run are taken from topics and services."""
    wheelbase_m: Annotated[float, Field(gt=0.0)] | None = None
    """Distance between axles [m], by which Ackermann commands become turn rates; None refuses them."""

    @field_validator("node", "namespace")
    @classmethod
    def _is_name(cls, name: str) -> str:
        return checked_name("a name", name)

    @field_validator("node")
    @classmethod
    def _is_one_token(cls, node: str) -> str:
        if not node or "/" in node:
            raise ValueError(f"node is {node!r}; it must be one word, and namespace holds the rest")
        return node

    @field_validator("frame_prefix")
    @classmethod
    def _is_frame(cls, prefix: str) -> str:
        if prefix.startswith("/") or any(character.isspace() for character in prefix):
            raise ValueError(f"frame_prefix is {prefix!r}; it must not begin with a slash nor have spaces")
        return prefix

    @field_validator("qos")
    @classmethod
    def _are_topics(cls, qos: dict[str, Qos]) -> dict[str, Qos]:
        for topic in qos:
            check_topic(topic)
        return qos

    def topic(self, name: str) -> str:
        """A topic or service with the namespace."""
        return name if name in _GLOBAL or not self.namespace else f"/{self.namespace}{name}"

    def qos_of(self, name: str) -> Qos:
        """Quality of service of a topic, named without the namespace."""
        if name in self.qos:
            return self.qos[name]
        return LATCHED if name in ("/tf_static", "/robot_description") else Qos()

    def frame(self, name: str) -> str:
        """A frame with the prefix."""
        return name if name == ROOT_FRAME or not name else self.frame_prefix + name


class ZenohOptions(Ros2Options):
    """ROS 2 over Zenoh, as rmw_zenoh speaks it."""

    endpoint: str = "tcp/127.0.0.1:7447"
    """Address of the router, or of this run where it listens itself; other machines only if named here."""
    mode: Literal["auto", "connect", "listen"] = "auto"
    """connect: to a router (rmw_zenohd), now or as soon as there is one. listen: nodes connect to this run. auto:
    connect if something answers there, else listen."""


class DdsOptions(Ros2Options):
    """ROS 2 over DDS (Eclipse Cyclone DDS)."""

    interface: str = "127.0.0.1"
    """Address of the network interface; other machines are reached only if one of theirs is named here."""
