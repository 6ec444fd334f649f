"""Live sinks by name; each is imported when it is first used."""

import importlib
import importlib.util
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sensorium.core.errors import MissingExtraError, SpecError
from sensorium.core.spec import Spec
from sensorium.core.spelling import nearest
from sensorium.live.sink import LiveSink


@dataclass(frozen=True)
class SinkKind:
    """One kind of sink.

    Attributes:
        title: What it is, for lists and schemas.
        options: Class of its options, a `Spec`, as module:name.
        sink: Class of the sink, which takes its options, as module:name.
        package: Module that must be installed, which the extra `live` brings; None if there is none.
    """

    title: str
    options: str
    sink: str
    package: str | None = None

    def make(self, options: Spec) -> LiveSink:
        """The sink with these options, not yet open."""
        check_package(self.title, self.package)
        made: LiveSink = loaded(self.sink)(options)
        return made


# All sinks by name, as `--live`, `live:` and `open_sink` have them
SINKS: dict[str, SinkKind] = {
    "foxglove": SinkKind(
        "a server for Foxglove",
        "sensorium.live.foxglove.options:FoxgloveOptions",
        "sensorium.live.foxglove.sink:FoxgloveSink",
        package="foxglove",
    ),
    "nmea": SinkKind(
        "a satellite receiver that sends NMEA 0183",
        "sensorium.live.talkers.options:NmeaOptions",
        "sensorium.live.talkers.receivers:NmeaSink",
    ),
    "ubx": SinkKind(
        "a satellite receiver that sends UBX",
        "sensorium.live.talkers.options:UbxOptions",
        "sensorium.live.talkers.receivers:UbxSink",
    ),
    "vectornav": SinkKind(
        "an IMU that sends VectorNav messages",
        "sensorium.live.talkers.options:VectorNavOptions",
        "sensorium.live.talkers.inertial:VectorNavSink",
    ),
    "xsens": SinkKind(
        "an IMU that sends Xsens messages",
        "sensorium.live.talkers.options:XsensOptions",
        "sensorium.live.talkers.inertial:XsensSink",
    ),
    "mavlink": SinkKind(
        "MAVLink sensors for PX4",
        "sensorium.live.talkers.options:MavlinkOptions",
        "sensorium.live.talkers.mavlink:MavlinkSink",
        package="pymavlink",
    ),
    "ardupilot": SinkKind(
        "ArduPilot's JSON interface",
        "sensorium.live.talkers.options:ArduPilotOptions",
        "sensorium.live.talkers.ardupilot:ArduPilotSink",
    ),
    "ros2": SinkKind(
        "ROS 2 over Zenoh",
        "sensorium.live.ros2.options:ZenohOptions",
        "sensorium.live.ros2.zenoh:ZenohSink",
        package="zenoh",
    ),
    "dds": SinkKind(
        "ROS 2 over DDS",
        "sensorium.live.ros2.options:DdsOptions",
        "sensorium.live.ros2.dds:DdsSink",
        package="cyclonedds",
    ),
    "udp": SinkKind(
        "lidars as their makers' UDP packets",
        "sensorium.live.lidar_udp.options:UdpOptions",
        "sensorium.live.lidar_udp.sink:UdpSink",
    ),
    "pcap": SinkKind(
        "the same packets in a capture file",
        "sensorium.live.lidar_udp.options:PcapOptions",
        "sensorium.live.lidar_udp.pcap_sink:PcapSink",
    ),
}


def open_sink(name: str, **options: Any) -> LiveSink:
    """A sink for `env.run(live=[...])`; its sockets are opened when the run begins.

    Args:
        name: Such as "foxglove"; the names are those of `--live`.
        options: Its options, such as port=8765.
    """
    return _kind(name).make(options_of(name)(**options))


def options_of(name: str) -> type[Spec]:
    """The class of a sink's options."""
    options: type[Spec] = loaded(_kind(name).options)
    return options


def named_sinks(given: Iterable[object]) -> list[LiveSink]:
    """Sinks, of which some may be given by name alone."""
    sinks: list[LiveSink] = []
    for one in given:
        made: Any = open_sink(one) if isinstance(one, str) else one
        if not all(callable(getattr(made, method, None)) for method in ("open", "send", "close", "state")):
            raise SpecError(f"live has {one!r}; it must have names of sinks, or what open_sink returns")
        sinks.append(made)
    return sinks


def _kind(name: str) -> SinkKind:
    if name not in SINKS:
        guesses = nearest(name, SINKS)
        hint = f"; did you mean {guesses[0]!r}?" if guesses else ""
        raise SpecError(f"live sink is {name!r}; it must be one of {', '.join(SINKS)}{hint}")
    return SINKS[name]


def check_package(title: str, package: str | None) -> None:
    """Raise unless a package is installed that something of this title needs."""
    if package is not None and importlib.util.find_spec(package) is None:
        raise MissingExtraError(f"{title} needs {package}; pip install 'sensorium[live]'")


def loaded(place: str) -> Any:
    """What has a name in a module, given as module:name; imported now."""
    module, _, name = place.partition(":")
    return getattr(importlib.import_module(module), name)
