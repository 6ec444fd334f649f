"""Ray patterns: directions and firing times, one pattern a file, and the union that sensors take."""

from typing import Annotated

from pydantic import Field

from sensorium.patterns.base import AbstractPattern, RayTable
from sensorium.patterns.fisheye import Fisheye
from sensorium.patterns.pinhole import Pinhole
from sensorium.patterns.raster import Raster
from sensorium.patterns.rosette import Prism, Rosette
from sensorium.patterns.spinning import Spinning
from sensorium.patterns.table import Table

Pattern = Annotated[Spinning | Raster | Rosette | Table | Pinhole | Fisheye, Field(discriminator="kind")]
"""Any pattern, selected by its `kind` when read from a plain dictionary."""

del Annotated, Field  # not public

__all__ = [
    "AbstractPattern",
    "Fisheye",
    "Pattern",
    "Pinhole",
    "Prism",
    "Raster",
    "RayTable",
    "Rosette",
    "Spinning",
    "Table",
]
