"""Shapes of a lidar's pulse in time."""

from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ConfigDict, Field, model_validator

from sensorium.core.errors import SpecError
from sensorium.core.spec import Spec


class GaussianPulse(Spec):
    """A Gaussian whose full width at half maximum is `beam.pulse_s`."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["gaussian"] = "gaussian"

    def table(self, duration_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times from the peak [s] and values, for a duration [s]."""
        from sensorium.physics.optics.detection.pulse import gaussian_pulse_table  # optics loads compiled functions

        return gaussian_pulse_table(duration_s)


class TablePulse(Spec):
    """A measured pulse, linear between its points, zero outside; `beam.pulse_s` does not change it."""

    model_config = ConfigDict(frozen=True)

    kind: Literal["table"] = "table"
    time_s: tuple[float, ...]
    """Times [s], increasing; ranges count from time 0."""
    value: tuple[float, ...]
    """Power at those times, in any unit, not negative; `receiver.peak_power_W` is that of the highest."""

    @model_validator(mode="after")
    def _check(self) -> "TablePulse":
        from sensorium.physics.optics.detection.pulse import checked_pulse

        try:
            checked_pulse(self.time_s, self.value)
        except SpecError as error:
            raise ValueError(str(error)) from None
        return self

    def table(self, duration_s: float) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Times from the peak [s] and values; the duration is not used."""
        return np.array(self.time_s), np.array(self.value) / max(self.value)


PulseShape = Annotated[GaussianPulse | TablePulse, Field(discriminator="kind")]
"""Any shape, distinguished by its `kind` when read from a plain dictionary."""
