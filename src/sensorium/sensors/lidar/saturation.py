"""What a lidar makes of a return that is stronger than its receiver can tell."""

from pydantic import Field, model_validator

from sensorium.core.spec import Spec


class Saturation(Spec):
    """A receiver that saturates: intensities end at a level, and stronger returns come out too near (range walk).

    The range is timed where the leading edge of the pulse, of duration `beam.pulse_s`, passes the trigger; the device
    corrects for the amplitude as far as it sees it. See `sn.optics.range_walk`. Off unless given.
    """

    level: float = Field(gt=0.0)
    """Strongest intensity that is reported, in the unit of the lidar's mode; what was stronger has cause SATURATED."""
    trigger: float = Field(gt=0.0)
    """What the leading edge is timed at, in the same unit; below the level."""

    @model_validator(mode="after")
    def _edge_below_level(self) -> "Saturation":
        if self.trigger >= self.level:
            raise ValueError(f"trigger is {self.trigger} and level {self.level}; the trigger must be below the level")
        return self
