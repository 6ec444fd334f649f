"""Which sensors of an environment send packets, of which maker, and the packets of a step."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from sensorium import devices
from sensorium.core.clock import seconds_to_ns
from sensorium.core.errors import SpecError
from sensorium.environment import Environment
from sensorium.live.lidar_udp.addresses import ip_address
from sensorium.live.lidar_udp.hesai import HesaiPackets
from sensorium.live.lidar_udp.livox import LivoxPackets
from sensorium.live.lidar_udp.options import AnyLidarUdp, HesaiUdp, LivoxUdp, OusterUdp, UdpOptions, VelodyneUdp
from sensorium.live.lidar_udp.ouster import OusterPackets
from sensorium.live.lidar_udp.ouster_metadata import metadata_of
from sensorium.live.lidar_udp.packet_faults import FaultyNetwork
from sensorium.live.lidar_udp.packets import PacketBatch, check_lidar
from sensorium.live.lidar_udp.velodyne import VelodynePackets
from sensorium.recordings.packets import hesai, livox, velodyne
from sensorium.sensors.common.attached import AttachedSensor
from sensorium.sensors.gnss import Gnss
from sensorium.sensors.inertial.imu import Imu
from sensorium.sensors.lidar.lidar import Lidar

_OUSTERS = {f"ouster-os{k}-{n}": f"OS-{k}-{n}" for k, n in ((0, 128), (1, 64), (1, 128), (2, 128))}
_LIVOX_PORTS = {"Mid-360": (56301, 56401), "HAP": (57000, 58000)}
_LIVOX_OLD_PORTS = (60001, 60002)

# A sweep is known at its end; packets are made in this time [s]
_TO_MAKE_S = 0.05


class Work(NamedTuple):
    """A reading to be sent: of which lidar, how ("sweep", "sample" or "fix"), and its arrival after its end [ns]."""

    lidar: "LidarSender"
    method: str
    reading: Any
    arrival_ns: int


@dataclass(eq=False)
class LidarSender:
    """One lidar, with the sensors that its packets carry beside."""

    name: str
    options: AnyLidarUdp
    packets: OusterPackets | VelodynePackets | HesaiPackets | LivoxPackets
    ports: dict[str, int]
    sources: dict[str, str]
    latency_ns: int
    duration_ns: int
    networks: dict[str, FaultyNetwork]
    product: str = ""

    def destinations(self, channel: str) -> list[tuple[str, int]]:
        """Addresses and ports of the receivers of a channel."""
        return [(ip_address(each, "to"), self.ports[channel]) for each in self.options.to]

    def batches(self, work: Work) -> Iterator[PacketBatch]:
        """Packets of a reading, as the network leaves them; a message that was delayed makes late packets."""
        if work.method == "sweep":
            made = self.packets.sweep(work.reading)
            delay_ns = work.arrival_ns - work.reading.end_ns
        else:
            made = getattr(self.packets, work.method)(work.reading, work.arrival_ns)
            delay_ns = 0
        for batch in made:
            yield self.networks[batch.channel].carried(batch._replace(fired_ns=batch.fired_ns + delay_ns))


def lidar_senders(env: Environment, options: UdpOptions) -> list[LidarSender]:
    """All lidars that send, in the order of the environment."""
    sensors = env.sensors
    for name in options.sensors:
        if name not in sensors:
            raise SpecError(f"sensors has {name!r}; the environment has {', '.join(map(repr, sensors)) or 'none'}")
    found = []
    for name, sensor in sensors.items():
        spec = sensor.spec
        if options.sensors and name not in options.sensors:
            continue
        if not isinstance(spec, Lidar):
            if name in options.sensors:
                raise SpecError(f"sensors has {name!r}, {type(spec).__name__}; makers' packets are of lidars")
            continue
        known = _device_of(spec)
        if name not in options.sensors and known is None:
            continue
        found.append(_sender(env, sensor, spec, options.sensors.get(name) or _default(known), known, options.epoch_s))
    if not found:
        raise SpecError(
            "udp has no lidar to send: none has the beams of a data sheet whose packets are known; name it in sensors, "
            "such as {'top': {'kind': 'ouster'}}"
        )
    _check_ports(found)
    return found


def step_work(env: Environment, lidars: list[LidarSender]) -> Iterator[Work]:
    """Readings of the last step that are to be sent."""
    for lidar in lidars:
        for method, source in lidar.sources.items():
            for arrival in env.sensors[source].arrivals():
                yield Work(lidar, method, arrival.reading, arrival.arrival_ns)


def ouster_metadata(env: Environment, lidar: LidarSender) -> dict[str, Any]:
    """Metadata of an Ouster."""
    assert isinstance(lidar.options, OusterUdp)
    assert isinstance(lidar.packets, OusterPackets)
    X_LI = None
    if lidar.options.imu is not None:
        mine, other = env.sensors[lidar.name].rig, env.sensors[lidar.options.imu].rig
        if mine.body == other.body:
            X_LI = mine.X_BS[0].inverse() @ other.X_BS[0]
    to = lidar.options.to[0]
    return metadata_of(lidar.packets, lidar.options, product=lidar.product, X_LI=X_LI, destination=to)


def _device_of(spec: Lidar) -> tuple[str, str] | None:
    """Maker and model of the data sheet whose pattern has the same beams; None if there is none."""
    known = {sheet: ("ouster", product) for sheet, product in _OUSTERS.items()}
    known |= {model.sheet: ("velodyne", model.name) for model in velodyne.MODELS.values()}
    known |= {each.sheet: ("hesai", each.name) for each in hesai.LAYOUTS.values() if each.sheet}
    known |= {model.sheet: ("livox", model.name) for model in livox.MODELS.values()}
    beams = _beams(spec)
    return next(
        (
            what
            for sheet, what in known.items()
            if sheet in devices.names() and _beams(Lidar(**devices.specification(sheet))) == beams
        ),
        None,
    )


def _beams(spec: Lidar) -> tuple[object, ...]:
    """What tells one device's pattern from another's, at any rate and number of columns."""
    pattern = spec.pattern
    names = ("elevation_deg", "azimuth_offset_deg", "prisms", "beams_yz")
    return pattern.kind, *(getattr(pattern, name, None) for name in names)


def _default(known: tuple[str, str] | None) -> AnyLidarUdp:
    assert known is not None
    makers: dict[str, type[AnyLidarUdp]] = {"ouster": OusterUdp, "velodyne": VelodyneUdp, "hesai": HesaiUdp}
    return makers.get(known[0], LivoxUdp)()


def _sender(
    env: Environment,
    sensor: AttachedSensor[Any],
    spec: Lidar,
    options: AnyLidarUdp,
    known: tuple[str, str] | None,
    epoch_s: float,
) -> LidarSender:
    """One lidar; refuses what its packets cannot tell."""
    name = sensor.name
    check_lidar(spec, name)
    if sensor.rig.world_axis or sensor.rig.sensor_axis:
        raise SpecError(f"lidar {name!r} is one of several in a batch; packets are of one sensor in one world")
    duration_ns = spec.pattern.rays(0).duration_ns
    latency_ns = duration_ns + seconds_to_ns(_TO_MAKE_S)
    if options.latency_s is not None:
        latency_ns = seconds_to_ns(options.latency_s)
        if latency_ns < duration_ns:
            raise SpecError(
                f"latency_s is {options.latency_s}; a sweep of lidar {name!r} is known after {1e-9 * duration_ns:g} s, "
                "it must be at least that"
            )
    packets: OusterPackets | VelodynePackets | HesaiPackets | LivoxPackets
    ports, sources, product = {"lidar": 0}, {"sweep": name}, ""
    if isinstance(options, OusterUdp):
        packets = OusterPackets(spec, options, name=name)
        ports = {"lidar": options.lidar_port, "imu": options.imu_port}
        of_sheet = known[1] if known is not None and known[0] == "ouster" else f"OS-1-{packets.channels}"
        product = options.product or of_sheet
        _add_source(env, sources, "sample", options.imu, Imu)
    elif isinstance(options, VelodyneUdp):
        packets = VelodynePackets(spec, _model(options, known, name), epoch_s=epoch_s, name=name)
        ports = {"lidar": options.lidar_port, "position": options.position_port}
        _add_source(env, sources, "fix", options.gnss, Gnss)
    elif isinstance(options, HesaiUdp):
        packets = HesaiPackets(spec, _model(options, known, name), epoch_s=epoch_s, name=name)
        ports = {"lidar": options.lidar_port}
    else:
        model = _model(options, known, name)
        packets = LivoxPackets(spec, model, name=name)
        lidar_port, imu_port = _LIVOX_PORTS.get(model, _LIVOX_OLD_PORTS)
        ports = {
            "lidar": lidar_port if options.lidar_port is None else options.lidar_port,
            "imu": imu_port if options.imu_port is None else options.imu_port,
        }
        if options.imu is not None and packets.model.imu_kind is None:
            raise SpecError(f"imu is {options.imu!r}; packets of a {model} have no IMU")
        _add_source(env, sources, "sample", options.imu, Imu)
    networks = {
        channel: FaultyNetwork(options.faults, seed=sensor.rig.seed, name=f"{name}/{channel}") for channel in ports
    }
    return LidarSender(name, options, packets, ports, sources, latency_ns, duration_ns, networks, product)


def _model(options: VelodyneUdp | HesaiUdp | LivoxUdp, known: tuple[str, str] | None, name: str) -> str:
    """The model that is given, or that of the sheet with the same beams."""
    if options.model is not None:
        return options.model
    if known is None or known[0] != options.kind:
        raise SpecError(f"lidar {name!r} has the beams of no {options.kind} data sheet; its model must be given")
    return known[1]


def _add_source(
    env: Environment, sources: dict[str, str], method: str, name: str | None, kind: type[Imu] | type[Gnss]
) -> None:
    """Another sensor whose readings are sent too."""
    if name is None:
        return
    of_kind = [each for each, sensor in env.sensors.items() if isinstance(sensor.spec, kind)]
    if name not in of_kind:
        field = kind.__name__.lower()
        raise SpecError(f"{field} is {name!r}; it must be one of: {', '.join(of_kind) or 'none is attached'}")
    sources[method] = name


def _check_ports(lidars: list[LidarSender]) -> None:
    """Refuse two lidars that a receiver could not tell apart."""
    taken: dict[tuple[str | None, str, int], str] = {}
    for lidar in lidars:
        for address in lidar.options.to:
            key = (lidar.options.source, address, lidar.ports["lidar"])
            if key in taken:
                raise SpecError(
                    f"lidars {taken[key]!r} and {lidar.name!r} both send to {address}:{key[2]}; give one another "
                    "lidar_port or source"
                )
            taken[key] = lidar.name
