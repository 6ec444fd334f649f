"""What a recording tells of a sensor: Allan deviation and what follows from it."""

from sensorium.analysis.allan import Allan, allan_deviation
from sensorium.analysis.allan_fit import AllanFit, fit_allan

__all__ = ["Allan", "AllanFit", "allan_deviation", "fit_allan"]
