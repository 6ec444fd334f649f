"""ROS 2 over DDS (Eclipse Cyclone DDS): topics as rmw_cyclonedds names them."""

import os
from threading import Event, Thread
from typing import Any
from xml.sax.saxutils import quoteattr

from sensorium.core.errors import SpecError, in_one_line
from sensorium.live.ros2.commands import Commands, CommandTopic
from sensorium.live.ros2.dds_types import topic_type
from sensorium.live.ros2.dds_writing import BytesWriter
from sensorium.live.ros2.graph_names import Qos
from sensorium.live.ros2.options import DdsOptions
from sensorium.live.ros2.sink import RosSink

# How often commands are looked for [s]
_LOOK_EVERY_S = 0.01

# Most a write waits for slow readers [ms], on the sink's own thread
_MOST_BLOCKED_MS = 100

_LOOPBACK = "127.0.0.1"


class DdsSink(RosSink):
    """Publishes CDR as it is, without making samples of it.

    Nodes are not announced in ROS 2's graph, and there are no services: the topic /sensorium/control does their work.
    """

    name = "dds"

    def __init__(self, options: DdsOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(options)
        self._interface = options.interface
        self._participant: Any = None
        self._domain: Any = None
        self._writers: dict[str, BytesWriter] = {}
        self._readers: list[tuple[CommandTopic, Any]] = []
        self._ends = Event()
        self._listener: Thread | None = None

    def _connect(self, commands: Commands | None) -> None:
        self._domain, self._participant = open_participant(self._options.domain, self._interface)
        if commands is not None:
            self._readers = [
                (topic, open_reader(self._participant, self._options.topic(topic.name), topic.kind, Qos()))
                for topic in commands.topics
            ]
            self._listener = Thread(
                target=self._listen, args=(commands,), name="sensorium-live-dds-commands", daemon=True
            )
            self._listener.start()

    def _wanted(self, topic: str, kind: str) -> bool:
        if topic not in self._writers:
            qos, name = self._options.qos_of(topic), self._options.topic(topic)
            self._writers[topic] = BytesWriter(self._participant, dds_topic(name), topic_type(kind), dds_qos(qos))
        return self._options.qos_of(topic).latched or self._writers[topic].readers() > 0

    def _publish(self, topic: str, kind: str, data: bytes) -> None:
        self._writers[topic].write(data)

    def _receivers(self) -> int | None:
        return max((writer.readers() for writer in list(self._writers.values())), default=0)

    def _close(self) -> None:
        self._ends.set()
        if self._listener is not None:
            self._listener.join(1.0)
        self._writers.clear()
        self._readers.clear()
        self._participant = self._domain = None

    def _listen(self, commands: Commands) -> None:
        """Take commands until the sink is closed."""
        while not self._ends.wait(_LOOK_EVERY_S):
            for topic, reader in self._readers:
                for sample in taken(reader):
                    commands.receive(topic, sample)


def open_participant(domain: int, interface: str) -> tuple[Any, Any]:
    """The domain's configuration and a participant in it; both end when they are dropped.

    Without CYCLONEDDS_URI in the environment the given interface is used: on loopback others are found by their ports,
    on any other by multicast.
    """
    from cyclonedds.core import DDSException
    from cyclonedds.domain import Domain, DomainParticipant

    settings = None
    try:
        if "CYCLONEDDS_URI" not in os.environ:
            settings = Domain(domain, configuration(interface))
    except DDSException as error:
        # A process configures a domain once; a second participant uses what is there
        if error.code != DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:
            raise SpecError(f"interface is {interface!r}, which DDS cannot use: {in_one_line(error)}") from None
    try:
        return settings, DomainParticipant(domain)
    except DDSException as error:
        raise SpecError(f"domain is {domain}, which DDS cannot join: {in_one_line(error)}") from None


def configuration(interface: str) -> str:
    """Cyclone's configuration for one interface; large fragments, since clouds have megabytes."""
    is_loopback = interface == _LOOPBACK
    multicast = "false" if is_loopback else "true"
    peers = "<Peers><Peer address='127.0.0.1'/></Peers>" if is_loopback else ""
    return (
        "<CycloneDDS><Domain><General>"
        f"<Interfaces><NetworkInterface address={quoteattr(interface)}/></Interfaces>"
        f"<AllowMulticast>{multicast}</AllowMulticast>"
        "<MaxMessageSize>65500B</MaxMessageSize><FragmentSize>65000B</FragmentSize></General>"
        f"<Discovery><ParticipantIndex>auto</ParticipantIndex>{peers}</Discovery></Domain></CycloneDDS>"
    )


def open_reader(participant: Any, topic: str, kind: str, qos: Qos) -> Any:
    """A reader of a topic of ROS 2, for `taken`."""
    from cyclonedds.sub import DataReader
    from cyclonedds.topic import Topic

    settings = dds_qos(qos)
    return DataReader(participant, Topic(participant, dds_topic(topic), topic_type(kind), qos=settings), qos=settings)


def taken(reader: Any) -> list[bytes]:
    """CDR of the messages that arrived."""
    return [sample.data for sample in reader.take(N=64) if hasattr(sample, "data")]


def dds_topic(topic: str) -> str:
    """Name in DDS of a topic of ROS 2."""
    return f"rt{topic}"


def dds_qos(qos: Qos) -> Any:
    """Quality of service for Cyclone, in the first version of CDR, as ROS 2 has it."""
    from cyclonedds.qos import Policy
    from cyclonedds.qos import Qos as CycloneQos
    from cyclonedds.util import duration

    reliable = Policy.Reliability.Reliable(duration(milliseconds=_MOST_BLOCKED_MS))
    return CycloneQos(
        reliable if qos.reliability == "reliable" else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if qos.latched else Policy.Durability.Volatile,
        Policy.History.KeepLast(qos.depth),
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )
