"""Where rays go and when: one pattern a file, and the union that sensors take."""

from typing import Annotated

from pydantic import Field

from sensorium.patterns.base import AbstractPattern, RayTable
from sensorium.patterns.raster import Raster
from sensorium.patterns.rosette import Prism, Rosette
from sensorium.patterns.spinning import Spinning
from sensorium.patterns.table import Table

Pattern = Annotated[Spinning | Raster | Rosette | Table, Field(discriminator="kind")]
"""Any pattern, told apart by its `kind` when read from a plain dictionary."""

__all__ = ["AbstractPattern", "Pattern", "Prism", "Raster", "RayTable", "Rosette", "Spinning", "Table"]
