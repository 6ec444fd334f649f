"""Poses as one writes them in a file."""

from typing import Annotated

from pydantic import BeforeValidator, model_validator

from sensorium.fields.positions import Vector
from sensorium.frames import Pose
from sensorium.spec import Spec


class PoseSpec(Spec):
    """Where something is and how it is turned: by a quaternion or by angles, not both."""

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


def as_list(value: object) -> object:
    """What may be one or several, as several."""
    return value if isinstance(value, list | tuple) else [value]


Poses = Annotated[
    tuple[PoseSpec, ...], BeforeValidator(as_list, json_schema_input_type=PoseSpec | tuple[PoseSpec, ...])
]
"""One pose, or a list of them."""
