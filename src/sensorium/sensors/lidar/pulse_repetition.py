"""Pulse repetition rate of a lidar, which limits its unambiguous range."""

from pydantic import Field, model_validator

from sensorium.core.constants import SPEED_OF_LIGHT_M_S
from sensorium.core.spec import Spec


class PulseRepetition(Spec):
    """Pulses at a fixed rate: returns after the next pulse has left are reported at r mod c / (2 n rate), cause FOLDED.

    See `sn.optics.folded_range`. The far return is reported along its own ray; the rotation of a scanner between two
    pulses is neglected. Off by default.
    """

    rate_hz: float = Field(gt=0.0, le=1e9)
    """Pulse rate of one laser [Hz]."""
    reach_m: float = Field(gt=0.0)
    """Length of the rays [m]; greater than the unambiguous range, c / (2 rate)."""

    @property
    def unambiguous_m(self) -> float:
        """C / (2 rate) [m], in vacuum."""
        return SPEED_OF_LIGHT_M_S / (2.0 * self.rate_hz)

    @model_validator(mode="after")
    def _beyond(self) -> "PulseRepetition":
        if self.reach_m <= self.unambiguous_m:
            raise ValueError(
                f"reach_m is {self.reach_m} and rate_hz {self.rate_hz}; the reach must be beyond the unambiguous "
                f"range, {self.unambiguous_m:.6g} m"
            )
        return self
