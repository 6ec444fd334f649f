"""Options of the sink `udp`: which lidar sends which maker's packets where."""

from typing import Annotated, Literal

from pydantic import Field

from sensorium.core.spec import Spec

Port = Annotated[int, Field(ge=0, le=65535)]
Share = Annotated[float, Field(ge=0.0, le=1.0)]


class PacketFaults(Spec):
    """Packets that a network loses, delays or doubles; each packet is drawn for itself, by the environment's seed."""

    dropped: Share = 0.0
    """Share of packets that never leave."""
    doubled: Share = 0.0
    """Share of packets that leave twice."""
    late: Share = 0.0
    """Share of packets that leave late, so that later ones overtake them."""
    late_s: float = Field(default=0.005, ge=0.0)
    """How late these are [s]."""


class LidarUdp(Spec):
    """What the packets of all makers share."""

    to: tuple[str, ...] = Field(default=("127.0.0.1",), min_length=1)
    """Addresses that receive each packet; others than loopback must be named here."""
    source: str | None = None
    """Own address that packets leave from, such as 127.0.0.2; None leaves it to the system."""
    latency_s: float | None = Field(default=None, gt=0.0)
    """Simulated time from a packet's last firing until it leaves [s]. A sweep is known at its end, so this is at least
    one sweep; None is one sweep and 50 ms, in which the packets are made."""
    faults: PacketFaults = PacketFaults()
    """Packets that are lost, late or doubled."""


class OusterUdp(LidarUdp):
    """Ouster's lidar and IMU packets, and its metadata over HTTP."""

    kind: Literal["ouster"] = "ouster"
    profile: (
        Literal[
            "RNG19_RFL8_SIG16_NIR16", "RNG19_RFL8_SIG16_NIR16_DUAL", "RNG15_RFL8_NIR8", "RNG15_RFL8_NIR8_DUAL", "LEGACY"
        ]
        | None
    ) = None
    """Profile of the lidar packets; None is RNG19_RFL8_SIG16_NIR16, with _DUAL for a lidar of several returns."""
    lidar_port: Port = 7502
    """Port that lidar packets go to."""
    imu_port: Port = 7503
    """Port that IMU packets go to."""
    imu: str | None = None
    """Name of the IMU sensor whose readings are sent; None sends no IMU packets."""
    http: str | None = None
    """ADDRESS:PORT that answers for metadata and configuration; None answers nowhere. Ouster's SDK asks at port 80."""
    product: str | None = None
    """Product line, such as OS-1-128; None is that of the data sheet with the same beams."""
    serial: int = Field(default=122_000_000_001, ge=0, lt=1 << 40)
    """Serial number."""
    signal_at_10_m: float = Field(default=1000.0, gt=0.0)
    """Signal photons of a white diffuse target at 10 m; the signal falls with the square of range."""
    near_ir_full_scale_w: float | None = Field(default=None, gt=0.0)
    """Ambient power of the greatest near infrared count [W]; None sends 0."""


class VelodyneUdp(LidarUdp):
    """Velodyne's data and position packets; the return mode is that of the lidar."""

    kind: Literal["velodyne"] = "velodyne"
    model: Literal["VLP-16", "VLP-32C", "HDL-32E", "VLS-128"] | None = None
    """None is that of the data sheet with the same beams."""
    lidar_port: Port = 2368
    """Port that data packets go to."""
    position_port: Port = 8308
    """Port that position packets go to."""
    gnss: str | None = None
    """Name of the GNSS sensor whose fixes are sent as position packets; None sends none."""


class HesaiUdp(LidarUdp):
    """Hesai's point cloud packets; the return mode is that of the lidar."""

    kind: Literal["hesai"] = "hesai"
    model: Literal["Pandar64", "PandarXT-32"] | None = None
    """None is that of the data sheet with the same beams."""
    lidar_port: Port = 2368
    """Port that packets go to."""


class LivoxUdp(LidarUdp):
    """Livox's point and IMU packets; its handshake over the command port is not simulated."""

    kind: Literal["livox"] = "livox"
    model: Literal["Mid-40", "Mid-70", "Avia", "Horizon", "Tele-15", "Mid-360", "HAP"] | None = None
    """None is that of the data sheet with the same beams."""
    lidar_port: Port | None = None
    """Port that point packets go to; None is 56301 for a Mid-360, 57000 for a HAP and 60001 for older models."""
    imu_port: Port | None = None
    """Port that IMU packets go to; None is 56401 for a Mid-360, 58000 for a HAP and 60002 for older models."""
    imu: str | None = None
    """Name of the IMU sensor whose readings are sent; None sends no IMU packets."""


AnyLidarUdp = Annotated[OusterUdp | VelodyneUdp | HesaiUdp | LivoxUdp, Field(discriminator="kind")]


class UdpOptions(Spec):
    """Lidars as their makers' UDP packets."""

    sensors: dict[str, AnyLidarUdp] = Field(default_factory=dict)
    """Options by name of the sensor; empty sends every lidar that has the beams of a data sheet with known packets,
    with defaults."""
    epoch_s: float = Field(default=946_684_800.0, ge=0.0)
    """Unix time of simulated time 0 in packets that have a date [s]; 2000-01-01 by default."""


class PcapOptions(UdpOptions):
    """The same packets in a capture file, each at its own simulated time; nothing is dropped."""

    path: str
    """File to write; metadata of an Ouster are written beside it, as .json."""
