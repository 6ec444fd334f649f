"""What fills space besides matter: the light of sun and sky, gravity and magnetism."""

from typing import Annotated

from pydantic import Field

from sensorium.fields.gravity import AbstractGravity
from sensorium.fields.gravity_j2 import J2Gravity
from sensorium.fields.gravity_point_mass import PointMassGravity
from sensorium.fields.gravity_uniform import UniformGravity
from sensorium.fields.magnetic import AbstractMagnetic
from sensorium.fields.magnetic_dipole import MagneticDipole
from sensorium.fields.magnetic_sum import Magnetic, MagneticSum
from sensorium.fields.magnetic_uniform import UniformMagnetic
from sensorium.fields.sun import Sun
from sensorium.fields.world_magnetic_model import WorldMagneticModel

Gravity = Annotated[UniformGravity | PointMassGravity | J2Gravity, Field(discriminator="kind")]
"""Any gravity field, told apart by its `kind` when read from a plain dictionary."""

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
