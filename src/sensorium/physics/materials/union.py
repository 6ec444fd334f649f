"""Any material: the union that readers of plain data use."""

from typing import Annotated

from pydantic import Field

from sensorium.physics.materials.dielectric import Dielectric
from sensorium.physics.materials.lambertian import Lambertian
from sensorium.physics.materials.mirror import Mirror
from sensorium.physics.materials.retroreflector import Retroreflector
from sensorium.physics.materials.thin_glass import ThinGlass
from sensorium.physics.materials.two_layer import TwoLayer

Material = Annotated[
    Lambertian | TwoLayer | Dielectric | ThinGlass | Mirror | Retroreflector, Field(discriminator="kind")
]
"""Any material, selected by its `kind` when read from a plain dictionary."""
