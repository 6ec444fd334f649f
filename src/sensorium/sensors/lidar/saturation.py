"""Saturation of a lidar's receiver by strong returns."""

from pydantic import Field, model_validator

from sensorium.core.spec import Spec


class Saturation(Spec):
    """A receiver that saturates: intensities are clipped at a level, and stronger returns are too near (range walk).

    The range is timed where the leading edge of the pulse, of duration `beam.pulse_s`, passes the trigger; the device
    corrects for the clipped amplitude. See `sn.optics.range_walk`. Off by default.
    """

    level: float = Field(gt=0.0)
    """Strongest intensity that is reported, in the unit of the lidar's mode; stronger returns have cause SATURATED."""
    trigger: float = Field(gt=0.0)
    """Level at which the leading edge is timed, in the same unit; below `level`."""

    @model_validator(mode="after")
    def _edge_below_level(self) -> "Saturation":
        if self.trigger >= self.level:
            raise ValueError(f"trigger is {self.trigger} and level {self.level}; the trigger must be below the level")
        return self
