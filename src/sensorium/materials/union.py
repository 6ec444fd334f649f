"""Any material: the union that readers of plain data use."""

from typing import Annotated

from pydantic import Field

from sensorium.materials.dielectric import Dielectric
from sensorium.materials.lambertian import Lambertian
from sensorium.materials.mirror import Mirror
from sensorium.materials.retroreflector import Retroreflector
from sensorium.materials.thin_glass import ThinGlass
from sensorium.materials.two_layer import TwoLayer

Material = Annotated[
    Lambertian | TwoLayer | Dielectric | ThinGlass | Mirror | Retroreflector, Field(discriminator="kind")
]
"""Any material, told apart by its `kind` when read from a plain dictionary."""
