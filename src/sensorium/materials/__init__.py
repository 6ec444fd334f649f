"""What surfaces do with light: one model a file, and a library of named materials."""

from typing import Annotated

from pydantic import Field

from sensorium.materials.base import AbstractMaterial
from sensorium.materials.dielectric import Dielectric
from sensorium.materials.lambertian import Lambertian
from sensorium.materials.mirror import Mirror
from sensorium.materials.reflectance import Bands
from sensorium.materials.retroreflector import Retroreflector
from sensorium.materials.thin_glass import ThinGlass
from sensorium.materials.two_layer import TwoLayer
from sensorium.spectra import Spectrum

Material = Annotated[
    Lambertian | TwoLayer | Dielectric | ThinGlass | Mirror | Retroreflector, Field(discriminator="kind")
]
"""Any material, told apart by its `kind` when read from a plain dictionary."""

__all__ = [
    "AbstractMaterial",
    "Bands",
    "Dielectric",
    "Lambertian",
    "Material",
    "Mirror",
    "Retroreflector",
    "Spectrum",
    "ThinGlass",
    "TwoLayer",
]
