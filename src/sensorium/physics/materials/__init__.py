"""Surface materials: one model a file, and a library of named materials."""

from sensorium.physics.materials.base import AbstractMaterial, Bands
from sensorium.physics.materials.dielectric import Dielectric
from sensorium.physics.materials.lambertian import Lambertian
from sensorium.physics.materials.library import Entry, Material, describe, load, names
from sensorium.physics.materials.mirror import Mirror
from sensorium.physics.materials.retroreflector import Retroreflector
from sensorium.physics.materials.thin_glass import ThinGlass
from sensorium.physics.materials.two_layer import TwoLayer
from sensorium.physics.optics.spectra import Spectrum

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
