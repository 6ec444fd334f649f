"""MAVLink sensors for PX4's software in the loop: HIL_SENSOR and HIL_GPS out, HIL_ACTUATOR_CONTROLS in.

Units and axes are MAVLink's: specific force and angular rate in body axes forward, right and down, magnetic field in
gauss, pressure in mbar, latitude and longitude in 1e-7 degrees, velocity north, east and down in cm/s. Sources: the
message definitions of MAVLink's common.xml; PX4 Guide, "Simulator MAVLink API": the simulator is a TCP server at port
4560, PX4 connects.
"""

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float, rotate
from sensorium.environment import Environment
from sensorium.live.talkers.autopilot import Autopilot
from sensorium.live.talkers.choice import (
    GAUSS_PER_T,
    body_axes,
    chosen,
    forward_right_down,
    found_or_none,
    inertial_outputs,
    is_valid,
    numbers,
)
from sensorium.live.talkers.controls import Controls
from sensorium.live.talkers.epochs import Epochs
from sensorium.live.talkers.options import MavlinkOptions
from sensorium.live.talkers.ports import PtyPort, port_of

_PA_PER_MBAR = 100.0

# Bits of HIL_SENSOR.fields_updated: acceleration, rate, magnetic field, pressure with altitude and temperature
_FORCE, _RATE, _MAGNETIC, _PRESSURE = 0b0000_0000_0111, 0b0000_0011_1000, 0b0001_1100_0000, 0b1_1010_0000_0000
_ARMED = 128
_UNKNOWN_U16 = 2**16 - 1
_MOST_CM_S = 2**15 - 1


class MavlinkSink(Autopilot):
    """Sends a HIL_SENSOR for each reading of the IMU, and a HIL_GPS for each of the satellite receiver.

    HIL_SENSOR has the newest magnetic field and pressure; `fields_updated` marks those that are new. A vehicle needs an
    IMU, a magnetometer and a barometer; without a satellite receiver no HIL_GPS is sent. Vectors are turned from each
    sensor's axes to its body's, whose x axis points forward and z axis up.
    """

    name = "mavlink"

    def __init__(self, options: MavlinkOptions) -> None:
        """Make one; nothing is opened yet."""
        from pymavlink.dialects.v20 import common

        port = port_of(options.port)
        if isinstance(port, PtyPort):
            raise SpecError(f"port of live sink {self.name!r} is {options.port!r}; it must be tcp or udp")
        super().__init__(options, port)
        self._options = options
        self._mav = common.MAVLink(None, srcSystem=1, srcComponent=51)
        self._mav.robust_parsing = True
        self._barometer = self._magnetometer = self._gnss = ""
        self._epochs: Epochs | None = None
        self._axes: dict[str, Float] = {}
        self._newest: dict[int, tuple[float, ...]] = {}  # by bits of fields_updated
        self._updated = 0

    def _choose(self, env: Environment) -> tuple[str, ...]:
        options = self._options
        self._imu = chosen(env, "imu", options.imu, talker=self.name)
        has_own = "magnetic_field" in inertial_outputs(env.sensors[self._imu], talker=self.name)
        if has_own and options.magnetometer is None:
            self._magnetometer = self._imu
        else:
            self._magnetometer = chosen(env, "magnetometer", options.magnetometer, talker=self.name)
        self._barometer = chosen(env, "barometer", options.barometer, talker=self.name)
        self._gnss = found_or_none(env, "gnss", options.gnss, talker=self.name) or ""
        if self._gnss:
            self._epochs = Epochs(env.sensors[self._gnss], satellites=options.satellites, geoid_m=options.geoid_m)
        # The IMU is last: of readings that arrive at one time, its message has the others
        names = [name for name in (self._magnetometer, self._barometer, self._gnss) if name not in ("", self._imu)]
        self._axes = {name: body_axes(env.sensors[name]) for name in (*names, self._imu)}
        return (*names, self._imu)

    def _encode(self, sensor: str, reading: Any) -> Iterable[bytes]:
        if not is_valid(reading):
            return ()
        if sensor == self._gnss:
            return (self._hil_gps(reading),)
        if sensor == self._barometer:
            self._take(_PRESSURE, (numbers(reading.pressure_Pa)[0] / _PA_PER_MBAR, numbers(reading.altitude_m)[0]))
        if sensor == self._magnetometer:
            field_T = self._in_body(sensor, reading.magnetic_field)
            self._take(_MAGNETIC, tuple(GAUSS_PER_T * b for b in field_T))
        if sensor != self._imu:
            return ()
        self._take(_FORCE, self._in_body(sensor, reading.acceleration))
        self._take(_RATE, self._in_body(sensor, reading.angular_velocity))
        is_complete = len(self._newest) == 4  # the first message waits until all sensors have measured
        return (self._hil_sensor(reading.time_ns),) if is_complete else ()

    def _take(self, bits: int, values: tuple[float, ...]) -> None:
        """Keep what was measured; what drops out stays as it was, and is not marked as new."""
        if all(map(math.isfinite, values)):
            self._newest[bits] = values
            self._updated |= bits

    def _hil_sensor(self, time_ns: int) -> bytes:
        updated, self._updated = self._updated, 0
        pressure_mbar, altitude_m = self._newest[_PRESSURE]
        message = self._mav.hil_sensor_encode(
            time_ns // 1000,
            *(*self._newest[_FORCE], *self._newest[_RATE], *self._newest[_MAGNETIC]),
            pressure_mbar,
            0.0,  # no airspeed sensor: its bit is never set
            altitude_m,
            self._options.temperature_C,
            updated,
        )
        return bytes(message.pack(self._mav))

    def _hil_gps(self, reading: Any) -> bytes:
        assert self._epochs is not None
        fix = self._epochs.of(reading)
        if not fix.has_fix:
            place, motion, dops = (0, 0, 0), (_UNKNOWN_U16, 0, 0, 0, _UNKNOWN_U16), (_UNKNOWN_U16, _UNKNOWN_U16)
        else:
            east, north, up = fix.velocity_m_s
            place = round(fix.latitude_deg * 1e7), round(fix.longitude_deg * 1e7), round(fix.altitude_m * 1e3)
            motion = (
                min(round(fix.ground_speed_m_s * 100.0), _UNKNOWN_U16 - 1),
                *(_cm_s(north), _cm_s(east), _cm_s(-up)),
                round(fix.course_deg * 100.0) % 36000,
            )
            dops = round(fix.hdop * 100.0), round(fix.vdop * 100.0)
        message = self._mav.hil_gps_encode(
            reading.time_ns // 1000, 3 if fix.has_fix else 0, *place, *dops, *motion, fix.satellites
        )
        return bytes(message.pack(self._mav))

    def _in_body(self, sensor: str, vector: Any) -> tuple[float, float, float]:
        return forward_right_down(rotate(self._axes[sensor], np.asarray(vector).reshape(3)))

    def _receive(self, chunk: bytes) -> None:
        for message in self._mav.parse_buffer(chunk) or ():
            if message.get_type() == "HIL_ACTUATOR_CONTROLS":
                channels = np.array(message.controls, np.float64)
                self._command(Controls(channels, False, bool(message.mode & _ARMED), message.time_usec))


def _cm_s(speed_m_s: float) -> int:
    """Centimeters per second as MAVLink has room for them; faster ones are limited."""
    return round(math.copysign(min(abs(speed_m_s * 100.0), _MOST_CM_S), speed_m_s))
