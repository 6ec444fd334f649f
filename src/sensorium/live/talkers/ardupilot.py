"""ArduPilot's JSON interface, the physics side: servo outputs come in, state and inertial readings go out.

ArduPilot sends packets u16 magic (18458 with 16 channels, 29569 with 32), u16 frame rate, u32 frame count, u16 pulse
width [us] of each channel to UDP port 9002, and receives a line of JSON for each. Source: ArduPilot,
libraries/SITL/examples/JSON/readme.md, facts only.
"""

import json
import struct
import time
from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sensorium.core.clock import ns_to_seconds
from sensorium.core.errors import SpecError
from sensorium.core.rotations import Float, multiply, normalize, quaternion_from_rotation, rotate
from sensorium.environment import Environment
from sensorium.live.sink import Item
from sensorium.live.step import LiveStep
from sensorium.live.talkers.autopilot import Autopilot
from sensorium.live.talkers.choice import body_axes, chosen, forward_right_down, inertial_outputs, is_valid
from sensorium.live.talkers.controls import Controls
from sensorium.live.talkers.options import ArduPilotOptions
from sensorium.live.talkers.ports import UdpAnswerPort
from sensorium.live.talkers.talker import Timed

_CHANNELS = {18458: 16, 29569: 32}
_CENTER_US, _SPAN_US = 1500.0, 500.0
_MESSAGE_BYTES = 512

# Axes north, east and down from east, north and up, and body axes forward, right and down from forward, left and up
_R_NED_ENU = np.array([[0.0, 1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, -1.0]])
_Q_NED_ENU = quaternion_from_rotation(_R_NED_ENU)
_Q_FLU_FRD = np.array([0.0, 1.0, 0.0, 0.0])


class ServoOutput(NamedTuple):
    """A packet of ArduPilot.

    Attributes:
        frame_rate_hz: Rate at which it wants to step.
        frame_count: Number of the frame.
        pulse_us: Pulse width of each channel [us], 0 where a channel is off.
    """

    frame_rate_hz: int
    frame_count: int
    pulse_us: tuple[int, ...]

    def encode(self) -> bytes:
        """The packet."""
        magic = {count: magic for magic, count in _CHANNELS.items()}[len(self.pulse_us)]
        head = struct.pack("<HHI", magic, self.frame_rate_hz, self.frame_count)
        return head + struct.pack(f"<{len(self.pulse_us)}H", *self.pulse_us)


def decode_servo_output(packet: bytes) -> ServoOutput | None:
    """The servo outputs of a packet; None if it is none."""
    channels = _CHANNELS.get(int.from_bytes(packet[:2], "little"))
    if channels is None or len(packet) != 8 + 2 * channels:
        return None
    _, rate, count, *pulses = struct.unpack(f"<HHI{channels}H", packet)
    return ServoOutput(rate, count, tuple(pulses))


class _State(NamedTuple):
    """The vehicle at the end of a step, with the newest inertial reading: what one line needs."""

    time_s: float
    rate_S: Float
    force_S: Float
    position_W: Float
    velocity_W: Float
    quaternion_WB: Float


class ArduPilotSink(Autopilot):
    """Sends a line of JSON after each step to the ArduPilot that spoke last.

    Gyroscope and accelerometer are the newest reading of the IMU, with its errors; position, velocity and attitude are
    those of its body in the world, without errors, since ArduPilot simulates its other sensors from them. The world's x
    axis points east, y north, z up; its origin is ArduPilot's home.
    """

    name = "ardupilot"

    def __init__(self, options: ArduPilotOptions) -> None:
        """Make one; nothing is opened yet."""
        super().__init__(options, UdpAnswerPort(options.host, options.udp_port))
        self._options = options
        self._body = 0
        self._axes = np.eye(3)
        self._last: _State | None = None

    def _choose(self, env: Environment) -> tuple[str, ...]:
        self._imu = chosen(env, "imu", self._options.imu, talker=self.name)
        sensor = env.sensors[self._imu]
        inertial_outputs(sensor, talker=self.name)
        if sensor.rig.body is None:
            raise SpecError(f"the IMU {self._imu!r} is fixed in the world; live sink {self.name!r} needs it on a body")
        self._body, self._axes = sensor.rig.body, body_axes(sensor)
        return (self._imu,)

    def _prepare(self, step: LiveStep) -> Iterable[Item]:
        env = step.env
        valid = [reading for reading in env.sensors[self._imu].readings() if is_valid(reading)]
        measured = (np.ravel(valid[-1].angular_velocity), np.ravel(valid[-1].acceleration)) if valid else None
        if measured is None or not np.isfinite(measured).all():
            if self._last is None:
                return ()  # nothing was measured yet
            measured = self._last.rate_S, self._last.force_S
        state, body = env.state, self._body
        position, quaternion = state.X_WB.position[0, body], state.X_WB.quaternion[0, body]
        velocity = np.asarray(state.v_WB)[0, body]
        rate, force = measured
        self._last = _State(ns_to_seconds(env.time_ns), rate, force, position, velocity, quaternion)
        return (Item(Timed(time.monotonic(), self._imu, self._last, is_last=True), _MESSAGE_BYTES),)

    def _encode(self, sensor: str, reading: _State) -> Iterable[bytes]:
        self._take_commands()
        fields = {
            "timestamp": reading.time_s,
            "imu": {
                "gyro": forward_right_down(rotate(self._axes, reading.rate_S)),
                "accel_body": forward_right_down(rotate(self._axes, reading.force_S)),
            },
            "position": rotate(_R_NED_ENU, reading.position_W).tolist(),
            "quaternion": attitude_ned(reading.quaternion_WB).tolist(),
            "velocity": rotate(_R_NED_ENU, reading.velocity_W).tolist(),
        }
        return (b"\n" + json.dumps(fields, allow_nan=False).encode("ascii") + b"\n",) if self.port.readers else ()

    def _receive(self, chunk: bytes) -> None:
        servo = decode_servo_output(chunk)
        if servo is not None:
            pulses = np.array(servo.pulse_us, np.float64)
            channels = np.where(pulses > 0, (pulses - _CENTER_US) / _SPAN_US, np.nan)
            self._command(Controls(channels, True, None, servo.frame_count))


def attitude_ned(q_WB: Float) -> Float:
    """Attitude of body axes forward, right, down in axes north, east, down, w x y z, from q_WB, shape (4,)."""
    q = normalize(multiply(multiply(_Q_NED_ENU, q_WB), _Q_FLU_FRD))
    return q if q[0] >= 0 else -q
