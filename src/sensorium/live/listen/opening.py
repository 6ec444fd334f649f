"""Receivers by name, as `sensorium listen` has them; each is imported when it is first used."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec
from sensorium.live.listen.receiver import Receiver
from sensorium.live.opening import check_package, loaded


@dataclass(frozen=True)
class ReceiverKind:
    """One kind of receiver.

    Attributes:
        title: What it receives, for lists.
        options: Class of its options, a `Spec`, as module:name.
        receiver: Class of the receiver, which takes its options, as module:name.
        package: Module that must be installed, which the extra `live` brings; None if there is none.
    """

    title: str
    options: str
    receiver: str
    package: str | None = None


# All receivers by name
RECEIVERS: dict[str, ReceiverKind] = {
    "foxglove": ReceiverKind(
        "topics of a Foxglove server",
        "sensorium.live.listen.foxglove:FoxgloveListening",
        "sensorium.live.listen.foxglove:FoxgloveReceiver",
        package="websockets",
    ),
    "nmea": ReceiverKind(
        "sentences of NMEA 0183 on a serial port, UDP or TCP",
        "sensorium.live.listen.devices:StreamListening",
        "sensorium.live.listen.devices:NmeaReceiver",
    ),
    "ubx": ReceiverKind(
        "UBX frames on a serial port, UDP or TCP",
        "sensorium.live.listen.devices:StreamListening",
        "sensorium.live.listen.devices:UbxReceiver",
    ),
    "vectornav": ReceiverKind(
        "VectorNav messages on a serial port, UDP or TCP",
        "sensorium.live.listen.devices:StreamListening",
        "sensorium.live.listen.devices:VectorNavReceiver",
    ),
    "xsens": ReceiverKind(
        "Xsens messages on a serial port, UDP or TCP",
        "sensorium.live.listen.devices:StreamListening",
        "sensorium.live.listen.devices:XsensReceiver",
    ),
    "mavlink": ReceiverKind(
        "MAVLink messages, as PX4 would receive them",
        "sensorium.live.listen.mavlink:MavlinkListening",
        "sensorium.live.listen.mavlink:MavlinkReceiver",
        package="pymavlink",
    ),
    "ros2": ReceiverKind(
        "topics of ROS 2 over Zenoh",
        "sensorium.live.listen.ros2:ZenohListening",
        "sensorium.live.listen.ros2:ZenohReceiver",
        package="zenoh",
    ),
    "dds": ReceiverKind(
        "topics of ROS 2 over DDS",
        "sensorium.live.listen.dds:DdsListening",
        "sensorium.live.listen.dds:DdsReceiver",
        package="cyclonedds",
    ),
    "udp": ReceiverKind(
        "packets of lidars",
        "sensorium.live.listen.lidar_udp:LidarListening",
        "sensorium.live.listen.lidar_udp:LidarReceiver",
    ),
}


def receiver(name: str, options: Mapping[str, Any]) -> Receiver:
    """A receiver, not yet open.

    Args:
        name: Such as "foxglove".
        options: Its options by name.
    """
    if name not in RECEIVERS:
        raise SpecError(f"PATH is {name!r}; it must be one of {', '.join(RECEIVERS)}")
    kind = RECEIVERS[name]
    check_package(kind.title, kind.package)
    spec: type[Spec] = loaded(kind.options)
    made: Receiver = loaded(kind.receiver)(spec(**options))
    return made
