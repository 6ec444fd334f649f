"""Inertial sensors on a serial port: VectorNav and Xsens."""

import abc
import math
from collections.abc import Iterable
from typing import Any

from sensorium.core.errors import SpecError
from sensorium.core.rotations import quaternion_exp
from sensorium.environment import Environment
from sensorium.live.talkers.choice import (
    GAUSS_PER_T,
    chosen,
    forward_right_down,
    found_or_none,
    inertial_outputs,
    is_valid,
    numbers,
)
from sensorium.live.talkers.formats import vectornav, xsens
from sensorium.live.talkers.options import ImuOptions, VectorNavOptions, XsensOptions
from sensorium.live.talkers.ports import port_of
from sensorium.live.talkers.talker import Talker

_SELF_TEST_PASSED = 1


class _SerialImu(Talker):
    """A talker of one IMU; a message for each of its readings has the newest pressure of a barometer, if there is one.

    Vectors are in the sensor's own axes, as a device knows no others. Attitude is not sent: it is no measurement but
    a filter's estimate.
    """

    _needs_pressure = False  # whether messages wait for the barometer's first reading

    def __init__(self, options: ImuOptions) -> None:
        super().__init__(port_of(options.port))
        self._imu_options = options
        self._imu = ""
        self._outputs: frozenset[str] = frozenset()
        self._pressure_Pa = math.nan

    def _choose(self, env: Environment) -> tuple[str, ...]:
        options = self._imu_options
        self._imu = chosen(env, "imu", options.imu, talker=self.name)
        self._outputs = inertial_outputs(env.sensors[self._imu], talker=self.name)
        barometer = found_or_none(env, "barometer", options.barometer, talker=self.name)
        return (self._imu,) if barometer is None else (barometer, self._imu)

    def _encode(self, sensor: str, reading: Any) -> Iterable[bytes]:
        if not is_valid(reading):
            return ()
        if sensor == self._imu:
            is_early = self._needs_pressure and math.isnan(self._pressure_Pa)
            return () if is_early else self._messages(reading)
        measured_Pa = numbers(reading.pressure_Pa)[0]
        if math.isfinite(measured_Pa):  # one that drops out leaves the last
            self._pressure_Pa = max(measured_Pa, 0.0)
        return ()

    @abc.abstractmethod
    def _messages(self, reading: Any) -> tuple[bytes, ...]:
        """Messages of a reading of the IMU."""


class VectorNavSink(_SerialImu):
    """Sends VectorNav's binary output group 1 or $VNIMU; the device's y axis points right and its z axis down."""

    name = "vectornav"

    def __init__(self, options: VectorNavOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(options)
        self._options = options

    def _choose(self, env: Environment) -> tuple[str, ...]:
        sensors = super()._choose(env)
        lacks = [
            what
            for what, there in (
                ("a magnetometer in the IMU", "magnetic_field" in self._outputs),
                ("a barometer", len(sensors) == 2),
            )
            if not there
        ]
        if self._options.format == "vnimu" and lacks:
            raise SpecError(f"live sink {self.name!r} has the format 'vnimu', which needs {' and '.join(lacks)}")
        self._needs_pressure = not lacks
        return sensors

    def _messages(self, reading: Any) -> tuple[bytes, ...]:
        rate = forward_right_down(reading.angular_velocity)
        force = forward_right_down(reading.acceleration)
        temperature_C, pressure_kPa = self._options.temperature_C, self._pressure_Pa * 1e-3
        magnetic: tuple[float, ...] = ()
        if self._needs_pressure:
            magnetic = tuple(GAUSS_PER_T * b for b in forward_right_down(reading.magnetic_field))
        if self._options.format == "vnimu":
            if not all(map(math.isfinite, (*magnetic, *force, *rate))):
                return ()  # text has no word for what was not measured
            return (vectornav.encode_vnimu(vectornav.VnImu(magnetic, force, rate, temperature_C, pressure_kPa)),)
        fields: dict[str, vectornav.Value] = {
            "time_startup_ns": reading.time_ns,
            "angular_rate": rate,
            "acceleration": force,
        }
        if magnetic:
            fields["magnetic_temperature_pressure"] = (*magnetic, temperature_C, pressure_kPa)
        if {"delta_angle", "delta_velocity"} <= self._outputs:
            angle_deg = tuple(math.degrees(a) for a in forward_right_down(reading.delta_angle))
            velocity = forward_right_down(reading.delta_velocity)
            fields["interval_delta_theta_velocity"] = (reading.interval_s, *angle_deg, *velocity)
        return (vectornav.encode(fields),)


class XsensSink(_SerialImu):
    """Sends Xsens' MTData2; the housing's axes are those of the sensor, x forward, y left, z up."""

    name = "xsens"

    def __init__(self, options: XsensOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(options)
        self._options = options
        self._count = 0

    def _messages(self, reading: Any) -> tuple[bytes, ...]:
        items: dict[str, xsens.Value] = {
            "packet_counter": self._count % 2**16,
            "sample_time_fine": reading.time_ns * xsens.SAMPLE_TIMES_PER_S // 10**9 % 2**32,
            "acceleration": numbers(reading.acceleration),
            "rate_of_turn": numbers(reading.angular_velocity),
        }
        self._count += 1
        if "delta_velocity" in self._outputs:
            items["delta_velocity"] = numbers(reading.delta_velocity)
        if "delta_angle" in self._outputs:
            items["delta_quaternion_wxyz"] = numbers(quaternion_exp(reading.delta_angle))
        if "magnetic_field" in self._outputs:
            items["magnetic_field"] = tuple(b / self._options.magnetic_unit_T for b in numbers(reading.magnetic_field))
        if math.isfinite(self._pressure_Pa):
            items["pressure_Pa"] = round(self._pressure_Pa)
        items["temperature_C"] = self._options.temperature_C
        items["status_word"] = _SELF_TEST_PASSED
        return (xsens.encode(items),)
