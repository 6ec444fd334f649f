"""Commands from ROS 2: velocities, actuators, faults, and control of the run.

Messages arrive on threads of the middleware. Control of the run acts at once, also while it is paused; everything else
is applied on the thread of the run between two steps. A command that cannot be applied is refused and counted, and the
run goes on.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

import numpy as np

from sensorium.core.errors import SensoriumError, SpecError, in_one_line
from sensorium.environment import Environment
from sensorium.live.ros2.actuators import set_actuators, set_joints
from sensorium.live.ros2.options import Ros2Options
from sensorium.pacing import RunClock
from sensorium.record.ros2 import cdr
from sensorium.record.ros2.message import topic_token
from sensorium.worlds.base import World
from sensorium.worlds.commanded import Commanded
from sensorium.worlds.joined import Joined
from sensorium.worlds.mujoco.world import MuJoCo

TWIST, TWIST_STAMPED = "geometry_msgs/msg/Twist", "geometry_msgs/msg/TwistStamped"
ACKERMANN, ACKERMANN_STAMPED = "ackermann_msgs/msg/AckermannDrive", "ackermann_msgs/msg/AckermannDriveStamped"
JOINTS, NUMBERS = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"
TEXT, NUMBER = "std_msgs/msg/String", "std_msgs/msg/Float64"

# rosbags does not carry this package
_ACKERMANN_TYPES = {
    ACKERMANN: "float32 steering_angle\nfloat32 steering_angle_velocity\nfloat32 speed\nfloat32 acceleration\n"
    "float32 jerk\n",
    ACKERMANN_STAMPED: "std_msgs/Header header\nackermann_msgs/AckermannDrive drive\n",
}

# Commands that wait for the next step; more are refused
_MOST_WAITING = 256

# Beyond these a command is a mistake, and numbers of the world would soon overflow
_MOST_SPEED_M_S, _MOST_TURN_RAD_S = 1e5, 1e4

CONTROLS = ("pause", "resume", "step", "reset")
"""Words of the control topic, and names of the services."""


@dataclass(frozen=True)
class CommandTopic:
    """A topic that commands are taken from.

    Attributes:
        name: The topic, without the namespace.
        kind: Type of its messages.
        apply: Applies a decoded message.
        at_once: Whether that is done on the thread of the middleware, not between two steps.
    """

    name: str
    kind: str
    apply: Callable[[Any], object]
    at_once: bool = False


class Commands:
    """Takes commands for one run.

    Attributes:
        topics: Topics to subscribe to.
        applied: Number of commands that were applied.
        refused: Number of those that were not.
        error: Why the last one was refused; None if none was.
    """

    def __init__(self, env: Environment, clock: RunClock, options: Ros2Options) -> None:
        """Find out what the run's world takes.

        Args:
            env: The environment.
            clock: Controls the run.
            options: Name of the node and the wheelbase.
        """
        cdr.add_types(_ACKERMANN_TYPES)
        self._env, self._clock, self._wheelbase_m = env, clock, options.wheelbase_m
        self.applied = self.refused = self._waiting = 0
        self.error: str | None = None
        self._lock = Lock()
        self.topics: tuple[CommandTopic, ...] = (
            *(topic for part in _parts(env.world) for topic in self._of_world(part)),
            CommandTopic(f"/{options.node}/fault", TEXT, self._switch_fault),
            CommandTopic(f"/{options.node}/control", TEXT, lambda text: self.control(text.data), at_once=True),
            CommandTopic(f"/{options.node}/speed", NUMBER, self._set_speed, at_once=True),
        )

    def receive(self, topic: CommandTopic, data: bytes) -> None:
        """Take the bytes of a message; on any thread, never raises."""
        try:
            message = cdr.decoded(topic.kind, data)
        except SpecError as error:
            self._refuse(topic, error)
            return
        if topic.at_once:
            self._apply(topic, message)
            return
        with self._lock:
            is_full = self._waiting >= _MOST_WAITING
            self._waiting += not is_full
        if is_full:
            self._refuse(topic, SpecError(f"{_MOST_WAITING} commands wait for the next step; no more can"))
        else:
            self._clock.call(partial(self._apply_waiting, topic, message))

    def control(self, word: str) -> str:
        """Pause, resume, step or reset the run; returns a sentence, or raises SpecError. On any thread."""
        if word == "resume":
            self._clock.resume()
            return "the run goes on"
        if word == "pause":
            self._clock.pause()
            return "the run pauses after this step"
        if word == "step":
            self._clock.single_step()
            return "the run takes one step and pauses"
        if word == "reset":
            self._clock.reset()
            return "all worlds restart before the next step; time goes on"
        raise SpecError(f"control is {word!r}; it must be one of {', '.join(CONTROLS)}")

    # --- inside -----------------------------------------------------------------------------------------------------

    def _apply_waiting(self, topic: CommandTopic, message: Any) -> None:
        with self._lock:
            self._waiting -= 1
        self._apply(topic, message)

    def _apply(self, topic: CommandTopic, message: Any) -> None:
        try:
            topic.apply(message)
        except SensoriumError as error:
            self._refuse(topic, error)
        else:
            with self._lock:
                self.applied += 1

    def _refuse(self, topic: CommandTopic, error: Exception) -> None:
        with self._lock:
            self.refused += 1
            self.error = f"{topic.name} was refused: {in_one_line(error)}"

    def _of_world(self, world: World) -> list[CommandTopic]:
        """Topics that a world of one kind takes."""
        if isinstance(world, Commanded):
            # The only body needs no name
            alone = len(world.body_names) == 1
            prefixes = [(body, f"/{topic_token(body)}") for body in world.body_names]
            prefixes += [(world.body_names[0], "")] if alone else []
            return [topic for body, prefix in prefixes for topic in self._of_body(world, body, prefix)]
        if isinstance(world, MuJoCo) and world.model.nu:
            return [
                CommandTopic("/joint_commands", JOINTS, partial(set_joints, world)),
                CommandTopic("/actuator_commands", NUMBERS, partial(set_actuators, world)),
            ]
        return []

    def _of_body(self, world: Commanded, body: str, prefix: str) -> list[CommandTopic]:
        def twist(message: Any) -> None:
            linear, angular = message.linear, message.angular
            _move(world, body, (linear.x, linear.y, linear.z), (angular.x, angular.y, angular.z))

        def ackermann(drive: Any) -> None:
            speed, turn_rate = ackermann_motion(drive.speed, drive.steering_angle, self._wheelbase_m)
            _move(world, body, (speed, 0.0, 0.0), (0.0, 0.0, turn_rate))

        return [
            CommandTopic(f"{prefix}/cmd_vel", TWIST, twist),
            CommandTopic(f"{prefix}/cmd_vel", TWIST_STAMPED, lambda stamped: twist(stamped.twist)),
            CommandTopic(f"{prefix}/ackermann_cmd", ACKERMANN, ackermann),
            CommandTopic(f"{prefix}/ackermann_cmd", ACKERMANN_STAMPED, lambda stamped: ackermann(stamped.drive)),
        ]

    def _switch_fault(self, message: Any) -> None:
        """Switch a fault of a sensor's schedule: `imu: stuck on`, `imu: stuck off`."""
        text = message.data
        sensor, found, rest = text.partition(": ")
        fault, _, word = rest.rpartition(" ")
        if not found or word not in ("on", "off"):
            raise SpecError(f"fault is {text!r}; it must be as in 'imu: stuck on' or 'imu: stuck off'")
        if sensor not in self._env.sensors:
            raise SpecError(f"sensor is {sensor!r}; the sensors are {', '.join(self._env.sensors) or 'none'}")
        self._env.sensors[sensor].faults.switch(fault, word == "on", self._env.time_ns)

    def _set_speed(self, message: Any) -> None:
        self._clock.speed = float(message.data)


def _move(world: Commanded, body: str, velocity: tuple[float, ...], turn_rate: tuple[float, ...]) -> None:
    """Command both velocities, or neither."""
    for what, unit, given, most in (
        ("velocity", "m/s", velocity, _MOST_SPEED_M_S),
        ("angular velocity", "rad/s", turn_rate, _MOST_TURN_RAD_S),
    ):
        if not np.abs(given).max() <= most:
            raise SpecError(f"{what} is {given} {unit}; each part must be within {most:g}")
    world.command(body, velocity=velocity, angular_velocity=turn_rate)


def ackermann_motion(speed: float, steering_rad: float, wheelbase_m: float | None) -> tuple[float, float]:
    """Speed along x [m/s] and turn rate about z [rad/s] of a car with steered front wheels.

    Rolling without slip about one center, seen from the rear axle: turn rate = speed tan(steering) / wheelbase
    (kinematic single-track model, e.g. Rajamani, Vehicle Dynamics and Control, 2012, section 2.2).

    Args:
        speed: Of the rear axle [m/s].
        steering_rad: Angle of the front wheel, positive to the left [rad], within a right angle.
        wheelbase_m: Distance between axles [m].
    """
    if wheelbase_m is None:
        raise SpecError("wheelbase_m is not set; Ackermann commands need the distance between axles")
    if not (np.isfinite(speed) and abs(steering_rad) < np.pi / 2):
        rule = "the speed must be finite and the angle within a right angle"
        raise SpecError(f"speed is {speed:g} m/s and steering_angle {steering_rad:g} rad; {rule}")
    return float(speed), float(speed * np.tan(steering_rad) / wheelbase_m)


def _parts(world: World) -> list[World]:
    """A world, or the parts of a joined one."""
    return [inner for part in world.parts for inner in _parts(part)] if isinstance(world, Joined) else [world]
