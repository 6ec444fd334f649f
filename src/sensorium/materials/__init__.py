"""What surfaces do with light: one model a file, and a library of named materials."""

from sensorium.materials.base import AbstractMaterial
from sensorium.materials.dielectric import Dielectric
from sensorium.materials.lambertian import Lambertian
from sensorium.materials.library import Entry, describe, load, names
from sensorium.materials.mirror import Mirror
from sensorium.materials.reflectance import Bands
from sensorium.materials.retroreflector import Retroreflector
from sensorium.materials.thin_glass import ThinGlass
from sensorium.materials.two_layer import TwoLayer
from sensorium.materials.union import Material
from sensorium.spectra import Spectrum

__all__ = [
    "AbstractMaterial",
    "Bands",
    "Dielectric",
    "Entry",
    "Lambertian",
    "Material",
    "Mirror",
    "Retroreflector",
    "Spectrum",
    "ThinGlass",
    "TwoLayer",
    "describe",
    "load",
    "names",
]
