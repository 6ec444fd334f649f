"""Fields: the light of sun and sky, gravity and magnetism."""

from typing import Annotated

from pydantic import Field

from sensorium.physics.fields.gravity import AbstractGravity, J2Gravity, PointMassGravity, UniformGravity
from sensorium.physics.fields.magnetic import AbstractMagnetic, MagneticDipole, UniformMagnetic
from sensorium.physics.fields.magnetic_sum import Magnetic, MagneticSum
from sensorium.physics.fields.sun import Sun
from sensorium.physics.fields.world_magnetic_model import WorldMagneticModel

Gravity = Annotated[UniformGravity | PointMassGravity | J2Gravity, Field(discriminator="kind")]
"""Any gravity field, selected by its `kind` when read from a plain dictionary."""

__all__ = [
    "AbstractGravity",
    "AbstractMagnetic",
    "Gravity",
    "J2Gravity",
    "Magnetic",
    "MagneticDipole",
    "MagneticSum",
    "PointMassGravity",
    "Sun",
    "UniformGravity",
    "UniformMagnetic",
    "WorldMagneticModel",
]
