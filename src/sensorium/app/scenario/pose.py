"""Poses, as written in a scenario file."""

import math
from collections.abc import Mapping
from typing import Annotated, ClassVar

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from sensorium.core.frames import Pose
from sensorium.core.rotations import Float
from sensorium.core.spec import Spec, as_list
from sensorium.physics.fields.positions import Vector

_ANGLES = "euler_deg: [roll, pitch, yaw]"


class PoseSpec(Spec):
    """Position and attitude, by a quaternion or by angles, not both."""

    hint_aliases: ClassVar[Mapping[str, str]] = {
        **dict.fromkeys(("roll", "pitch", "yaw", "rpy", "euler", "rotation", "orientation", "heading"), _ANGLES),
        **dict.fromkeys(("roll_deg", "pitch_deg", "yaw_deg", "rpy_deg"), _ANGLES),
        **dict.fromkeys(("xyz", "translation", "location"), "position"),
        **dict.fromkeys(("quat", "wxyz", "xyzw"), "quaternion"),
    }

    position: Vector = (0.0, 0.0, 0.0)
    """x, y, z [m]."""
    quaternion: tuple[float, float, float, float] | None = None
    """w, x, y, z; it is brought to length 1."""
    euler_deg: Vector | None = None
    """Roll, pitch, yaw [deg]: turns about z, then the new y, then the new x."""

    @model_validator(mode="after")
    def _one_rotation(self) -> "PoseSpec":
        if self.quaternion is not None and self.euler_deg is not None:
            raise ValueError("quaternion and euler_deg are both given; one of them must do")
        return self

    def make(self) -> Pose:
        """The pose."""
        if self.euler_deg is not None:
            roll, pitch, yaw = self.euler_deg
            return Pose.from_euler_deg(self.position, roll=roll, pitch=pitch, yaw=yaw)
        return Pose(self.position, (1.0, 0.0, 0.0, 0.0) if self.quaternion is None else self.quaternion)


Poses = Annotated[
    tuple[PoseSpec, ...], BeforeValidator(as_list, json_schema_input_type=PoseSpec | tuple[PoseSpec, ...])
]
"""One pose, or a list of them."""


Angle = Annotated[float, Field(ge=-360.0, le=360.0)]
"""[deg]."""


class Elements(Spec):
    """A closed Kepler orbit, and where on it; the reference plane is the world's x y, the reference direction its x."""

    semi_major_axis_m: Annotated[float, Field(gt=0.0)]
    """Of a circle its radius [m]."""
    eccentricity: Annotated[float, Field(ge=0.0, lt=1.0)] = 0.0
    """Eccentricity: 0 for a circle; below 1."""
    inclination_deg: Angle = 0.0
    """Between the orbit and the reference plane [deg]."""
    ascending_node_deg: Angle = 0.0
    """Longitude of the ascending node [deg]."""
    periapsis_deg: Angle = 0.0
    """From that node to the lowest point, along the orbit [deg]."""
    true_anomaly_deg: Angle = 0.0
    """From the lowest point to the spacecraft [deg]."""

    def state(self, mu: float) -> tuple[Float, Float]:
        """Position [m] and velocity [m/s] for a gravitational parameter [m^3/s^2], shape (3,) each.

        In the orbit's own plane r = p / (1 + e cos nu) and v = sqrt(mu / p) (-sin nu, e + cos nu) with
        p = a (1 - e^2); three turns bring that into the world (Montenbruck and Gill, Satellite Orbits, section 2.2).
        """
        e, nu = self.eccentricity, math.radians(self.true_anomaly_deg)
        p = self.semi_major_axis_m * (1.0 - e * e)
        radius, speed = p / (1.0 + e * math.cos(nu)), math.sqrt(mu / p)
        turn = _about(2, self.ascending_node_deg) @ _about(0, self.inclination_deg) @ _about(2, self.periapsis_deg)
        position = turn @ np.array([radius * math.cos(nu), radius * math.sin(nu), 0.0])
        return position, turn @ np.array([-speed * math.sin(nu), speed * (e + math.cos(nu)), 0.0])


class InOrbit(Spec):
    """Initial state of a spacecraft: an orbit, or position and velocity; attitude and rate."""

    orbit: Elements | None = None
    """By the elements of its orbit."""
    position: Vector | None = None
    """Of the center of mass [m], from the planet's center."""
    velocity: Vector | None = None
    """[m/s]."""
    quaternion: tuple[float, float, float, float] | None = None
    """w, x, y, z; it is brought to length 1."""
    euler_deg: Vector | None = None
    """Roll, pitch, yaw [deg], instead."""
    rate: Vector = (0.0, 0.0, 0.0)
    """Angular velocity in body axes [rad/s]."""

    @model_validator(mode="after")
    def _one_start(self) -> "InOrbit":
        if (self.position is None) != (self.velocity is None):
            raise ValueError("one of position and velocity is given; they must be given together")
        if (self.orbit is None) == (self.position is None):
            raise ValueError("orbit and position are both given or both not; exactly one of them must be given")
        if self.quaternion is not None and self.euler_deg is not None:
            raise ValueError("quaternion and euler_deg are both given; one of them must do")
        return self

    def start(self, mu: float) -> tuple[Float, Float]:
        """Position [m] and velocity [m/s] at the start, shape (3,) each, for a gravitational parameter [m^3/s^2]."""
        if self.orbit is not None:
            return self.orbit.state(mu)
        return np.array(self.position, np.float64), np.array(self.velocity, np.float64)

    def attitude(self) -> Float:
        """Quaternion w x y z at the start, of length 1."""
        return PoseSpec(quaternion=self.quaternion, euler_deg=self.euler_deg).make().quaternion


def _about(axis: int, angle_deg: float) -> Float:
    """Rotation about one of the axes [deg], shape (3, 3)."""
    cosine, sine = math.cos(math.radians(angle_deg)), math.sin(math.radians(angle_deg))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    turn = np.eye(3)
    turn[i, i] = turn[j, j] = cosine
    turn[i, j], turn[j, i] = -sine, sine
    return turn
