"""Options of the talkers, as in `live.nmea`, `live.mavlink` and so on of a scenario file."""

from datetime import UTC, datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, Field

from sensorium.core.spec import Spec
from sensorium.live.talkers.formats.fix import FixQuality, checked_start_utc
from sensorium.live.talkers.ports import checked_host, port_of


def _is_port(text: str) -> str:
    port_of(text)
    return text


PortText = Annotated[str, AfterValidator(_is_port)]


class ReceiverOptions(Spec):
    """What a satellite receiver says beyond the readings of its sensor."""

    gnss: str | None = None
    """Name of the sensor; the only one of its kind need not be named."""
    start_utc: Annotated[datetime, AfterValidator(checked_start_utc)] = datetime(2026, 1, 1, tzinfo=UTC)
    """Date and time at the simulated time zero, with a zone."""
    quality: FixQuality = "single"
    """Kind of solution that a fix is said to be."""
    satellites: Annotated[int, Field(ge=4, le=32)] = 12
    """Satellites in use under an open sky. They are not simulated: a sensor that looks at the sky uses its share of
    them."""
    geoid_m: Annotated[float, Field(ge=-150.0, le=150.0)] = 0.0
    """Height of the mean sea above the ellipsoid there [m]; altitudes are above the sea."""


class NmeaOptions(ReceiverOptions):
    """A satellite receiver that sends NMEA 0183: GGA, RMC, GSA, VTG, ZDA."""

    port: PortText = "pty"
    """pty, pty:LINK, udp:[HOST:]PORT or tcp:[HOST:]PORT."""
    talker: Annotated[str, Field(pattern="^[A-Z]{2}$")] = "GN"
    """Talker: GP for GPS, GN for several systems."""


class UbxOptions(ReceiverOptions):
    """A u-blox receiver that sends UBX: NAV-PVT, NAV-DOP, NAV-SAT, NAV-EOE."""

    port: PortText = "pty"
    """pty, pty:LINK, udp:[HOST:]PORT or tcp:[HOST:]PORT."""


class ImuOptions(Spec):
    """What an inertial sensor says beyond its readings."""

    imu: str | None = None
    """Name of the IMU; the only one need not be named."""
    barometer: str | None = None
    """Name of the barometer whose pressure is sent too; the only one need not be named."""
    port: PortText = "pty"
    """pty, pty:LINK, udp:[HOST:]PORT or tcp:[HOST:]PORT."""
    temperature_C: float = 25.0
    """Temperature that is sent [deg C]; no sensor measures it."""


class VectorNavOptions(ImuOptions):
    """A VectorNav sensor: binary output of group 1, or ASCII."""

    format: Literal["binary", "vnimu"] = "binary"
    """Binary sends time, angular rate and acceleration, with increments, magnetic field and pressure if there are
    sensors for them; vnimu sends $VNIMU, which needs a magnetometer in the IMU, and a barometer."""


class XsensOptions(ImuOptions):
    """An Xsens MTi sensor: MTData2."""

    magnetic_unit_T: Annotated[float, Field(gt=0.0)] = 49e-6
    """Unit of the magnetic field, that of the place where the device was calibrated [T]."""


class ControlOptions(Spec):
    """What is done with an autopilot's commands: either MuJoCo actuators, or a body of a `Commanded` world."""

    actuators: tuple[str, ...] = ()
    """MuJoCo actuators of channels 0, 1, ..., over their control ranges; "" leaves a channel out."""
    body: str | None = None
    """Body of a `Commanded` world that is driven as a rover."""
    speed_channel: Annotated[int, Field(ge=0, lt=32)] = 2
    """Channel of the speed; 1 is forward at `max_speed_m_s`, -1 backward."""
    turn_channel: Annotated[int, Field(ge=0, lt=32)] = 0
    """Channel of the turn; 1 is to the right at `max_turn_rad_s`."""
    max_speed_m_s: Annotated[float, Field(gt=0.0)] = 5.0
    """Speed at full command [m/s]."""
    max_turn_rad_s: Annotated[float, Field(gt=0.0)] = 1.0
    """Rate of turn at full command [rad/s]."""


class AutopilotOptions(Spec):
    """A vehicle's sensors for an autopilot's software, and what comes back."""

    imu: str | None = None
    """Name of the IMU; the only one need not be named. It gives acceleration and angular rate."""
    lockstep: bool = False
    """Whether a step waits for the autopilot's answer to the last one, 0.2 s at most; without an answer the run goes
    on by itself until the next one comes."""
    control: ControlOptions = Field(default_factory=ControlOptions)
    """What is done with the autopilot's commands."""


class MavlinkOptions(AutopilotOptions):
    """HIL_SENSOR and HIL_GPS for PX4; HIL_ACTUATOR_CONTROLS come back."""

    port: PortText = "tcp:4560"
    """tcp:[HOST:]PORT, where PX4 connects; or udp:[HOST:]PORT, where messages are sent."""
    magnetometer: str | None = None
    """Name of the magnetometer; else the IMU's own, else the only one."""
    barometer: str | None = None
    """Name of the barometer; the only one need not be named."""
    gnss: str | None = None
    """Name of the satellite receiver; the only one need not be named. It needs an origin."""
    satellites: Annotated[int, Field(ge=4, le=32)] = 12
    """Satellites in use under an open sky."""
    geoid_m: Annotated[float, Field(ge=-150.0, le=150.0)] = 0.0
    """Height of the mean sea above the ellipsoid there [m]; altitudes are above the sea."""
    temperature_C: float = 25.0
    """Temperature that is sent [deg C]; no sensor measures it."""


class ArduPilotOptions(AutopilotOptions):
    """ArduPilot's JSON interface: state and inertial readings as text; servo outputs come back."""

    host: Annotated[str, AfterValidator(checked_host)] = "127.0.0.1"
    """Address to listen at."""
    udp_port: Annotated[int, Field(ge=0, le=65535)] = 9002
    """Port to listen at, where ArduPilot sends its servo outputs; 0 takes a free one."""
