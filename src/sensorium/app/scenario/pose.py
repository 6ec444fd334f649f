"""Poses, as written in a scenario file."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, model_validator

from sensorium.core.frames import Pose
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
