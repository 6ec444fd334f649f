"""Media: one a file, and short names to make them (`sn.media.fog(visibility_m=200)`)."""

from typing import Annotated

from pydantic import Field

from sensorium.physics.media.base import AbstractMedium, MediumParameters
from sensorium.physics.media.particles import Air, Dust, Fog, Snow
from sensorium.physics.media.rain import Rain
from sensorium.physics.media.uniform import Uniform, vacuum
from sensorium.physics.media.water import Water

Medium = Annotated[Air | Fog | Rain | Snow | Dust | Water | Uniform, Field(discriminator="kind")]
"""Any medium, selected by its `kind` when read from a plain dictionary."""

# From here on the short names are the classes, not the files of the same name.
air = Air
fog = Fog
rain = Rain
snow = Snow
dust = Dust
water = Water
uniform = Uniform

__all__ = [
    "AbstractMedium",
    "Air",
    "Dust",
    "Fog",
    "Medium",
    "MediumParameters",
    "Rain",
    "Snow",
    "Uniform",
    "Water",
    "air",
    "dust",
    "fog",
    "rain",
    "snow",
    "uniform",
    "vacuum",
    "water",
]
